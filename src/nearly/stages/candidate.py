"""From the keys of one band to candidates: two documents of a bucket whose sketches agree."""

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.number import Documents
from nearly.measures.pair import Packed
from nearly.tuning.banding import Banding

__all__ = ["HUBS", "candidates", "unique"]

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
) -> tuple[Packed, int]:
    """Packed pairs that met in a bucket and agree enough, and how many met at all.

    Sketches are looked up by document. `hubs` 0 compares all pairs of a bucket.
    """
    most_different = banding.permutations - banding.agreement
    bits = banding.hashing.bits
    return _kernels.band_candidates(keys, documents, sketches, bits, most_different, hubs)


def unique(pairs: Packed, low: int, high: int) -> Packed:
    """Each packed pair in [low, high) once, in order."""
    return _kernels.unique_pairs(pairs, low, high)
