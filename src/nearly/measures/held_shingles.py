"""Shingles that were made when documents were weighed, kept until these are joined or signed."""

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.number import Documents
from nearly.measures.work import Workers

__all__ = ["HeldShingles", "Sets", "Shingles"]

#: Where each document's hashes begin, and the hashes, repeats included.
Shingles = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]
#: The same, each hash of a document once.
Sets = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]


class HeldShingles:
    """Those of some documents, in the pieces they were made in. Whoever takes them has them."""

    def __init__(self) -> None:
        self._pieces: list[Shingles] = []
        self._starts = [0]

    def __len__(self) -> int:
        return self._starts[-1]

    def append(self, shingles: Shingles) -> None:
        """Those of the next documents."""
        self._pieces.append(shingles)
        self._starts.append(len(self) + len(shingles[0]) - 1)

    def clear(self) -> None:
        """Let go of all."""
        self._pieces, self._starts = [], [0]

    def taken(self) -> Iterator[Shingles]:
        """All of them, piece by piece."""
        pieces = self._pieces[::-1]
        self.clear()
        while pieces:
            yield pieces.pop()

    def sets(self, documents: Documents, workers: Workers) -> Sets:
        """The sets of these documents, which are given in ascending order."""
        bounds = itertools.pairwise(np.searchsorted(documents, self._starts).tolist())
        chosen = [documents[slice(*b)] - s for b, s in zip(bounds, self._starts, strict=False)]

        def once(piece: tuple[Shingles, Documents]) -> Sets:
            (starts, hashes), some = piece
            ends = _kernels.keep_once(starts, hashes, some)
            return ends, hashes[: ends[-1]]

        sizes, parts = [np.zeros(1, np.int64)], []
        for offsets, hashes in workers.map(once, zip(self.taken(), chosen, strict=True)):
            sizes.append(np.diff(offsets))
            parts.append(hashes)
        return np.cumsum(np.concatenate(sizes)), _together(parts, workers)


def _together(parts: list[npt.NDArray[np.uint64]], workers: Workers) -> npt.NDArray[np.uint64]:
    """All parts one behind the other; each is copied by some thread, and let go."""
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    whole = np.empty(ends[-1], np.uint64)

    def copy(i: int) -> None:
        whole[ends[i] : ends[i + 1]] = parts[i]
        parts[i] = whole[:0]

    for _ in workers.map(copy, range(len(parts))):
        pass
    return whole
