"""From documents to the passages that they share: numbers of documents, places of characters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.passage.edited import aligned, worth_aligning
from nearly.passage.found import Found, Places, found_of, merged
from nearly.passage.hole import SPAN, LeftOut, common_grams, units_of, with_holes
from nearly.passage.near import Candidates, near_runs
from nearly.passage.rarity import StemCounts
from nearly.passage.unit import Hashes, Numbers, Units, cut
from nearly.passage.verbatim import Crowded, shared_runs
from nearly.settings import PassageSettings, Unit

__all__ = ["Corpus", "align_pairs", "compare_pairs", "complete", "cut_both", "search"]

_NONE: Final = np.empty(0, np.uint64)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The texts, who belongs together, and on which side each stands: the first side first."""

    texts: pa.LargeStringArray
    groups: Numbers
    sides: Numbers
    one_sided: bool
    left_out: LeftOut
    numbers: npt.NDArray[np.int64]  # of the documents among all

    @property
    def first(self) -> int:
        """How many documents the first side has."""
        return int(np.count_nonzero(self.sides == 0)) if self.one_sided else len(self.sides)


def search(corpus: Corpus, settings: PassageSettings, threads: int) -> tuple[Found, Places]:
    """All passages that two documents share, and the places of those that many share."""
    units, words = cut_both(corpus.texts, corpus.left_out, settings, threads, corpus.numbers)
    return complete(corpus, units, words, None, settings, threads)


def complete(
    corpus: Corpus,
    units: Units,
    words: Units,
    candidates: Candidates | None,
    settings: PassageSettings,
    threads: int,
) -> tuple[Found, Places]:
    """The same, of units; and with candidates for edited passages, if these are known."""
    with ThreadPoolExecutor(threads) as pool:
        finding = pool.submit(_runs, units, corpus, settings)
        if not settings.verbatim:
            candidates = candidates or _candidates(words, corpus, settings, threads)
        runs, crowded = finding.result()
    found = _with_edited(runs, words, candidates, settings, corpus.first, threads)
    return found, crowded.spread(settings.shortest)


def compare_pairs(
    corpus: Corpus,
    pairs: npt.NDArray[np.uint64],
    candidates: Candidates | None,
    frequent: Hashes,
    stems: StemCounts,
    settings: PassageSettings,
) -> Found:
    """The passages of given pairs, where it is known what is frequent among all documents."""
    units, words = cut_both(corpus.texts, corpus.left_out, settings, 1, corpus.numbers)
    runs, _ = _runs(units, corpus, settings, frequent)
    wanted = runs.taken(np.isin(runs.pairs.astype(np.uint64), pairs))
    return _with_edited(wanted, words, candidates, settings, stems, 1)


def _with_edited(
    runs: Found,
    words: Units,
    candidates: Candidates | None,
    settings: PassageSettings,
    counted: int | StemCounts,
    threads: int,
) -> Found:
    """The same, and what was found of candidates; in order."""
    if candidates is None:
        return runs.in_order()
    edited = aligned(words, candidates.pairs, settings.stems, threads, counted)
    if len(candidates.near):
        near = _found(words, candidates.near, candidates.likeness, is_verbatim=False)
        edited = merged(near, edited)
    return merged(runs, edited)


def align_pairs(
    texts: pa.LargeStringArray,
    pairs: npt.NDArray[np.uint32],
    settings: PassageSettings,
    threads: int,
) -> Found:
    """The edited and verbatim passages of given pairs of documents."""
    words = cut(texts, settings, unit="word", threads=threads)
    return aligned(words, pairs, settings.stems, threads).in_order()


def cut_both(
    texts: pa.LargeStringArray,
    left_out: LeftOut,
    settings: PassageSettings,
    threads: int,
    numbers: npt.NDArray[np.integer],
) -> tuple[Units, Units]:
    """The units that runs consist of, and the words that edited passages consist of."""
    both = [_cut(texts, left_out, settings, threads, numbers, unit) for unit in units_of(settings)]
    return both[0], both[-1]


def _cut(
    texts: pa.LargeStringArray,
    left_out: LeftOut,
    settings: PassageSettings,
    threads: int,
    numbers: npt.NDArray[np.integer],
    unit: Unit,
) -> Units:
    units = cut(texts, settings, unit=unit, threads=threads)
    grams = left_out.get(unit, _NONE)
    if settings.common is not None:
        grams = np.union1d(grams, common_grams(units, SPAN[unit], settings.common))
    return with_holes(units, grams, SPAN[unit], numbers) if len(grams) else units


def _candidates(
    words: Units, corpus: Corpus, settings: PassageSettings, threads: int
) -> Candidates:
    pairs = worth_aligning(
        words, corpus.groups, corpus.sides, one_sided=corpus.one_sided, threads=threads
    )
    if not corpus.one_sided:
        return Candidates.of_pairs(pairs)
    runs = near_runs(words.part(0, corpus.first), settings)
    near, likeness = runs.find(*words.part(corpus.first, len(corpus.sides)), corpus.first)
    candidates = Candidates(pairs=pairs, near=near, likeness=likeness)
    return candidates.of_different(corpus.groups)


def _runs(
    units: Units, corpus: Corpus, settings: PassageSettings, known: Hashes | None = None
) -> tuple[Found, Crowded]:
    runs, crowded = shared_runs(
        units,
        corpus.groups,
        corpus.sides,
        one_sided=corpus.one_sided,
        least=settings.shortest,
        crowd=settings.crowd,
        known=known,
    )
    return _found(units, runs, np.ones(len(runs)), is_verbatim=True), crowded


def _found(
    units: Units,
    runs: npt.NDArray[np.uint32],
    likeness: npt.NDArray[np.float64],
    *,
    is_verbatim: bool,
) -> Found:
    """Runs: both documents, where it begins in them, how long it is."""
    a, b, i, j, length = runs.T
    spans = np.stack([i, i + length, j, j + length], 1)
    return found_of(units, (a, b), spans, likeness, np.full(len(runs), is_verbatim))
