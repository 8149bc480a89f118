"""Pairs of document numbers: packed in one word while they are candidates, columns later."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.frozen import dataclass
from nearly.mapping import let_go
from nearly.measures.held_shingles import Sets
from nearly.measures.number import Documents
from nearly.measures.work import Workers

__all__ = [
    "Block",
    "Joined",
    "Nearness",
    "Packed",
    "Pairs",
    "in_order",
    "join_pairs",
    "split_pairs",
]

#: Pairs that are worked on at a time, where there are many.
PART = 2**19

Packed = npt.NDArray[np.uint64]
Nearness = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Verified pairs, ordered; `first` is the lower document."""

    first: Documents
    second: Documents
    nearness: Nearness

    def __len__(self) -> int:
        return len(self.first)

    def at(self, places: npt.NDArray[np.intp]) -> "Pairs":
        """Those at some places, in that order."""
        return Pairs(
            first=self.first[places], second=self.second[places], nearness=self.nearness[places]
        )

    def parts(self) -> Iterator["Pairs"]:
        """The same pairs, some at a time: all of them together may not fit in memory.

        There is one part at least, which may have no pair.
        """
        for start in range(0, max(1, len(self)), PART):
            part = slice(start, start + PART)
            yield Pairs(
                first=self.first[part], second=self.second[part], nearness=self.nearness[part]
            )
            let_go()


@dataclass(frozen=True, kw_only=True)
class Block:
    """Some documents, and what reads the contents of a run of them, by places."""

    documents: Documents
    read: Callable[[int, int], pa.Array]
    #: The sizes of all of them together, where that is known.
    size: int | None = None
    #: What makes their sets of shingles, where these were made when documents were weighed.
    sets: Callable[[Workers], Sets] | None = None

    @classmethod
    def of(cls, documents: Documents, contents: pa.Array) -> "Block":
        """Of contents that are at hand."""
        return cls(documents=documents, read=lambda start, stop: contents[start:stop])


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Some of the pairs of an exact join, and what it took to find them."""

    pairs: Packed
    nearness: Nearness
    meetings: int  # pairs that were looked at
    verified: int  # of these, pairs that were compared in full


def join_pairs(first: Documents, second: Documents) -> Packed:
    """Two columns as one: the lower document in the upper half, so that order is order."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    return low.astype(np.uint64) << np.uint64(32) | high


def in_order(parts: Iterable[tuple[Packed, Nearness]]) -> Pairs:
    """Packed pairs that come some at a time, as columns; there is one part at least."""
    packed, nearness = _kernels.sort_pairs(*map(np.concatenate, zip(*parts, strict=True)))
    first, second = split_pairs(packed)
    return Pairs(first=first, second=second, nearness=nearness)


def split_pairs(packed: Packed) -> tuple[Documents, Documents]:
    """The inverse of `join_pairs`."""
    return (packed >> np.uint64(32)).astype(np.uint32), packed.astype(np.uint32)
