"""Arrow batches as bytes, to be sent or put aside: what lies outside a slice stays behind."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.ipc as ipc

__all__ = ["no_rows", "pack", "together", "unpack"]


def pack(batch: pa.RecordBatch) -> bytes:
    """One batch, its schema included."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: bytes) -> pa.RecordBatch:
    """The inverse of `pack`."""
    with ipc.open_stream(packed) as reader:
        return reader.read_next_batch()


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A batch of these columns; `from_pylist` would import pandas wherever that is installed."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def together(batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of one schema, of which there is at least one, as a single one."""
    return pa.concat_batches(list(batches))
