"""CSV and TSV files: DuckDB reads those of which it loses nothing, and Python the others."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import duckdb
import pyarrow as pa

from nearly.errors import SourceError
from nearly.sources.cut_text import Gaps
from nearly.sources.formats.careful_csv import BadRow, CarefulCsv
from nearly.sources.formats.csv_value import cut_value
from nearly.sources.formats.database import Database
from nearly.sources.formats.encoding import bare_ending
from nearly.sources.formats.quick_csv import QuickCsv
from nearly.sources.part import Part, Reject
from nearly.sources.record import Original

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
        self._careful = CarefulCsv(database, self.path, name, delimiter=delimiter)
        self.schema = self._careful.schema
        if len(self.schema) > MOST_COLUMNS:
            raise SourceError(
                f"{name} has {len(self.schema):,} columns, and at most {MOST_COLUMNS:,} are read. "
                "Check its delimiter, or give the columns that matter as another file."
            )
        self._bad: dict[int, BadRow] = {}
        self._quick = QuickCsv(database, self.path, self.schema, delimiter=self._careful.delimiter)

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002 - bad records come as rows of nulls
    ) -> Iterator[pa.RecordBatch]:
        given = 0
        self._bad, self.broken = {}, ()
        if self._quick_is_faithful:
            try:
                for batch in self._quick.batches(columns):
                    yield batch
                    given += batch.num_rows
            except (duckdb.Error, pa.ArrowException, OSError):
                pass  # DuckDB may lack the memory that it had before
            else:
                return
        first = 0
        for batch, bad in self._careful.batches():
            self._bad = {first + i: row for i, row in bad.items()}
            self.broken = list(self._bad)
            if first + batch.num_rows > given:
                yield batch.slice(max(0, given - first))
            first += batch.num_rows

    def record(self, row: int) -> str:
        bad = self._bad.get(row)
        return super().record(row) if bad is None else f"{super().record(row)}, {bad.lines}"

    def why_null(self, row: int) -> str:
        bad = self._bad.get(row)
        return super().why_null(row) if bad is None else bad.reason

    def is_own_format(self, ending: str) -> bool:
        return ending == bare_ending(self.path)

    def original(self) -> Original:
        return self._careful.original()

    def cut_record(self, record: str, column: str, gaps: Gaps) -> str:
        index = self.schema.names.index(column)
        return cut_value(record, index, self._careful.delimiter, gaps)

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
