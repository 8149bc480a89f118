"""Where things go: hashes of document numbers, the same in every process."""

import numpy as np
import numpy.typing as npt

from nearly.engines.spark.partition.number import Numbers

__all__ = ["Hashes", "place_of", "scattered"]

Hashes = npt.NDArray[np.uint64]

_ONE, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def scattered(documents: Numbers, others: Numbers | None = None) -> Hashes:
    """A hash of each document, or of each pair."""
    mixed = documents.astype(np.uint64) * _ONE
    if others is not None:
        mixed = (mixed ^ mixed >> np.uint64(32)) + others.astype(np.uint64) * _OTHER
    return (mixed ^ mixed >> np.uint64(29)) * _OTHER


def place_of(hashes: Hashes, partitions: int) -> Hashes:
    """The partition of each, by the upper bits, which are the better ones."""
    return (hashes >> np.uint64(32)) % np.uint64(partitions)
