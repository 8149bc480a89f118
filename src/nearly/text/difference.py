"""Where two texts differ, word by word, character by character or item by item, as spans.

Texts are aligned by words, or runs of words, that occur once in both (patience diff), and short
gaps between these by difflib. So the time stays nearly linear in the length of the texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple

from nearly.frozen import dataclass
from nearly.text.kind import Kind, kind_of
from nearly.text.subsequence import common_places
from nearly.text.unit import Unit
from nearly.wording import count

__all__ = [
    "Difference",
    "Run",
    "Span",
    "SpanKind",
    "difference",
    "places_of",
    "runs_of",
    "tokens_of",
]

SpanKind = Literal["equal", "insert", "delete", "replace", "moved"]

#: In these scripts, which write no spaces, each character is a word.
_ALONE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
#: A word or a mark, with the white space before it; of ASCII the same, which compiles in no time.
_TOKEN: Final = rf"\s*(?:[{_ALONE}]|[^\W{_ALONE}]+|[^\w\s])|\s+"
_IN_ASCII: Final = r"\s*(?:\w+|[^\w\s])|\s+"
#: A character; white space is one, however much of it there is.
_CHARACTER: Final = r"\s+|\S"
#: An item has a line of its own.
_ITEM: Final = r"\n?[^\n]+|\n"
#: Longer texts are compared by words, where characters were asked for.
_MOST_CHARACTERS: Final = 256
#: Words of each side that are matched at once.
_WINDOW: Final = 400
#: Where no word occurs once, runs of this many words may.
_RUN: Final = 8
#: Fewer words in the same order may be together by chance.
_LEAST_MOVED: Final = 3


class Span(NamedTuple):
    """A piece of both texts; spans follow each other and cover both texts.

    What was moved has two spans, one in each text, which is empty in the other.
    """

    kind: SpanKind
    start_a: int
    stop_a: int
    start_b: int
    stop_b: int


@dataclass(frozen=True)
class Difference:
    """What differs between two texts, and how much of them it is."""

    kind: Kind
    spans: tuple[Span, ...]
    differing: int  # words, or what the unit is
    words: int  # of the longer text
    unit: Unit = "word"

    @property
    def summary(self) -> str:
        """In a few words, for people."""
        share = f"{self.differing:,} of {count(self.words, self.unit)}"
        match self.kind:
            case "same text":
                return "the same items" if self.unit == "item" else "the same text"
            case "space":
                return "equal but for white space"
            case "order":
                return "equal but for the order of words"
            case "words":
                return f"equal but for {share}"
        return f"equal but for {self.kind}" + (f" ({share})" if self.differing else "")

    @property
    def first(self) -> Span | None:
        """The first span that is not equal."""
        return next((span for span in self.spans if span.kind != "equal"), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"spans": [span._asdict() for span in self.spans]}


#: What a span is, and where it begins and ends in both texts: in words, not in characters.
Run = tuple[SpanKind, int, int, int, int]


class _Block(NamedTuple):
    """Tokens that are the same on both sides."""

    a: int
    b: int
    size: int


def difference(a: str, b: str, unit: Unit = "word") -> Difference:
    """Compare two texts word by word, or by another unit; of items there is one in each line."""
    if unit == "character" and max(len(a), len(b)) > _MOST_CHARACTERS:
        unit = "word"
    kind = _kind_of(a, b, unit)
    tokens_a, tokens_b = tokens_of(a, unit), tokens_of(b, unit)
    # Line breaks in other places are worth showing only where nothing else differs.
    spaced = kind in ("same text", "space")
    keys_a, keys_b = ([t if spaced else t.strip() for t in side] for side in (tokens_a, tokens_b))
    aligned = _edited(keys_a, keys_b) if unit == "character" else runs_of(keys_a, keys_b)
    runs = _slid(aligned, keys_a, keys_b)
    moved = _moved(runs, keys_a, keys_b) if unit == "word" else _NO_MOVES
    pieces = [piece for run in runs for piece in _split(run, moved)]
    places_a, places_b = places_of(tokens_a), places_of(tokens_b)
    spans = tuple(
        Span(kind, places_a[i], places_a[j], places_b[k], places_b[m])
        for kind, i, j, k, m in pieces
    )
    words_a, words_b = _counts(keys_a, unit), _counts(keys_b, unit)
    changed = [piece for piece in pieces if piece[0] != "equal"]
    differing = max(
        sum(words_a[j] - words_a[i] for _, i, j, _, _ in changed),
        sum(words_b[m] - words_b[k] for _, _, _, k, m in changed),
    )
    return Difference(kind, spans, differing, max(words_a[-1], words_b[-1]), unit)


def _kind_of(a: str, b: str, unit: Unit) -> Kind:
    """Items that differ are other items, whatever they differ in."""
    if unit == "item":
        return "same text" if a == b else "words"
    return kind_of(a, b)


def tokens_of(text: str, unit: Unit = "word") -> list[str]:
    """Words and marks, each with the white space before it; or characters, or items.

    Together they are the text.
    """
    if unit == "character":
        return re.findall(_CHARACTER, text)
    if unit == "item":
        return re.findall(_ITEM, text)
    return re.findall(_IN_ASCII if text.isascii() else _TOKEN, text)


def runs_of(a: Sequence[str], b: Sequence[str]) -> Iterator[Run]:
    """Runs of the same words in the same order, and what stands between them."""
    return _runs(_aligned(a, b), len(a), len(b))


def _edited(a: Sequence[str], b: Sequence[str]) -> Iterator[Run]:
    """Runs with as few insertions and deletions as there can be."""
    common = [_Block(i, j, 1) for i, j in common_places(a, b)]
    return _runs(common, len(a), len(b))


def _aligned(a: Sequence[str], b: Sequence[str]) -> list[_Block]:
    """Runs of the same words in the same order, in ascending order."""
    found: list[_Block] = []
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        low_a, high_a, low_b, high_b = waiting.pop()
        start = 0
        most = min(high_a - low_a, high_b - low_b)
        while start < most and a[low_a + start] == b[low_b + start]:
            start += 1
        stop = 0
        while stop < most - start and a[high_a - stop - 1] == b[high_b - stop - 1]:
            stop += 1
        found.append(_Block(low_a, low_b, start))
        found.append(_Block(high_a - stop, high_b - stop, stop))
        gap = (low_a + start, high_a - stop, low_b + start, high_b - stop)
        waiting.extend(_inside(a, b, gap, found))
    return sorted(block for block in found if block.size)


def _inside(
    a: Sequence[str], b: Sequence[str], gap: tuple[int, int, int, int], found: list[_Block]
) -> Iterator[tuple[int, int, int, int]]:
    """Aligns a small gap at once; cuts a large one at its anchors, into the gaps between them."""
    low_a, high_a, low_b, high_b = gap
    size = (high_a - low_a) * (high_b - low_b)
    if not size:
        return
    if size <= _WINDOW**2:
        found.extend(_blocks(a, b, gap))
        return
    anchors = _anchors(a, b, gap, 1) or _anchors(a, b, gap, _RUN)
    if not anchors:
        found.extend(_windows(a, b, gap))
        return
    for i, j in anchors:
        yield low_a, i, low_b, j
        found.append(_Block(i, j, 1))
        low_a, low_b = i + 1, j + 1
    yield low_a, high_a, low_b, high_b


def _blocks(a: Sequence[str], b: Sequence[str], gap: tuple[int, int, int, int]) -> list[_Block]:
    """The longest matches first, by difflib; good for short gaps."""
    low_a, high_a, low_b, high_b = gap
    matcher = SequenceMatcher(None, a[low_a:high_a], b[low_b:high_b], autojunk=False)
    return [_Block(low_a + i, low_b + j, size) for i, j, size in matcher.get_matching_blocks()[:-1]]


def _windows(
    a: Sequence[str], b: Sequence[str], gap: tuple[int, int, int, int]
) -> Iterator[_Block]:
    """A long gap where everything repeats, window by window, each from the last match on."""
    low_a, high_a, low_b, high_b = gap
    while low_a < high_a and low_b < high_b:
        end_a, end_b = min(low_a + _WINDOW, high_a), min(low_b + _WINDOW, high_b)
        blocks = _blocks(a, b, (low_a, end_a, low_b, end_b))
        yield from blocks
        last = blocks[-1] if blocks else _Block(end_a, end_b, 0)
        low_a, low_b = last.a + last.size, last.b + last.size


def _anchors(
    a: Sequence[str], b: Sequence[str], gap: tuple[int, int, int, int], length: int
) -> list[tuple[int, int]]:
    """Runs of words that occur once on both sides: as many as stand in the same order."""
    low_a, high_a, low_b, high_b = gap
    once_a, once_b = _once(a, low_a, high_a, length), _once(b, low_b, high_b, length)
    pairs = sorted((place, once_b[run]) for run, place in once_a.items() if run in once_b)
    return _longest_ascending(pairs)


def _once(words: Sequence[str], low: int, high: int, length: int) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for place in range(low, high - length + 1):
        run = words[place] if length == 1 else tuple(words[place : place + length])
        places[run] = -1 if run in places else place
    return {run: place for run, place in places.items() if place >= 0}


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second parts ascend too, by patience sorting."""
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for number, (_, second) in enumerate(pairs):
        pile = bisect_left(tops, second)
        before.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [second]
        top_pairs[pile : pile + 1] = [number]
    chain = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _runs(blocks: Sequence[_Block], end_a: int, end_b: int) -> Iterator[Run]:
    """Equal runs, joined where they touch, and what stands between them."""
    at_a = at_b = 0
    equal_a = equal_b = 0  # where the run of equal words began
    for block in [*blocks, _Block(end_a, end_b, 0)]:
        if (block.a, block.b) != (at_a, at_b) or not block.size:
            if at_a > equal_a:
                yield "equal", equal_a, at_a, equal_b, at_b
            if block.a > at_a or block.b > at_b:
                kind: SpanKind = "replace"
                if block.a == at_a:
                    kind = "insert"
                elif block.b == at_b:
                    kind = "delete"
                yield kind, at_a, block.a, at_b, block.b
            equal_a, equal_b = block.a, block.b
        at_a, at_b = block.a + block.size, block.b + block.size


