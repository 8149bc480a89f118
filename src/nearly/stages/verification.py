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

__all__ = ["COMPARED", "Places", "are_together", "cut", "verify_block"]

#: Bytes of contents in a block, unless documents are long.
BLOCK_BYTES = 2**19
#: Documents in a block, at least, where memory allows it: each is read once for all of them.
DOCUMENTS = 32
#: Pairs in a block whose documents are all documents there are.
PAIRS = 2**19
#: Bytes that are held to compare, by byte of contents: these, normalised, and sets of hashes.
COMPARED = 10
#: Partners per document from which on the order of pairs decides how often contents are read.
CROWD = 16

Places = slice | npt.NDArray[np.int64]


def cut(
    first: Documents,
    second: Documents,
    lengths: npt.NDArray[np.int64],
    most: int = 0,
    together: int = 0,
) -> list[Places]:
    """Places of pairs whose documents have contents that can be held; `lengths` are their bytes.

    Blocks of long documents, and of those that are best compared `together`, may have up to `most`
    bytes; one of two documents any number.
    """
    if are_together(lengths, most, together):
        return [slice(start, start + PAIRS) for start in range(0, len(first), PAIRS)]
    longest = max(int(lengths[ends].max(initial=0)) for ends in (first, second))
    size = max(BLOCK_BYTES, min(most, max(together, DOCUMENTS * longest)))
    order = _in_tiles(first, second, lengths, size // 2)
    if order is not None:
        first, second = first[order], second[order]
    ends = _kernels.cut_blocks(first, second, lengths, size)
    slices = [slice(start, stop) for start, stop in itertools.pairwise([0, *ends.tolist()])]
    return [part if order is None else order[part] for part in slices]


def are_together(lengths: npt.NDArray[np.int64], most: int, together: int) -> bool:
    """Whether the contents of all documents are best held and compared together."""
    return together > 0 and int(lengths.sum()) <= max(BLOCK_BYTES, min(most, together))


def _in_tiles(
    first: Documents, second: Documents, lengths: npt.NDArray[np.int64], size: int
) -> npt.NDArray[np.int64] | None:
    """An order in which pairs of the same few documents stand together; None for their own.

    A tile has about `size` bytes of contents.

    In their own order, a document with thousands of partners fills a block by itself, and all of
    them are read again for the next document.
    """
    runs = np.count_nonzero(np.diff(first)) + 1
    if len(first) < CROWD * runs:
        return None
    tiles = np.cumsum(lengths) // max(1, size)
    mine = tiles[first]
    keys = (mine - mine.min()) * (tiles[-1] + 1) + tiles[second]
    # Few keys are sorted by counting.
    return np.argsort(keys.astype(np.uint16) if keys.max() < 2**16 else keys, kind="stable")


def verify_block(
    measure: Measure,
    read: Callable[[Documents], pa.Array],
    first: Documents,
    second: Documents,
    threshold: Fraction | None,
) -> Nearness:
    """Exact nearness of pairs, NaN below the threshold; each document is read once."""
    documents, (a, b) = different(first, second)
    return measure.compare_read(read, documents, a, b, threshold)
