"""From documents to the passages that they share: numbers of documents, places of characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import take_strings
from nearly.passage.edited import aligned, worth_aligning
from nearly.passage.hole import SPAN, common_grams, grams_of, with_holes
from nearly.passage.unit import Numbers, Units, cut
from nearly.passage.verbatim import shared_runs
from nearly.settings import PassageSettings

__all__ = ["Corpus", "Passage", "Place", "align_pairs", "search"]

#: The part of both sides that verbatim runs must cover to say where a passage begins and ends.
VERBATIM: Final = 0.7


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The texts, who belongs together, and on which side each stands."""

    texts: pa.LargeStringArray
    groups: Numbers
    sides: Numbers
    one_sided: bool
    ignored: pa.LargeStringArray


@dataclass(frozen=True, order=True)
class Passage:
    """Characters [start, end) of two documents; `length` counts units of the first."""

    a: int
    b: int
    start_a: int
    end_a: int
    start_b: int
    end_b: int
    length: int
    likeness: float
    kind: str


@dataclass(frozen=True, order=True)
class Place:
    """Characters [start, end) of a document that belong to one repeated passage."""

    passage: int
    document: int
    start: int
    end: int


Span = tuple[int, int, int, int]  # units: from and to in a, from and to in b


def search(
    corpus: Corpus, settings: PassageSettings, threads: int
) -> tuple[list[Passage], list[Place]]:
    """All passages that two documents share, and the places of those that many share."""
    units = _cut(corpus, settings)
    who = (corpus.groups, corpus.sides)
    runs, places = shared_runs(
        units, *who, one_sided=corpus.one_sided, least=settings.shortest, crowd=settings.crowd
    )
    found = _verbatim(units, runs)
    if not settings.verbatim:
        words = units if settings.unit == "word" else _cut(corpus, settings, unit="word")
        pairs = worth_aligning(words, *who, one_sided=corpus.one_sided)
        found = _merged(found, _edited(corpus, words, pairs, settings, threads))
    repeated = [
        Place(passage, document, int(units.starts[first]), int(units.ends[last - 1]))
        for passage, document, first, last in _in_text(units, places)
    ]
    return sorted(found), sorted(repeated)


def align_pairs(
    texts: pa.LargeStringArray,
    pairs: npt.NDArray[np.uint32],
    settings: PassageSettings,
    threads: int,
) -> list[Passage]:
    """The edited and verbatim passages of given pairs of documents."""
    everyone = np.arange(len(texts), dtype=np.uint32)
    corpus = Corpus(
        texts=texts, groups=everyone, sides=everyone, one_sided=False, ignored=texts.slice(0, 0)
    )
    return sorted(_edited(corpus, _cut(corpus, settings, unit="word"), pairs, settings, threads))


def _cut(corpus: Corpus, settings: PassageSettings, unit: str | None = None) -> Units:
    unit = unit or settings.unit
    units = cut(corpus.texts, settings, unit=unit)  # type: ignore[arg-type]
    span = SPAN[unit]
    if settings.common is not None:
        units = with_holes(units, common_grams(units, span, settings.common), span)
    if len(corpus.ignored):
        ignored = cut(corpus.ignored, settings, unit=unit)  # type: ignore[arg-type]
        units = with_holes(units, grams_of(ignored, span), span)
    return units


def _verbatim(units: Units, runs: npt.NDArray[np.uint32]) -> list[Passage]:
    found = []
    for a, b, i, j, length in runs.tolist():
        x, y = int(units.offsets[a]) + i, int(units.offsets[b]) + j
        places = _characters(units, (x, x + length, y, y + length))
        found.append(Passage(a, b, *places, length, 1.0, "verbatim"))
    return found


def _characters(units: Units, span: Span) -> Span:
    a, a_end, b, b_end = span
    return (
        int(units.starts[a]),
        int(units.ends[a_end - 1]),
        int(units.starts[b]),
        int(units.ends[b_end - 1]),
    )


def _in_text(units: Units, places: npt.NDArray[np.uint32]) -> Iterable[Sequence[int]]:
    for passage, document, start, end in places.tolist():
        first = int(units.offsets[document])
        yield passage, document, first + start, first + end


