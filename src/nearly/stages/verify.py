"""From candidates to pairs: exact Jaccard similarity on whole sets of shingles.

A threshold is compared as a ratio of whole numbers, so that a pair that lies on it exactly is
never lost to rounding.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.settings import Settings
from nearly.stages.normalise import normalise

__all__ = ["ShingleSets", "exact_ratio", "shingle_sets", "similarities"]

#: Where each document's hashes begin, and the hashes, each once.
ShingleSets = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]


def exact_ratio(threshold: float) -> Fraction:
    """The number that was written, not the binary fraction nearest to it: 0.8 is 4/5."""
    return Fraction(repr(float(threshold)))


def shingle_sets(
    texts: pa.LargeStringArray, settings: Settings, *, in_order: bool = False
) -> ShingleSets:
    """Each document's set of shingles, as hashes, sorted where that is asked for."""
    return _kernels.shingle_sets(
        *spans(normalise(texts, settings.text)),
        unit=settings.text.unit,
        k=settings.text.whole_k,
        seed=settings.seed,
        in_order=in_order,
    )


def similarities(
    sets: ShingleSets,
    first: npt.NDArray[np.uint32],
    second: npt.NDArray[np.uint32],
    threshold: Fraction,
) -> npt.NDArray[np.float64]:
    """Exact similarities of pairs of sets; negative where the threshold is not reached."""
    offsets, hashes = sets
    return _kernels.similarities(
        offsets, hashes, first, second, threshold.numerator, threshold.denominator
    )
