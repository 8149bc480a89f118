"""Pairs as they are found, in any order, and afterwards in order: in memory while they fit.

What does not fit is sorted and put aside in runs, and at the end the runs are merged, range by
range. The merged pairs lie in files that are shown as memory: see `nearly.mapping`.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.budget import Budget
from nearly.documents.spool import TemporaryColumn
from nearly.mapping import let_go
from nearly.measures.pair import Nearness, Packed, Pairs, split_pairs

__all__ = ["CandidateStore", "PairStore"]

#: Pairs that are merged at a time.
PIECE: Final = 2**19
#: Sorting holds what is sorted, its order and the result.
COPIES_TO_SORT: Final = 3
#: Pairs of a part that is small, and as many of such parts as are put together: an array of a few
#: pairs takes far more than these.
SMALL, MANY = 2**12, 2**8


class _Run(NamedTuple):
    """Pairs in order, in a file or not."""

    packed: Packed
    nearness: Nearness


def _together(parts: list[_Run]) -> _Run:
    return _Run(*map(np.concatenate, zip(*parts, strict=True)))


class PairStore:
    """Pairs with their nearness, each added once."""

    def __init__(self, budget: Budget, folder: Path):
        self._folder = folder
        self._parts: list[_Run] = []
        self._small: list[_Run] = []
        self._runs: list[_Run] = []
        self.held = 0
        budget.enter(self)

    def add(self, packed: Packed, nearness: Nearness) -> None:
        """Some more pairs."""
        self._append(_Run(packed, nearness))
        if len(self._small) == MANY:
            together, self._small = _together(self._small), []
            self._append(together)
        self.held += COPIES_TO_SORT * (packed.nbytes + nearness.nbytes)

    def _append(self, part: _Run) -> None:
        parts = self._small if len(part.packed) < SMALL else self._parts
        parts.append(part)

    def spill(self) -> None:
        """See `Spillable`."""
        run = self._sorted()
        columns = [TemporaryColumn(self._folder, column.dtype) for column in run]
        for column, values in zip(columns, run, strict=True):
            column.append(values)
        self._runs.append(_Run(*(column.shown() for column in columns)))

    def _sorted(self) -> _Run:
        packed, nearness = _together([_NOTHING, *self._parts, *self._small])
        self._parts, self._small, self.held = [], [], 0
        if (packed[1:] > packed[:-1]).all():
            return _Run(packed, nearness)
        return _Run(*_kernels.sort_pairs(packed, nearness))

    def pairs(self) -> Pairs:
        """All of them, in order; the store is empty afterwards."""
        if not self._runs:
            run = self._sorted()
            first, second = split_pairs(run.packed)
            return Pairs(first=first, second=second, nearness=run.nearness)
        if self._parts or self._small:
            self.spill()
        kinds = (np.uint32, np.uint32, np.float64)
        firsts, seconds, near = (TemporaryColumn(self._folder, kind) for kind in kinds)
        for some in _ranges([run.packed for run in self._runs]):
            packed = np.concatenate([r.packed[s] for r, s in zip(self._runs, some, strict=True)])
            nearness = [r.nearness[s] for r, s in zip(self._runs, some, strict=True)]
            packed, in_order = _kernels.sort_pairs(packed, np.concatenate(nearness))
            low, high = split_pairs(packed)
            firsts.append(low)
            seconds.append(high)
            near.append(in_order)
        self._runs = []
        return Pairs(first=firsts.shown(), second=seconds.shown(), nearness=near.shown())


class CandidateStore:
    """Pairs that may be added several times, and are given once."""

    def __init__(self, unique: Callable[[list[Packed]], Packed], budget: Budget, folder: Path):
        self._unique = unique
        self._folder = folder
        self._parts: list[Packed] = []
        self._runs: list[Packed] = []
        self._pending = 0
        self.held = 0
        budget.enter(self)

    def add(self, packed: Packed, most_pending: int) -> None:
        """Some more pairs; they are merged when more than this many wait for it."""
        self._parts.append(packed)
        self._pending += len(packed)
        if self._pending > most_pending:
            self._parts, self._pending = [self._unique(self._parts)], 0
        self.held = COPIES_TO_SORT * sum(part.nbytes for part in self._parts)

    def spill(self) -> None:
        """See `Spillable`."""
        run = TemporaryColumn(self._folder, np.uint64)
        run.append(self._unique(self._parts))
        self._runs.append(run.shown())
        self._parts, self._pending, self.held = [], 0, 0

    def packed(self) -> Packed:
        """All of them, in order; the store is empty afterwards."""
        if not self._runs:
            parts, self._parts, self.held = self._parts, [], 0
            return self._unique(parts)
        if self._parts:
            self.spill()
        merged = TemporaryColumn(self._folder, np.uint64)
        for some in _ranges(self._runs):
            merged.append(self._unique([r[s] for r, s in zip(self._runs, some, strict=True)]))
        self._runs = []
        return merged.shown()


def _ranges(runs: list[npt.NDArray[Any]]) -> Iterator[list[slice]]:
    """The same range of pairs in each run, about `PIECE` of them in all, until none is left.

    Every run is sampled: between two cuts lie few samples of all runs together, and between two
    samples of a run few of its pairs.
    """
    stride = max(1, PIECE // (4 * len(runs)))
    samples = np.sort(np.concatenate([run[::stride] for run in runs]))
    let_go()
    cuts = np.unique(samples[2 * len(runs) :: 2 * len(runs)])
    places = [[0, *np.searchsorted(run, cuts).tolist(), len(run)] for run in runs]
    for ends in zip(*(itertools.pairwise(cut) for cut in places), strict=True):
        yield [slice(*pair) for pair in ends]
        let_go()


_NOTHING: Final = _Run(np.empty(0, np.uint64), np.empty(0, np.float64))
