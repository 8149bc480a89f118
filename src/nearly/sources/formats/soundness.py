"""Arrow data that nobody vouches for: checked in full before anything reads it.

A length or an offset that is wrong would be followed wherever it points.
"""

from collections.abc import Sequence

import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans, widened
from nearly.errors import UnreadableError

__all__ = ["NOT_UTF_8", "check_names", "checked", "validate"]

NOT_UTF_8 = "not valid UTF-8"

_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def check_names(schema: pa.Schema, name: str) -> None:
    """Refuse columns, at any depth, whose names cannot be shown."""
    try:
        for field in schema:
            _read_names(field)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"{name} has a column whose name is not valid UTF-8 ({error.object!r}). "
            "Write the table again."
        ) from error


def _read_names(field: pa.Field) -> None:
    _ = field.name
    for i in range(field.type.num_fields if pa.types.is_nested(field.type) else 0):
        _read_names(field.type.field(i))


def validate(batch: pa.RecordBatch) -> None:
    """Refuse what Arrow refuses, of a batch that Arrow made: it takes any bytes for text.

    Our look at strings takes a tenth of the time of Arrow's, which is asked where that finds fault.
    """
    for column in batch.columns:
        if not _is_well(column):
            column.validate(full=True)


def _is_well(column: pa.Array) -> bool:
    if column.type not in (pa.string(), pa.large_string()):
        return False
    return _kernels.are_utf8(*spans(widened(column) if column.type == pa.string() else column))


def checked(
    batch: pa.RecordBatch, columns: Sequence[str] | None, name: str
) -> tuple[pa.RecordBatch, list[int]]:
    """A batch that can be read, and the rows where a string of these columns is not UTF-8.

    Such a string becomes null. Without columns, whole rows are wanted, and stay as they are.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowException:
        return _repaired(batch, columns, name)
    return batch, []


def _repaired(
    batch: pa.RecordBatch, columns: Sequence[str] | None, name: str
) -> tuple[pa.RecordBatch, list[int]]:
    arrays, rows = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            data = _bytes_of(column, field.name, name, error)
            if field.name in (columns or ()):
                column, bad = _without_bad_strings(data, column.type)
                rows += bad
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema), rows


def _bytes_of(column: pa.Array, field: str, name: str, error: pa.ArrowException) -> pa.Array:
    """The bytes of strings, if nothing but the strings themselves can be wrong."""
    try:
        if column.type in _BYTES:
            data = column.view(_BYTES[column.type])
            data.validate(full=True)
            return data
    except pa.ArrowException as worse:
        error = worse
    raise UnreadableError(
        f"column {field!r} of {name} is broken: {error}. Write the table again."
    ) from error


def _without_bad_strings(data: pa.Array, kind: pa.DataType) -> tuple[pa.Array, list[int]]:
    values = data.to_pylist()
    rows = [i for i, value in enumerate(values) if value is not None and not _is_utf_8(value)]
    for i in rows:
        values[i] = None
    return pa.array(values, data.type).view(kind), rows


def _is_utf_8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
