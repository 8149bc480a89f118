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

__all__ = ["cut", "verify_block"]

#: Bytes of contents in a block; what is compared may be eight times as large.
BLOCK_BYTES = 2**19


def cut(first: Documents, second: Documents, lengths: npt.NDArray[np.int64]) -> list[slice]:
    """Runs of pairs whose documents have contents that can be held; `lengths` are their bytes."""
    ends = _kernels.cut_blocks(first, second, lengths, BLOCK_BYTES)
    return [slice(start, stop) for start, stop in itertools.pairwise([0, *ends.tolist()])]


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
