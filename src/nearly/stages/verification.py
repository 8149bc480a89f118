"""From candidates to pairs: compared exactly, block by block."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.measures.base import Measure
from nearly.measures.number import Documents, different
from nearly.measures.pair import Nearness

__all__ = ["Places", "cut", "verify_block"]

#: Bytes of contents in a block; what is compared may be eight times as large.
BLOCK_BYTES = 2**19
#: Partners per document from which on the order of pairs decides how often contents are read.
CROWD = 16

Places = slice | npt.NDArray[np.int64]


def cut(first: Documents, second: Documents, lengths: npt.NDArray[np.int64]) -> list[Places]:
    """Places of pairs whose documents have contents that can be held; `lengths` are their bytes."""
    order = _in_tiles(first, second, lengths)
    if order is not None:
        first, second = first[order], second[order]
    ends = _kernels.cut_blocks(first, second, lengths, BLOCK_BYTES)
    slices = [slice(start, stop) for start, stop in itertools.pairwise([0, *ends.tolist()])]
    return [part if order is None else order[part] for part in slices]


def _in_tiles(
    first: Documents, second: Documents, lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """An order in which pairs of the same few documents stand together; None for their own.

    In their own order, a document with thousands of partners fills a block by itself, and all of
    them are read again for the next document.
    """
    runs = np.count_nonzero(np.diff(first)) + 1
    if len(first) < CROWD * runs:
        return None
    tiles = (np.cumsum(lengths) // max(1, BLOCK_BYTES // 2)).astype(np.uint32)
    return np.lexsort((tiles[second], tiles[first]))


def verify_block(
    measure: Measure,
    read: Callable[[Documents], pa.Array],
    first: Documents,
    second: Documents,
    threshold: Fraction | None,
) -> Nearness:
    """Exact nearness of pairs, NaN below the threshold; each document is read once."""
    documents, (a, b) = different(first, second)
    return measure.compare(read(documents), a, b, threshold)
