"""Pairs of document numbers: packed in one word while they are candidates, columns later."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nearly.documents.number import Documents

__all__ = ["Packed", "Pairs", "join_pairs", "split_pairs"]

Packed = npt.NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Verified pairs, ordered; `first` is the lower document."""

    first: Documents
    second: Documents
    similarity: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)


def join_pairs(first: Documents, second: Documents) -> Packed:
    """Two columns as one: the lower document in the upper half, so that order is order."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    return low.astype(np.uint64) << np.uint64(32) | high


def split_pairs(packed: Packed) -> tuple[Documents, Documents]:
    """The inverse of `join_pairs`."""
    return (packed >> np.uint64(32)).astype(np.uint32), packed.astype(np.uint32)
