"""Spark's own tables: what a session reads by a path with a scheme, and the columns of a frame."""

import os
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import size
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType

from nearly.engines.spark.session.failure import translated

__all__ = ["arrow_schema", "first_value", "read_frame"]

_JSON: Final = {"multiLine": True}
#: By the ending of a name: the format that Spark reads, and how.
_FORMATS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    ".parquet": ("parquet", {}),
    ".orc": ("orc", {}),
    ".json": ("json", _JSON),
    ".jsonl": ("json", {}),
    ".ndjson": ("json", {}),
    ".csv": ("csv", {"header": True, "multiLine": True, "escape": '"'}),
    ".tsv": ("csv", {"header": True, "multiLine": True, "escape": '"', "sep": "\t"}),
}


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """The columns of a frame as Arrow has them."""
    with translated():
        schema: pa.Schema = to_arrow_schema(frame.schema)
    return schema


def first_value(frame: DataFrame, column: str) -> Any:
    """Some value of a column that is not null and no empty list; None where there is none, or no
    such column."""
    if column not in frame.columns:
        return None
    values = frame[f"`{column}`"]
    with translated():
        filled = frame.select(values).dropna()
        if isinstance(frame.schema[column].dataType, ArrayType):
            filled = filled.where(size(values) > 0)
        found = filled.head(1)
    return found[0][0] if found else None


def read_frame(session: SparkSession, path: str) -> DataFrame:
    """A table that Spark reads itself, from s3a://, hdfs:// and the like; wildcards are allowed."""
    root, ending = os.path.splitext(path.rstrip("/").lower())
    if ending in (".gz", ".zst", ".bz2"):
        ending = os.path.splitext(root)[1]
    form, options = _FORMATS.get(ending, _FORMATS[".parquet"])
    with translated():
        return session.read.options(**options).format(form).load(path)
