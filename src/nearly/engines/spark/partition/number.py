"""Documents of a cluster run by number: the block that holds one, and its row there.

Blocks lie in the order of the source, so the order of numbers is the order of documents.
"""

import numpy as np
import numpy.typing as npt

from nearly.arrays import by_target

__all__ = [
    "ROW_BITS",
    "Numbers",
    "Rows",
    "blocks_of",
    "by_target",
    "numbered",
    "places_of",
    "rows_of",
]

Numbers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint32]

ROW_BITS = 32


def numbered(block: int, rows: Rows) -> Numbers:
    """The numbers of some rows of a block."""
    return rows.astype(np.int64) | (block << ROW_BITS)


def blocks_of(numbers: Numbers) -> Numbers:
    """The block of each document."""
    return numbers >> ROW_BITS


def rows_of(numbers: Numbers) -> Rows:
    """The row of each document in its block."""
    return numbers.astype(np.uint32)


def places_of(numbers: Numbers, known: Numbers) -> npt.NDArray[np.uint32]:
    """Where each number stands among the known ones, which ascend and hold them all."""
    return np.searchsorted(known, numbers).astype(np.uint32)
