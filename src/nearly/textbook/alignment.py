"""Passages of two texts that say the same in nearly the same words, as plainly as Python can.

Settings have the names of those of the kernel: `Alignment` in `alignment.hpp`, and `Condensing` in
`condensed.hpp`. Sums and ratios are of 32 bits, as they are there.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product, takewhile
from typing import Any, NamedTuple

import numpy as np

__all__ = ["AlignedWords", "Span", "aligned_passages", "ends_of_runs", "summaries"]

Settings = Mapping[str, Any]
Span = tuple[int, int]
small = np.float32


class AlignedWords(NamedTuple):
    """The words of a text: stems, rarities (0: says nothing alone), places, and beginnings."""

    stems: Sequence[int]
    rarities: Sequence[float]
    starts: Sequence[int]
    ends: Sequence[int]
    begins: Sequence[bool]  # whether a sentence begins with the word

    def characters(self, span: Span) -> int:
        """How long a span of words is."""
        return self.ends[span[1] - 1] - self.starts[span[0]]


class Meeting(NamedTuple):
    """The first and the last word of a seed in one text, and in the other."""

    a: int
    a_last: int
    b: int
    b_last: int

    @property
    def swapped(self) -> "Meeting":
        """Seen from the other text."""
        return Meeting(self.b, self.b_last, self.a, self.a_last)


class Passage(NamedTuple):
    """A span of words of each text, and the summed rarity of what they share."""

    a: Span
    b: Span
    evidence: float


def aligned_passages(a: AlignedWords, b: AlignedWords, settings: Settings) -> list[Passage]:
    """The passages, in the order of the first text."""
    met = meetings(a, b, settings["most_meetings"])
    found = [
        passage
        for heap in heaps(met, a, b, settings["gap"])
        if (passage := settled(heap, a, b, settings)) is not None
    ]
    swapped = [meeting.swapped for meeting in met]
    summed_up = summaries(a, b, met, [each.a for each in found], settings["condensing"])
    summed_up += [
        Passage(each.b, each.a, each.evidence)
        for each in summaries(b, a, swapped, [each.b for each in found], settings["condensing"])
    ]
    found = [
        x for x in found if not any(overlap(x.a, y.a) and overlap(x.b, y.b) for y in summed_up)
    ]
    kept: list[Passage] = []
    for each in sorted(
        found + summed_up, key=lambda x: (-x.evidence, x.a[0], x.b[0], x.a[1], x.b[1])
    ):
        if not any(overlap(each.a, other.a) for other in kept):
            kept.append(each)
    snap = settings["snap"]
    return [Passage(snapped(a, x.a, snap), snapped(b, x.b, snap), x.evidence) for x in sorted(kept)]


def seeds(words: AlignedWords) -> Iterator[tuple[tuple[int, int, int], Span]]:
    """Pairs of neighbours, of neighbours with content, and what has content; without order."""
    for i in range(1, len(words.stems)):
        yield (0, *_sorted(words.stems[i - 1], words.stems[i])), (i - 1, i)
    content = [i for i, rarity in enumerate(words.rarities) if rarity > 0]
    for i in content:
        yield (2, 0, words.stems[i]), (i, i)
    for i, j in pairwise(content):
        yield (1, *_sorted(words.stems[i], words.stems[j])), (i, j)


def _sorted(x: int, y: int) -> tuple[int, int]:
    return min(x, y), max(x, y)


def meetings(a: AlignedWords, b: AlignedWords, most: int) -> list[Meeting]:
    """Where the two texts have the same seed, unless they have it too often."""
    places: dict[Any, tuple[list[Span], list[Span]]] = defaultdict(lambda: ([], []))
    for side, words in enumerate((a, b)):
        for seed, span in seeds(words):
            places[seed][side].append(span)
    return [
        Meeting(*one, *other)
        for here, there in places.values()
        if len(here) * len(there) <= most
        for one, other in product(here, there)
    ]


def heaps(
    met: Sequence[Meeting], a: AlignedWords, b: AlignedWords, gap: int
) -> Iterator[list[Meeting]]:
    """Meetings with no gap between them, in either text."""
    parts = [
        [meeting.swapped for meeting in part]
        for of_a in apart(met, a, gap)
        for part in apart([meeting.swapped for meeting in of_a], b, gap)
    ]
    for part in parts:
        yield from [part] if len(parts) == 1 else heaps(part, a, b, gap)


def apart(met: Sequence[Meeting], words: AlignedWords, gap: int) -> list[list[Meeting]]:
    """Cut where the text between meetings is longer than the gap."""
    parts: list[list[Meeting]] = []
    reached = 0
    for meeting in sorted(met):
        if not parts or words.starts[meeting.a] - reached > gap:
            parts.append([])
        parts[-1].append(meeting)
        reached = max(reached, words.ends[meeting.a_last])
    return parts


def settled(
    heap: Sequence[Meeting], a: AlignedWords, b: AlignedWords, settings: Settings
) -> Passage | None:
    """Trimmed until both sides pay everywhere; None if it is not evidence enough."""
    while heap:
        swapped = [meeting.swapped for meeting in heap]
        of_a, of_b = trimmed(heap, settings), trimmed(swapped, settings)
        kept = [x for x in heap if _inside(x, of_a) and _inside(x.swapped, of_b)]
        if len(kept) == len(heap):
            evidence = min(summed(a, heap, of_a), summed(b, swapped, of_b))
            length = max(a.characters(of_a), b.characters(of_b))
            is_enough = evidence >= small(settings["least_evidence"])
            is_enough = is_enough and length >= settings["least_length"]
            return Passage(of_a, of_b, evidence) if is_enough else None
        heap = kept
    return None


def _inside(meeting: Meeting, span: Span) -> bool:
    return span[0] <= meeting.a and meeting.a_last < span[1]


def trimmed(heap: Sequence[Meeting], settings: Settings) -> Span:
    """The stretch that pays; once more, by a part of how much it pays."""
    first, last = min(x.a for x in heap), max(x.a_last for x in heap)
    shared = {word for x in heap for word in (x.a, x.a_last)}
    least = small(settings["least_density"])
    start, end = best_stretch(shared, first, last, least)
    if start == end:
        return start, end
    count = small(sum(i in shared for i in range(start, end)))
    steady = small(settings["steadiness"]) * count / small(end - start)
    return best_stretch(shared, start, end - 1, max(least, steady))


def best_stretch(shared: set[int], first: int, last: int, density: Any) -> Span:
    """Of [first, last] what has most shared words, each word costing the density."""
    total, best, start, found = small(0), small(0), first, (first, first)
    for i in range(first, last + 1):
        total = small(total + (small(i in shared) - small(density)))
        if total <= 0:
            total, start = small(0), i + 1
        elif total > best:
            best, found = total, (start, i + 1)
    return found


def summed(words: AlignedWords, heap: Sequence[Meeting], span: Span) -> Any:
    """The rarity of all shared words of a span."""
    shared = {word for x in heap for word in (x.a, x.a_last)}
    return sum((small(words.rarities[i]) for i in range(*span) if i in shared), small(0))


def overlap(x: Span, y: Span) -> bool:
    """Whether two spans have words in common."""
    return x[0] < y[1] and y[0] < x[1]


def summaries(
    words: AlignedWords,
    other: AlignedWords,
    met: Sequence[Meeting],
    passages: Sequence[Span],
    settings: Settings,
) -> list[Passage]:
    """Where one text sums up the other; what stands for itself is in `passages`."""
    found = (
        _summary(words, other, met, heap, passages, settings)
        for heap in apart(met, words, settings["gap"])
    )
    return [each for each in found if each is not None]


def _summary(
    words: AlignedWords,
    other: AlignedWords,
    met: Sequence[Meeting],
    heap: Sequence[Meeting],
    passages: Sequence[Span],
    settings: Settings,
) -> Passage | None:
    shared = {word for x in met for word in (x.a, x.a_last)}
    first, last = min(x.a for x in heap), max(x.a_last for x in heap)
    span = best_stretch(shared, first, last, settings["least_density"])
    evidence = summed(words, met, span)
    inside = [x for x in heap if _inside(x, span)]
    least = small(settings["least_scattered"])
    if evidence < least or not inside:
        return None
    there = min(x.b for x in inside), max(x.b_last for x in inside) + 1
    length, width = words.characters(span), other.characters(there)
    if small(width) > small(settings["widest"]) * small(length):
        return None
    if evidence * scattered([other.starts[x.b] for x in inside], length) < least:
        return None
    if not _stands_out(words, shared, passages, span, settings):
        return None
    everything = (0, len(other.stems))
    is_most = 2 * width > other.characters(everything)
    return Passage(span, everything if is_most else there, evidence)


def scattered(places: Sequence[int], length: int) -> Any:
    """The part of the places that no one stretch of this length has."""
    most = max(sum(0 <= place - start <= length for place in places) for start in places)
    return small(1) - small(most) / small(len(places))


def _stands_out(
    words: AlignedWords, shared: set[int], passages: Sequence[Span], span: Span, settings: Settings
) -> bool:
    """Whether more rare words outside of passages are shared in the span than elsewhere."""
    own = [
        i
        for i, rarity in enumerate(words.rarities)
        if rarity > 0 and not any(start <= i < end for start, end in passages)
    ]
    here = [i for i in own if span[0] <= i < span[1]]
    elsewhere = [i for i in own if not span[0] <= i < span[1]]
    ratios = [
        (small(sum(i in shared for i in some)), small(1 + len(some))) for some in (here, elsewhere)
    ]
    usual = small(settings["rise"]) * ratios[1][0] / ratios[1][1]
    return bool(ratios[0][0] / ratios[0][1] > max(small(settings["least_outside"]), usual))


def snapped(words: AlignedWords, span: Span, snap: int) -> Span:
    """From where the nearest sentence begins to where the nearest one ends, if near enough."""
    size = len(words.stems)

    def place(i: int) -> int:
        return words.starts[i] if i < size else words.ends[-1]

    def nearest(at: int, choice: range) -> int:
        near = [i for i in choice if abs(place(i) - place(at)) <= snap]
        borders = [i for i in near if i in (0, size) or words.begins[i]]
        return min(borders, key=lambda i: (abs(place(i) - place(at)), i), default=at)

    start = nearest(span[0], range(span[1]))
    return start, nearest(span[1], range(start + 1, size + 1))


def ends_of_runs(
    a: Sequence[Any], b: Sequence[Any], least_share: float, least: int = 5
) -> tuple[Span, Span]:
    """From the first verbatim run to the last one, if these cover enough; else everything.

    A run begins with `least` units that stand together once in `b`.
    """
    runs = []
    i = 0
    while i + least <= len(a):
        there = [j for j in range(len(b)) if list(b[j : j + least]) == list(a[i : i + least])]
        length = _common(a[i:], b[there[0] :]) if len(there) == 1 else 0
        if length:
            runs.append((i, there[0], length))
        i += max(1, length)
    shared = sum(length for _, _, length in runs)
    if not runs or shared < least_share * max(len(a), len(b)):
        return (0, len(a)), (0, len(b))
    ends_b = max(j + length for _, j, length in runs)
    return (runs[0][0], runs[-1][0] + runs[-1][2]), (min(j for _, j, _ in runs), ends_b)


def _common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many units are equal in front."""
    equal = (x == y for x, y in zip(a, b, strict=False))
    return sum(1 for _ in takewhile(bool, equal))
