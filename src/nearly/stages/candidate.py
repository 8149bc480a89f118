"""From the keys of one band to candidates: two documents of a bucket whose sketches agree."""

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.number import Documents
from nearly.measures.pair import Packed
from nearly.tuning.banding import Banding

__all__ = ["EVERYONE", "HUBS", "Span", "candidates", "crowd", "unique"]

#: Documents from one number up to another, which is not among them.
Span = tuple[int, int]
EVERYONE: Span = (0, 2**32)

#: How many documents of a bucket the others are compared with when clusters are all that is
#: asked: work stays linear in the bucket, and smaller buckets lose nothing.
HUBS = 32


def candidates(
    keys: npt.NDArray[np.uint32],
    documents: Documents,
    sketches: npt.NDArray[np.uint64],
    banding: Banding,
    *,
    hubs: int,
    firsts: Span = EVERYONE,
) -> tuple[Packed, int]:
    """Packed pairs that met in a bucket and agree enough, and how many met at all.

    Sketches are looked up by document. `hubs` 0 compares all pairs of a bucket. The first document
    of each pair is one of `firsts`.
    """
    most_different = banding.permutations - banding.agreement
    bits = banding.hashing.bits
    return _kernels.band_candidates(keys, documents, sketches, bits, most_different, hubs, *firsts)


def crowd(keys: npt.NDArray[np.uint32], *, hubs: int) -> tuple[npt.NDArray[np.uint32], int]:
    """How many documents each would be compared with as the first of a pair, and how many lie in
    the largest bucket: what `candidates` will take, known from the keys alone."""
    return _kernels.crowd(keys, hubs)


def unique(pairs: Packed, low: int, high: int) -> Packed:
    """Each packed pair in [low, high) once, in order."""
    return _kernels.unique_pairs(pairs, low, high)
