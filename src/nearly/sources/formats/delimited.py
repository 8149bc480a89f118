"""CSV and TSV files: DuckDB reads those of which it loses nothing, and Python the others."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import duckdb
import pyarrow as pa

from nearly.errors import SourceError
from nearly.sources.formats.careful_csv import CarefulCsv
from nearly.sources.formats.database import Database
from nearly.sources.formats.quick_csv import QuickCsv
from nearly.sources.part import Part, Reject

__all__ = ["DelimitedPart"]

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")

#: No table that was meant to be one has more.
MOST_COLUMNS = 10_000


class DelimitedPart(Part):
    """One CSV or TSV file; the same rows come from either reader."""

    def __init__(
        self, database: Database, path: str, name: str, *, delimiter: str | None = None
    ) -> None:
        self.name = name
        self.path = os.path.abspath(path)
        self._careful = CarefulCsv(self.path, name, delimiter=delimiter)
        self.schema = self._careful.schema
        if len(self.schema) > MOST_COLUMNS:
            raise SourceError(
                f"{name} has {len(self.schema):,} columns, and at most {MOST_COLUMNS:,} are read. "
                "Check its delimiter, or give the columns that matter as another file."
            )
        self._quick = QuickCsv(database, self.path, self.schema, delimiter=self._careful.delimiter)

    def batches(self, columns: Sequence[str] | None, reject: Reject) -> Iterator[pa.RecordBatch]:
        given = 0
        if self._quick_is_faithful:
            try:
                for batch in self._quick.batches(columns):
                    yield batch
                    given += batch.num_rows
            except (duckdb.Error, pa.ArrowException, OSError):
                pass  # DuckDB may lack the memory that it had before
            else:
                return
        yield from _without_first(given, self._careful.batches(reject))

    @cached_property
    def _quick_is_faithful(self) -> bool:
        return self._quick.is_faithful()

    def some_values(self, column: str) -> list[Any]:
        index = self.schema.names.index(column)
        return [row[index] or None for row in self._careful.sample]

    def number_type(self, column: str) -> pa.DataType | None:
        index = self.schema.names.index(column)
        values = [row[index] for row in self._careful.sample if row[index]]
        if values and all(map(_WHOLE.fullmatch, values)):
            return pa.int64()
        if values and all(map(_NUMBER.fullmatch, values)):
            # Digits that are no canonical whole number, such as 007, are names and not amounts.
            return pa.float64() if any(re.search("[.eE]", v) for v in values) else None
        return None


def _without_first(count: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows after the first `count`."""
    for batch in batches:
        if count < batch.num_rows:
            yield batch.slice(count)
        count = max(0, count - batch.num_rows)
