"""From the keys of one band to candidates: two documents of a bucket whose sketches agree."""

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.side import Cuts
from nearly.measures.number import Documents
from nearly.measures.pair import Packed
from nearly.tuning.banding import Banding

__all__ = ["EVERYONE", "HUBS", "Span", "agreeing", "candidates", "crowd", "gathered", "unique"]

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
    cuts: Cuts | None = None,
) -> tuple[Packed, int]:
    """Packed pairs that met in a bucket and agree enough, and how many met at all.

    Sketches are looked up by document. `hubs` 0 compares all pairs of a bucket. The first document
    of each pair is one of `firsts`. With `cuts`, documents stand side by side, and those of one
    side only do not meet.
    """
    allowed = banding.hashing.bits, banding.sketched - banding.agreement, hubs
    if cuts is None:
        return _kernels.band_candidates(keys, documents, sketches, *allowed, *firsts)
    return _kernels.sided_candidates(keys, documents, sketches, *allowed, *cuts, *firsts)


def gathered(
    keys: npt.NDArray[np.uint32],
    documents: Documents,
    sketches: npt.NDArray[np.uint64],
    banding: Banding,
    *,
    hubs: int,
    most_meetings: int,
) -> tuple[Packed, int, int]:
    """Candidates, how many pairs met, and how many documents lie in the largest bucket.

    There are no candidates where more than `most_meetings` pairs meet: then nothing is compared.
    """
    most_different = banding.sketched - banding.agreement
    bits = banding.hashing.bits
    return _kernels.gather_band(
        keys, documents, sketches, bits, most_different, hubs, most_meetings
    )


def agreeing(
    pairs: Packed,
    firsts: Documents,
    seconds: Documents,
    sketches: npt.NDArray[np.uint64],
    banding: Banding,
) -> Packed:
    """Packed pairs that agree enough; their sketches stand in places `firsts` and `seconds`."""
    most_different = banding.sketched - banding.agreement
    bits = banding.hashing.bits
    return _kernels.agreeing(pairs, firsts, seconds, sketches, bits, most_different)


def crowd(
    keys: npt.NDArray[np.uint32], *, hubs: int, cuts: Cuts | None = None
) -> tuple[npt.NDArray[np.uint32], int]:
    """How many documents each would be compared with as the first of a pair, and how many lie in
    the largest bucket: what `candidates` will take, known from the keys alone."""
    return _kernels.crowd(keys, hubs) if cuts is None else _kernels.sided_crowd(keys, hubs, *cuts)


def unique(pairs: Packed, low: int, high: int) -> Packed:
    """Each packed pair in [low, high) once, in order."""
    return _kernels.unique_pairs(pairs, low, high)