def _slid(runs: Iterator[Run], a: Sequence[str], b: Sequence[str]) -> list[Run]:
    """What was added or taken out, as far to the right as it can stand: at the end of a sentence.

    `x. y z. y` is `x. y` with `z. y` or with `y z.` added to it; the second is easier to read.
    """
    found: list[Run] = []
    for run in runs:
        before = found[-1] if found else run
        if run[0] != "equal" or before[0] not in ("insert", "delete"):
            found.append(run)
            continue
        kind, i, j, k, m = before
        _, _, end_a, _, end_b = run
        side, low, high = (a, i, j) if kind == "delete" else (b, k, m)
        steps = 0
        while steps < end_a - j and side[low + steps] == side[high + steps]:
            steps += 1
        moved: list[Run] = [
            ("equal", i, i + steps, k, k + steps),
            (kind, i + steps, j + steps, k + steps, m + steps),
            ("equal", j + steps, end_a, m + steps, end_b),
        ]
        found[-1:] = [part for part in moved if part[1] < part[2] or part[3] < part[4]]
    return found


class _Moves(NamedTuple):
    """Where pieces begin that stand elsewhere in the other text."""

    a: frozenset[int]
    b: frozenset[int]


_NO_MOVES: Final = _Moves(frozenset(), frozenset())


