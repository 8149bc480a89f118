"""Postings: which contents have a member. For measures whose documents are looked for in others.

Two sets of very different sizes share a bucket rarely, however much of the smaller one is in the
larger one. So where containment is asked, a segment keeps every member of every set: 32 bits of its
hash and whose it is, in order. What a question shares with each content is counted; no pair is
missed, and all are verified, since hashes of 32 bits may collide.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.index.content import Keeping
from nearly.measures.base import Measure

__all__ = ["RANGES", "Poster", "Postings", "key_ranges", "overlaps"]

U32 = npt.NDArray[np.uint32]
#: Keys in order, and whose they are, in parts; read as often as they are asked for.
Postings = Callable[[], Iterable[tuple[U32, U32]]]

#: Ranges of keys that are merged one after the other.
RANGES: Final = 64
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


class Poster:
    """How contents that are kept become postings."""

    def __init__(self, measure: Measure, keeping: Keeping, seed: int) -> None:
        self._measure, self._keeping, self._seed = measure, keeping, np.uint64(seed)

    def postings(self, kept: pa.Array, numbers: npt.NDArray[Any]) -> Postings:
        """Of some contents, which have these numbers."""
        offsets, hashes = self._keeping.sets(self._measure, kept)
        owners = np.repeat(numbers.astype(np.uint32), np.diff(offsets))
        # In the order of the owners first, since the sort by keys keeps it.
        owners, keys = _kernels.sort_band(owners, self.keys(hashes))
        in_order = _kernels.sort_band(keys, owners)
        return lambda: [in_order]

    def questions(self, contents: pa.Array) -> Sequence[U32]:
        """The keys of each content that is asked."""
        kept = self._keeping.kept(self._measure, contents)
        offsets, hashes = self._keeping.sets(self._measure, kept)
        return np.split(self.keys(hashes), offsets[1:-1])

    def keys(self, hashes: npt.NDArray[np.uint64]) -> U32:
        """32 bits of each hash, which depend on the seed."""
        mixed = (hashes ^ self._seed) * _ODD
        return ((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(32)).astype(np.uint32)


def key_ranges(keys: U32) -> Iterator[slice]:
    """Where the keys of each range stand, of keys in order."""
    borders = np.arange(1, RANGES, dtype=np.uint64) * np.uint64(2**32 // RANGES)
    cuts = [0, *np.searchsorted(keys, borders.astype(np.uint32)).tolist(), len(keys)]
    return (slice(cuts[i], cuts[i + 1]) for i in range(RANGES))


def overlaps(keys: U32, owners: U32, asked: U32, contents: int) -> tuple[U32, U32]:
    """Contents that share keys with a question, and how many: at least as many as members."""
    starts = np.searchsorted(keys, asked)
    counts = np.searchsorted(keys, asked, side="right") - starts
    firsts = np.repeat(starts - np.cumsum(counts) + counts, counts)
    shared = np.bincount(owners[firsts + np.arange(len(firsts))], minlength=contents)
    found = np.flatnonzero(shared)
    return found.astype(np.uint32), shared[found].astype(np.uint32)
