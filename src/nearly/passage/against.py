"""One side held against another that goes by: of the other, only what shares something is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.passage.edited import GRAM, LEAST_SHARED, MOST_DOCUMENTS
from nearly.passage.found import Found, Places
from nearly.passage.hole import LeftOut
from nearly.passage.near import Candidates, near_runs
from nearly.passage.reading import Read, corpus_of, some
from nearly.passage.search import Corpus, complete, cut_both
from nearly.passage.unit import Units
from nearly.passage.verbatim import gram_length
from nearly.settings import PassageSettings

__all__ = ["search_against"]


def search_against(
    source: Read,
    first_pass: Iterable[Read],
    second_pass: Callable[[], Iterable[Read]],
    left_out: LeftOut,
    settings: PassageSettings,
    threads: int,
) -> tuple[Found, Places, Corpus, Read]:
    """What the source shares with documents that are read twice, and those of them that share."""
    count = len(source.ids)
    first_side = cut_both(source.texts, left_out, settings, threads, np.arange(count))
    sieve = _Sieve(*first_side, settings)

    def cut(part: tuple[int, Read]) -> tuple[Units, Units]:
        first, read = part
        numbers = np.arange(len(read.ids)) + first
        return cut_both(read.texts, left_out, settings, 1, numbers)

    for units, words in _ahead(_numbered(first_pass, count), cut, threads):
        sieve.take(units, words)
    wanted, candidates = sieve.result(count)
    kept = some(second_pass() if len(wanted) else (), wanted, source.id_type)
    corpus = corpus_of(source, kept, left_out, wanted + count)
    both = cut_both(corpus.texts, left_out, settings, threads, corpus.numbers)
    if candidates is not None:
        candidates = candidates.of_different(corpus.groups)
    return *complete(corpus, *both, candidates, settings, threads), corpus, kept


def _numbered(parts: Iterable[Read], first: int) -> Iterator[tuple[int, Read]]:
    """Each part with the number of its first document."""
    for part in parts:
        yield first, part
        first += len(part.ids)


def _ahead(
    parts: Iterable[tuple[int, Read]],
    work: Callable[[tuple[int, Read]], tuple[Units, Units]],
    threads: int,
) -> Iterator[tuple[Units, Units]]:
    """Work on the next parts is done while one is looked at; they come in order."""
    waiting: deque[Future[tuple[Units, Units]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Sieve:
    """Which of the documents that go by share anything with those that stay, and what."""

    def __init__(self, units: Units, words: Units, settings: PassageSettings) -> None:
        self._count = 0
        self._sharing: list[npt.NDArray[np.int64]] = []
        self._grams = _kernels.SharedGrams(
            units.offsets, units.hashes, gram_length(settings.shortest)
        )
        self._seeks_edited = not settings.verbatim
        self._near: list[tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]] = []
        if self._seeks_edited:
            stay = words.offsets, words.hashes
            self._pairs = _kernels.PassingPairs(*stay, GRAM, MOST_DOCUMENTS, LEAST_SHARED)
            self._runs = near_runs(stay, settings)

    def take(self, units: Units, words: Units) -> None:
        """Look at the next documents."""
        share = self._grams.sharing(units.offsets, units.hashes)
        self._sharing.append(np.flatnonzero(share) + self._count)
        if self._seeks_edited:
            self._pairs.take(words.offsets, words.hashes, self._count)
            self._near.append(self._runs.find(words.offsets, words.hashes, self._count))
        self._count += len(units.offsets) - 1

    def result(self, first: int) -> tuple[npt.NDArray[np.int64], Candidates | None]:
        """Documents that share something; and candidates, these numbered from `first` on."""
        wanted = np.concatenate([np.empty(0, np.int64), *self._sharing])
        if not self._seeks_edited:
            return wanted, None
        packed = self._pairs.pairs()
        pairs = np.stack([packed >> np.uint64(32), packed & np.uint64(0xFFFFFFFF)], 1)
        near = np.concatenate([np.empty((0, 5), np.uint32), *(rows for rows, _ in self._near)])
        likeness = np.concatenate([np.empty(0), *(alike for _, alike in self._near)])
        wanted = np.unique(np.concatenate([wanted, pairs[:, 1], near[:, 1]]).astype(np.int64))
        candidates = Candidates(pairs=pairs.astype(np.uint32), near=near, likeness=likeness)
        return wanted, replace(
            candidates,
            pairs=_renumbered(candidates.pairs, wanted, first),
            near=_renumbered(near, wanted, first),
        )


def _renumbered(
    rows: npt.NDArray[np.uint32], wanted: npt.NDArray[np.int64], first: int
) -> npt.NDArray[np.uint32]:
    """The second document of each row by its place among the wanted ones."""
    made = rows.copy()
    made[:, 1] = np.searchsorted(wanted, rows[:, 1]) + first
    return made
