"""Batches → the groups of rows that a format writes, in types that every format can hold.

The same rows give the same groups, however they were cut into batches. Dictionary columns
become their values.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa

__all__ = ["Batches", "WriteGroup", "in_groups", "plain_schema"]

Batches: TypeAlias = Iterable[pa.RecordBatch] | pa.Table
WriteGroup: TypeAlias = Callable[[pa.Table], object]

#: Rows are written in groups of at most this many rows, and about this many bytes.
GROUP_ROWS = 120 * 1024
GROUP_BYTES = 64 * 2**20
#: A group is made of units of this many rows, so that the batches' own cuts leave no trace.
UNIT_ROWS = 1024


def in_groups(batches: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows in groups whose cuts depend on the rows alone."""
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for unit in _units(batches.to_batches() if isinstance(batches, pa.Table) else batches):
        group.append(unit)
        rows += unit.num_rows
        size += unit.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield _table(group, schema)
            group, rows, size = [], 0, 0
    if group:
        yield _table(group, schema)


def _table(group: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    table = pa.Table.from_batches(group)
    # To cast imports `pyarrow.compute`, which takes half as long as NumPy.
    return table if table.schema.equals(schema, check_metadata=True) else table.cast(schema)


def _units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    pieces: list[pa.RecordBatch] = []
    missing = UNIT_ROWS
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, missing)
            pieces.append(piece)
            start += piece.num_rows
            missing -= piece.num_rows
            if not missing:
                yield pa.concat_batches(pieces)
                pieces, missing = [], UNIT_ROWS
    if pieces:
        yield pa.concat_batches(pieces)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema in types that every format can hold."""
    return pa.schema([f.with_type(_plain_type(f.type)) for f in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_float16(kind):
        return pa.float32()
    return kind
