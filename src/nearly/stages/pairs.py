"""Pairs of document numbers: packed in one word while they are candidates, columns later."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Documents", "Packed", "Pairs", "different", "join_pairs", "split_pairs"]

Documents = npt.NDArray[np.uint32]
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


def different(*columns: Documents) -> tuple[Documents, list[Documents]]:
    """The different documents of some columns, in ascending order, and each column as places in
    them. (As `np.unique`, without sorting.)"""
    filled = [column for column in columns if len(column)]
    if not filled:
        return np.empty(0, np.uint32), list(columns)
    lowest = min(int(column.min()) for column in filled)
    highest = max(int(column.max()) for column in filled)
    is_there = np.zeros(highest - lowest + 1, bool)
    for column in filled:
        is_there[column - lowest] = True
    documents = np.flatnonzero(is_there)
    place_of = np.empty(len(is_there), np.uint32)
    place_of[documents] = np.arange(len(documents), dtype=np.uint32)
    places = [place_of[column - lowest] if len(column) else column for column in columns]
    return (documents + lowest).astype(np.uint32), places
