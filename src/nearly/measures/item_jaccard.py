"""Jaccard similarity of sets as they are given: baskets, tags, customers and what they bought.

A document's contents are the hashes of its items, eight bytes each, in order and with repeats
(`sources/item.py` makes them). Equal items have equal hashes; docs/signatures.md states them.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.measures.set_measure import SetMeasure, Sets
from nearly.settings import Scheme, Settings
from nearly.tuning.hashing import MINHASH, Hashing, background

__all__ = ["ItemJaccard"]

#: Bytes of an item's hash.
WIDTH: Final = 8
#: Hashes that are looked at together.
AT_ONCE: Final = 2**20

#: Strangers share a few items that everybody has.
HASHING: Final = replace(MINHASH, pairs=background(0.05, 2e-4))


@dataclass(frozen=True, kw_only=True)
class ItemJaccard(SetMeasure):
    """Sets of items, or bags in which it counts how often an item occurs."""

    name: ClassVar[str] = "jaccard"

    seed: int
    scheme: Scheme
    bag: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As settings say."""
        return cls(seed=settings.seed, scheme=settings.scheme, bag=settings.bag)

    @property
    def hashing(self) -> Hashing:
        """Two sets have the same minhash with a chance that is their similarity."""
        return HASHING

    @property
    def compared(self) -> str:
        """Sets or bags."""
        return "bags of items" if self.bag else "sets of items"

    @property
    def most_to_join(self) -> int:
        """Half a million items are joined in a few hundredths of a second."""
        return 2**22

    def sets(self, contents: pa.LargeBinaryArray, *, in_order: bool = False) -> Sets:  # noqa: ARG002
        """The hashes as they lie in memory where no list has an item twice."""
        offsets, hashes = lists_of(contents)
        if not _has_repeats(offsets, hashes):
            return offsets, hashes
        return _kernels.sets_of_lists(offsets, hashes, self.bag)


def lists_of(contents: pa.LargeBinaryArray) -> Sets:
    """Where each list begins, and the hashes of all, in order in each."""
    offsets, data = spans(contents)
    hashes = data[offsets[0] : offsets[-1]].view(np.uint64)
    if not hashes.flags.aligned:
        hashes = hashes.copy()
    return (offsets - offsets[0]) // WIDTH, hashes


def _has_repeats(offsets: npt.NDArray[np.int64], hashes: npt.NDArray[np.uint64]) -> bool:
    """Whether any list has a hash twice, one after the other; some are looked at together."""
    for start in range(0, len(hashes) - 1, AT_ONCE):
        some = hashes[start : start + AT_ONCE + 1]
        same = some[1:] == some[:-1]
        first, last = np.searchsorted(offsets, [start + 1, start + len(some)])
        same[offsets[first:last] - start - 1] = False
        if same.any():
            return True
    return False
