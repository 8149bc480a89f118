"""Where a document stands: a file, and a row of it. An id is a label, which others may share."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, string_array
from nearly.schemas import PLACES_OF

__all__ = ["Place", "Places", "Stretch", "has_places", "keys", "located", "place_list"]

#: Stands between a file and a row, as in ids of rows; a row is digits only.
_SEPARATOR = ":"


class Place(NamedTuple):
    """A row of a file; of what is no file, a row of all that was given."""

    file: str | None
    row: int

    def __str__(self) -> str:
        return f"row {self.row}" if self.file is None else f"row {self.row} of {self.file}"


class Places(NamedTuple):
    """Files and rows of some documents, in their order."""

    files: pa.Array
    rows: pa.Array

    def keys(self) -> pa.Array:
        """Strings that differ wherever places do."""
        import pyarrow.compute as pc

        files = pc.fill_null(self.files, "")
        return pc.binary_join_element_wise(files, self.rows.cast(pa.string()), _SEPARATOR)

    def to_list(self) -> list[Place]:
        """One by one."""
        return list(map(Place, self.files.to_pylist(), self.rows.to_pylist()))

    def take(self, chosen: npt.NDArray[np.integer]) -> "Places":
        """Those at these positions."""
        return Places(*(column.take(column_of(chosen)) for column in self))


class Stretch(NamedTuple):
    """Rows of one file that were read one after the other, and the number of the first of them."""

    file: str | None
    first: int
    rows: int


def located(stretches: Sequence[Stretch], rows: npt.NDArray[np.integer]) -> Places:
    """Where rows stand that are counted through some stretches."""
    starts = np.cumsum([0, *(stretch.rows for stretch in stretches[:-1])])
    which = np.searchsorted(starts, rows, "right") - 1
    firsts = np.array([stretch.first for stretch in stretches], np.int64)
    files = string_array([stretch.file for stretch in stretches], pa.string())
    numbers = rows.astype(np.int64) - starts[which] + firsts[which]
    return Places(files.take(column_of(which)), column_of(numbers))


def keys(table: pa.Table, column: str) -> pa.ChunkedArray:
    """What tells documents apart that a column of ids names: the ids, or places where they repeat.

    A table has columns of places only where ids repeat.
    """
    places = _places(table, column)
    return table[column] if places is None else pa.chunked_array([places.keys()])


def has_places(table: pa.Table) -> bool:
    """Whether all ids of a table have their places beside them."""
    ids = [column for column in PLACES_OF if column in table.column_names]
    return all(set(PLACES_OF[column]) <= set(table.column_names) for column in ids)


def place_list(table: pa.Table, column: str) -> list[Place] | None:
    """The places that stand beside a column of ids; None where there are none."""
    places = _places(table, column)
    return None if places is None else places.to_list()


def _places(table: pa.Table, column: str) -> Places | None:
    names = PLACES_OF[column]
    if not set(names) <= set(table.column_names):
        return None
    files, rows = (table[name].combine_chunks() for name in names)
    return Places(files.cast(pa.string()), rows.cast(pa.int64()))
