"""From candidates to pairs: exact Jaccard similarity on whole sets of shingles.

A threshold is compared as a ratio of whole numbers, so that a pair that lies on it exactly is
never lost to rounding.
"""

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.documents.number import Documents
from nearly.settings import Settings
from nearly.stages.normalisation import normalise

__all__ = ["ShingleSets", "cut", "exact_ratio", "shingle_sets", "verify"]

#: Bytes of text in a block; its shingle sets are eight times as large.
BLOCK_TEXT = 2**19

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


def verify(
    texts: pa.LargeStringArray,
    first: Documents,
    second: Documents,
    settings: Settings,
    threshold: Fraction,
) -> npt.NDArray[np.float64]:
    """Exact similarities of pairs, given by their places among the texts.

    Negative where the threshold is not reached. Each text's set is made once.
    """
    offsets, hashes = shingle_sets(texts, settings)
    return _kernels.similarities(
        offsets, hashes, first, second, threshold.numerator, threshold.denominator
    )


def cut(first: Documents, second: Documents, lengths: npt.NDArray[np.int64]) -> list[slice]:
    """Runs of pairs whose documents have so much text that their sets can be held.

    `lengths` are the bytes of each document's text.
    """
    ends = _kernels.cut_blocks(first, second, lengths, BLOCK_TEXT)
    return [slice(start, stop) for start, stop in itertools.pairwise([0, *ends.tolist()])]