def _moved(runs: Sequence[Run], a: Sequence[str], b: Sequence[str]) -> _Moves:
    gone: dict[tuple[str, ...], list[int]] = {}
    for kind, i, j, _, _ in runs:
        if kind != "equal" and j - i >= _LEAST_MOVED:
            gone.setdefault(tuple(a[i:j]), []).append(i)
    from_a, to_b = set(), set()
    for kind, _, _, k, m in runs:
        places = gone.get(tuple(b[k:m])) if kind != "equal" and m - k >= _LEAST_MOVED else None
        if places:
            from_a.add(places.pop())
            to_b.add(k)
    return _Moves(frozenset(from_a), frozenset(to_b))


def _split(run: Run, moved: _Moves) -> Iterator[Run]:
    """A run as it is, or what was moved apart from the rest of it."""
    kind, i, j, k, m = run
    from_here, to_here = i < j and i in moved.a, k < m and k in moved.b
    if kind == "equal" or not (from_here or to_here):
        yield run
        return
    if i < j:
        yield "moved" if from_here else "delete", i, j, k, k
    if k < m:
        yield "moved" if to_here else "insert", j, j, k, m


def places_of(tokens: Sequence[str]) -> list[int]:
    """Where each token begins, and where the last one ends."""
    places = [0]
    for token in tokens:
        places.append(places[-1] + len(token))
    return places


def _counts(keys: Sequence[str], unit: Unit) -> list[int]:
    """How many words, or other units, stand before each place; marks are no words."""
    counts = [0]
    for key in keys:
        counts.append(counts[-1] + (unit != "word" or any(map(str.isalnum, key))))
    return counts
