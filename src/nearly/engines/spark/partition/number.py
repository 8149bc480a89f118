"""Documents of a cluster run by number: the block that holds one, and its row there.

Blocks lie in the order of the source, so the order of numbers is the order of documents.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Numbers", "Rows", "blocks_of", "by_target", "numbered", "places_of", "rows_of"]

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


def by_target(
    targets: npt.NDArray[Any], *columns: npt.NDArray[Any]
) -> Iterator[tuple[int, list[npt.NDArray[Any]]]]:
    """The rows of some columns target by target, in the order in which they come."""
    if len(targets) == 0:
        return
    lowest = targets.min()
    near = targets - lowest  # Numbers of 16 bits are sorted by their digits.
    order = np.argsort(near.astype(np.uint16) if near.max() < 2**16 else near, kind="stable")
    ordered = targets[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(ordered))
    sorted_columns = [column[order] for column in columns]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(ordered[start]), [column[start:end] for column in sorted_columns]
