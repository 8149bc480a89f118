"""From packed rows that lie in partitions to frames that Spark knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from nearly.documents.packet import unpack

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["frame_of"]


def frame_of(session: SparkSession, packed: RDD[bytes], schema: pa.Schema) -> DataFrame:
    """A lazy frame of these columns; the order of partitions is the order of rows."""
    carried = session.createDataFrame(packed.map(_in_a_row), "packed binary")
    return carried.mapInArrow(partial(_unpack_all, schema), from_arrow_schema(schema))


def _in_a_row(packed: bytes) -> tuple[bytes]:
    return (packed,)


def _unpack_all(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for packed in batch.column("packed"):
            yield unpack(packed.as_buffer()).select(schema.names).cast(schema)
