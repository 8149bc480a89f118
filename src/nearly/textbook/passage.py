"""Shared passages as plainly as Python can say them."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from nearly.textbook.normalisation import SCRIPTS_WITHOUT_SPACES
from nearly.textbook.paper import WHITE_SPACE

__all__ = [
    "crowd_places",
    "crowded_grams",
    "maximal_runs",
    "near_runs",
    "places_of_units",
    "rare_meetings",
    "repeated_pieces",
    "sentence_beginnings",
    "shared_part",
    "winnowed",
]


def maximal_runs(a: Sequence[Any], b: Sequence[Any], least: int) -> set[tuple[int, int, int]]:
    """Every run of at least `least` equal units that can be made longer at neither end.

    A run is its start in `a`, its start in `b`, and its length.
    """
    found = set()
    for i in range(len(a)):
        for j in range(len(b)):
            starts_here = i == 0 or j == 0 or a[i - 1] != b[j - 1]
            length = 0
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            if starts_here and length >= least:
                found.add((i, j, length))
    return found


def near_runs(a: Sequence[Any], b: Sequence[Any], least: int) -> set[tuple[int, int, int]]:
    """Runs of which some units were replaced, in the form of `maximal_runs`.

    Four equal units in a row are extended on both sides as far as equal units outweigh replaced
    ones. At least four of five units are equal, and not all.
    """
    found = set()
    for i in range(len(a) - 3):
        for j in range(len(b) - 3):
            if a[i : i + 4] != b[j : j + 4]:
                continue
            left = _reach(a[:i][::-1], b[:j][::-1])
            length = left + 4 + _reach(a[i + 4 :], b[j + 4 :])
            first, second = a[i - left :][:length], b[j - left :][:length]
            equal = sum(x == y for x, y in zip(first, second, strict=True))
            if length >= least and length > equal >= 0.8 * length:
                found.add((i - left, j - left, length))
    return found


def _reach(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many units in front have most to say for being equal, until four too many differ."""
    score = best = end = 0
    for place, (x, y) in enumerate(zip(a, b, strict=False), 1):
        score += 1 if x == y else -1
        if score > best:
            best, end = score, place
        elif score <= best - 4:
            break
    return end


