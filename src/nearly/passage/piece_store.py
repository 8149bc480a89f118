"""The pieces of all documents, in memory or spilled: where they are, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.budget import Budget
from nearly.documents.spool import RowStore

__all__ = ["PieceStore", "Spans"]

Whole = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint64]

#: Bytes that a piece takes while it is compared with others.
_WORK: Final = 100
#: Digests that are read together.
_STRETCH: Final = 2**20


class Spans(NamedTuple):
    """Characters [start, end) of texts, their words, and line ends in the white space before."""

    starts: Whole
    ends: Whole
    words: Whole
    line_ends: Whole


class PieceStore:
    """Pieces by their number, one document behind the other; 32 bytes for each."""

    def __init__(self, budget: Budget, folder: Path) -> None:
        self._budget = budget
        self._spans = RowStore(np.uint32, 4, budget, folder)
        self._digests = RowStore(np.uint64, 2, budget, folder)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, spans: npt.NDArray[np.uint32], digests: Digests) -> None:
        """The next pieces: four columns, as in `Spans`."""
        self._spans.append(spans)
        self._digests.append(digests)
        self._count += len(spans)
        self._budget.check()

    def spans(self, pieces: Whole) -> Spans:
        """Some pieces, in the given order."""
        sought, places = np.unique(pieces, return_inverse=True)
        rows = self._spans.take(sought.astype(np.uint32))[places].astype(np.int64)
        return Spans(*rows.T)

    def digests(self, pieces: Whole) -> Digests:
        """128 bits that stand for what each piece says; pieces are given in ascending order."""
        found: Digests = self._digests.take(pieces.astype(np.uint32))
        return found

    def repeated(self) -> Whole:
        """The pieces that are not the only one of their kind."""
        parts = max(1, -(-self._count * _WORK // max(1, self._budget.limit)))
        is_repeated = np.zeros(self._count, bool)
        for part in range(parts):
            pieces, digests = self._part(part, parts)
            firsts = _kernels.first_seen(digests)
            counts = np.bincount(firsts, minlength=len(firsts))
            is_repeated[pieces[counts[firsts] > 1]] = True
        return np.flatnonzero(is_repeated)

    def _part(self, part: int, parts: int) -> tuple[Whole, Digests]:
        """Pieces whose digests lie in one of several ranges: equal ones lie in the same."""
        pieces, found = [np.empty(0, np.int64)], [np.empty((0, 2), np.uint64)]
        for first in range(0, self._count, _STRETCH):
            here = np.arange(first, min(self._count, first + _STRETCH))
            digests = self.digests(here)
            high = digests[:, 0] >> np.uint64(32)
            mine = (high * np.uint64(parts)) >> np.uint64(32) == part
            pieces.append(here[mine])
            found.append(digests[mine])
        return np.concatenate(pieces), np.concatenate(found)