def _edited(
    corpus: Corpus,
    words: Units,
    pairs: npt.NDArray[np.uint32],
    settings: PassageSettings,
    threads: int,
) -> list[Passage]:
    if not len(pairs):
        return []
    named = _with_dictionary(corpus, words, pairs, settings)
    found = []
    for pair, a, a_end, b, b_end in aligned(named, pairs, settings.stems, threads).tolist():
        one, other = (int(number) for number in pairs[pair])
        x, y = int(words.offsets[one]), int(words.offsets[other])
        span = _by_runs(words, (x + a, x + a_end, y + b, y + b_end))
        likeness, kind = _likeness(words, span)
        length = span[1] - span[0]
        found.append(Passage(one, other, *_characters(words, span), length, likeness, kind))
    return found


def _with_dictionary(
    corpus: Corpus, words: Units, pairs: npt.NDArray[np.uint32], settings: PassageSettings
) -> Units:
    """The same words with their spelling: only documents of some pair are looked into for it."""
    from dataclasses import replace

    some = take_strings(corpus.texts, np.unique(pairs))
    spelled = cut(some, settings, unit="word", collects=True)
    return replace(words, dictionary=spelled.dictionary)


def _by_runs(words: Units, span: Span) -> Span:
    """From where the verbatim runs of a passage begin to where they end, if they are most of it."""
    a, a_end, b, b_end = span
    blocks = _runs(words.hashes[a:a_end], words.hashes[b:b_end])
    shared = sum(length for _, _, length in blocks)
    if shared < VERBATIM * max(a_end - a, b_end - b):
        return span
    return (
        a + min(i for i, _, _ in blocks),
        a + max(i + n for i, _, n in blocks),
        b + min(j for _, j, _ in blocks),
        b + max(j + n for _, j, n in blocks),
    )


#: Words of a run that is no chance.
LEAST_RUN: Final = 5


def _runs(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> list[tuple[int, int, int]]:
    """Runs of at least LEAST_RUN words that begin with words of b's that stand there once."""
    firsts: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    x, y = a.tolist(), b.tolist()
    for j in range(len(y) - LEAST_RUN + 1):
        firsts[tuple(y[j : j + LEAST_RUN])].append(j)
    found, i = [], 0
    while i + LEAST_RUN <= len(x):
        places = firsts.get(tuple(x[i : i + LEAST_RUN]), [])
        if len(places) != 1:
            i += 1
            continue
        j, n = places[0], LEAST_RUN
        while i + n < len(x) and j + n < len(y) and x[i + n] == y[j + n]:
            n += 1
        found.append((i, j, n))
        i += n
    return found


def _likeness(words: Units, span: Span) -> tuple[float, str]:
    """Shared words among all words of both sides, each as often as it stands there."""
    a, a_end, b, b_end = span
    one, other = words.hashes[a:a_end], words.hashes[b:b_end]
    if np.array_equal(one, other):
        return 1.0, "verbatim"
    names, counts = np.unique(one, return_counts=True)
    others, more = np.unique(other, return_counts=True)
    _, x, y = np.intersect1d(names, others, return_indices=True)
    shared = int(np.minimum(counts[x], more[y]).sum())
    return 2 * shared / (len(one) + len(other)), "edited"


def _merged(runs: list[Passage], aligned: list[Passage]) -> list[Passage]:
    """All aligned passages, and the runs that lie in none of them on both sides."""
    by_pair: defaultdict[tuple[int, int], list[Passage]] = defaultdict(list)
    for each in aligned:
        by_pair[each.a, each.b].append(each)
    rest = [
        run
        for run in runs
        if not any(_lies_in(run, each) for each in by_pair.get((run.a, run.b), ()))
    ]
    return aligned + rest


def _lies_in(run: Passage, other: Passage) -> bool:
    inside_a = other.start_a <= run.start_a and run.end_a <= other.end_a
    return inside_a and other.start_b <= run.start_b and run.end_b <= other.end_b