def shared_part(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Shared units among all units of both sides, each as often as it stands there."""
    shared = Counter(a) & Counter(b)
    return 2 * shared.total() / (len(a) + len(b))


def repeated_pieces(documents: Sequence[Sequence[str]], least: int) -> set[tuple[int, int]]:
    """Pieces, by document and place, of runs that stand before in the same order.

    A run is some pieces in a row of one document, with at least `least` words together. Another
    one stands before it if it begins in an earlier document, or earlier in the same one.
    """
    runs = [
        (document, start, pieces[start:end])
        for document, pieces in enumerate(documents)
        for start in range(len(pieces))
        for end in range(start + 1, len(pieces) + 1)
        if sum(len(piece.split()) for piece in pieces[start:end]) >= least
    ]
    return {
        (document, start + i)
        for document, start, run in runs
        if any((d, s) < (document, start) and other == run for d, s, other in runs)
        for i in range(len(run))
    }


def winnowed(hashes: Sequence[int], window: int) -> list[int]:
    """Places that are chosen: of every window the least hash, the last one of equals."""
    chosen = {
        min(range(start, start + window), key=lambda i: (hashes[i], -i))
        for start in range(len(hashes) - window + 1)
    }
    return sorted(chosen)


def rare_meetings(
    documents: Sequence[Sequence[Any]], k: int, most_documents: int
) -> Counter[tuple[int, int]]:
    """How many k-grams two documents share, of those that few documents have."""
    grams = [{tuple(words[i : i + k]) for i in range(len(words) - k + 1)} for words in documents]
    frequency = Counter(gram for some in grams for gram in some)
    found: Counter[tuple[int, int]] = Counter()
    for (a, one), (b, other) in combinations(enumerate(grams), 2):
        found[a, b] = sum(frequency[gram] <= most_documents for gram in one & other)
    return +found


def places_of_units(text: str, *, words: bool) -> Iterator[tuple[int, int]]:
    """Where the words of a text, or its characters, begin and end.

    A word is letters, digits and numbers in a row, or one letter of a script without spaces. A
    character is one code point, or white space in a row. Marks belong to what they follow.
    """
    place = 0
    while place < len(text):
        start, kind = place, _kind(text[place])
        place += 1
        if words and kind in ("other", "space"):
            continue
        while place < len(text) and _continues(kind, _kind(text[place]), words=words):
            place += 1
        yield start, place


def _kind(c: str) -> str:
    category = unicodedata.category(c)
    if c in WHITE_SPACE:
        return "space"
    if category[0] == "M":
        return "mark"
    if any(first <= ord(c) <= last for first, last in SCRIPTS_WITHOUT_SPACES):
        return "alone"
    return "word" if category[0] in "LN" else "other"


def _continues(first: str, following: str, *, words: bool) -> bool:
    if following == "mark":
        return True
    if words:
        return first != "alone" and following == "word"
    return first == following == "space"


def sentence_beginnings(text: str) -> Iterator[bool]:
    """Whether a sentence begins with each word.

    The first word begins one. So does a word with a line end or an ideographic full stop before
    it; and one with a full stop, an exclamation or question mark and then white space before it.
    """
    reached = None
    for start, end in places_of_units(text, words=True):
        yield reached is None or _ends_sentence(text[reached:start])
        reached = end


def _ends_sentence(between: str) -> bool:
    if any(c in "\n\u2029\u3002\uff01\uff1f" for c in between):
        return True
    sign = next((i for i, c in enumerate(between) if c in ".!?\u2026"), len(between))
    return any(c in WHITE_SPACE for c in between[sign:])


def crowded_grams(
    chosen: Sequence[Sequence[tuple[int, int]]], most: int, compares: Callable[[int, int], bool]
) -> list[tuple[int, int, int, bool]]:
    """Hash, document and place of the k-grams of more than `most` places, of which two documents
    that are compared have one; and whether the one chosen before it in the document is such a one.

    `chosen` has the hash and the place of the k-grams of each document.
    """
    places = [(hash_, i) for i, grams in enumerate(chosen) for hash_, _ in grams]
    counts = Counter(hash_ for hash_, _ in places)
    owners: dict[int, set[int]] = {hash_: set() for hash_ in counts}
    for hash_, document in places:
        owners[hash_].add(document)
    crowded = {
        hash_
        for hash_, count in counts.items()
        if count > most and any(compares(a, b) for a, b in combinations(sorted(owners[hash_]), 2))
    }
    return [
        (hash_, i, place, n > 0 and grams[n - 1][0] in crowded)
        for i, grams in enumerate(chosen)
        for n, (hash_, place) in enumerate(grams)
        if hash_ in crowded
    ]


def crowd_places(
    hashes: Sequence[int], places: Sequence[int], follows: Sequence[bool], window: int
) -> list[tuple[int, int, int]]:
    """Passages that crowded k-grams make up: the passage, its first and its last k-gram.

    K-grams belong together that stand next to each other at least half as often as the more
    frequent one of them stands anywhere. A passage has the rank of the least hash of its k-grams.
    Where another one follows before a window is full, they are one place of the first.
    """
    counts = Counter(hashes)
    together = Counter((hashes[i - 1], hashes[i]) for i in range(len(hashes)) if follows[i])
    least = {hash_: hash_ for hash_ in counts}
    for _ in counts:
        for pair, seen in together.items():
            if 2 * seen >= max(counts[hash_] for hash_ in pair):
                least.update(dict.fromkeys(pair, min(least[hash_] for hash_ in pair)))
    ranks = {hash_: rank for rank, hash_ in enumerate(sorted(counts))}
    found: list[tuple[int, int, int]] = []
    for i, hash_ in enumerate(hashes):
        passage, first = ranks[least[hash_]], i
        if follows[i] and (
            found[-1][0] == passage or places[i - 1] - places[found[-1][1]] + 1 < window
        ):
            passage, first, _ = found.pop()
        found.append((passage, first, i))
    return found
