"""What DuckDB reads: Parquet and JSON files."""

import copy
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from typing import Literal

import duckdb
import pyarrow as pa

from nearly.errors import UnreadableError
from nearly.sources import part
from nearly.sources.column import ID_NAMES
from nearly.sources.formats.database import Database
from nearly.sources.part import Cut, Part, Reject

__all__ = ["JsonPart", "ParquetPart", "first_lines"]

#: Types that DuckDB reads into the strings of JSON. They stay strings: a date or an
#: identifier that is read and written again would not be spelt as it was.
_SPELT = ("DATE", "TIME", "TIMESTAMP", "UUID", "JSON")

#: Types that cannot hold every number of a JSON file.
_ROUNDED = ("DOUBLE", "HUGEINT", "UHUGEINT")

#: How names end that DuckDB made up for columns that differ from others in case alone.
_NUMBERED = re.compile(r"_\d+$")

#: The column in which DuckDB gives the number of a row in its Parquet file.
_ROW_NUMBER = "file_row_number"


class _DuckPart(Part):
    """A file that DuckDB streams; several threads read it, so it may break off anywhere."""

    steady = False

    def __init__(self, database: Database, path: str, name: str) -> None:
        self.name = name
        self.path = os.path.abspath(path)
        self._database = database
        with self._translated():
            cursor = database.connection.cursor()
            self.schema = self._relation(cursor).limit(0).to_arrow_reader(1).schema
            #: The columns as DuckDB calls them.
            self._names: list[str] = self.schema.names

    @property
    def _plain_path(self) -> str:
        return self._database.plain_path(self.path)

    def _translated(self) -> "_Translated":
        return _Translated(self.name, self._plain_path)

    def _relation(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        raise NotImplementedError

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002 - bad records come as rows of nulls
    ) -> Iterator[pa.RecordBatch]:
        cursor = self._database.connection.cursor()
        try:
            with self._translated():
                relation = self._relation(cursor)
                names = self.schema.names
                present = [i for i, name in enumerate(names) if name in (columns or ())]
                chosen = present or range(len(names))
                relation = relation.select(
                    *(duckdb.ColumnExpression(self._names[i]) for i in chosen)
                )
                with relation.to_arrow_reader(part.BATCH_ROWS) as reader:
                    for batch in reader:
                        yield batch.rename_columns([names[i] for i in chosen])
        finally:
            cursor.close()


class ParquetPart(_DuckPart):
    """One Parquet file, or a range of its rows."""

    knows_length = True
    #: Where the range ends; it begins at `first`.
    _end: int | None = None

    def __init__(self, database: Database, path: str, name: str) -> None:
        super().__init__(database, path, name)
        if any(map(_NUMBERED.search, self._names)):
            names = self._names_in_file()
            fields = zip(self.schema, names, strict=True)
            self.schema = pa.schema(
                [field.with_name(own) for field, own in fields], self.schema.metadata
            )

    def _names_in_file(self) -> list[str]:
        """DuckDB calls `id` beside `ID` by another name, `id_1`."""
        with self._translated():
            cursor = self._database.connection.cursor()
            rows = iter(
                cursor.execute(
                    "SELECT name, num_children FROM parquet_schema(?)", [self._plain_path]
                ).fetchall()
            )
        _, count = next(rows)
        return [_next_column(rows) for _ in range(count or 0)]

    def _relation(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        if self._end is None:
            return cursor.read_parquet(self._plain_path, hive_partitioning=False)
        # DuckDB leaves out the row groups that lie outside of the range.
        return cursor.read_parquet(
            self._plain_path, hive_partitioning=False, file_row_number=True
        ).filter(f"{_ROW_NUMBER} >= {self.first} AND {_ROW_NUMBER} < {self._end}")

    def cut(self, size: int) -> list[Cut]:
        """Row groups together, or in pieces: each piece reads much of its group, and signs less."""
        runs: list[tuple[int, int]] = []
        for rows, length in self._row_groups():
            pieces = max(1, min(round(length / size), rows // part.BATCH_ROWS))
            for i in range(pieces):
                if not runs or pieces > 1 or runs[-1][1] + length / 2 > size:
                    runs.append((0, 0))
                some = rows * (i + 1) // pieces - rows * i // pieces
                runs[-1] = runs[-1][0] + some, runs[-1][1] + length // pieces
        if len(runs) < 2 or _ROW_NUMBER in map(str.lower, self.schema.names):
            return [Cut(self, sum(rows for rows, _ in runs), sum(length for _, length in runs))]
        starts = itertools.accumulate((rows for rows, _ in runs), initial=0)
        return [
            Cut(self._range(start, start + rows), rows, length)
            for start, (rows, length) in zip(starts, runs, strict=False)
        ]

    def _range(self, start: int, end: int) -> "ParquetPart":
        some = copy.copy(self)
        some.first, some._end = start, end
        return some

    def _row_groups(self) -> list[tuple[int, int]]:
        """The rows and the bytes of each."""
        with self._translated():
            cursor = self._database.connection.cursor()
            return cursor.execute(
                """SELECT any_value(row_group_num_rows), sum(total_compressed_size)::BIGINT
                FROM parquet_metadata(?) GROUP BY row_group_id ORDER BY row_group_id""",
                [self._plain_path],
            ).fetchall()


def _next_column(rows: Iterator[tuple[str, int | None]]) -> str:
    """The name of the next column, past all that is nested in it."""
    name, children = next(rows)
    for _ in range(children or 0):
        _next_column(rows)
    return name


class JsonPart(_DuckPart):
    """One JSON file: an array of objects, or an object a line, of which broken ones are null."""

    _columns: dict[str, str] | None = None

    def __init__(
        self,
        database: Database,
        path: str,
        name: str,
        *,
        lines: bool,
        id_column: str | None = None,
    ) -> None:
        self._id_column = id_column
        self._format: Literal["newline_delimited", "auto"] = (
            "newline_delimited" if lines else "auto"
        )
        self._lines = lines
        super().__init__(database, path, name)

    def _relation(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        if self._columns is None:
            self._columns = self._find_columns(cursor)
        return cursor.read_json(
            self._plain_path,
            columns=self._columns,
            format=self._format,
            ignore_errors=self._lines,
            hive_partitioning=False,
        )

    def _find_columns(self, cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """The columns of the whole file: one that only its last line has counts too."""
        relation = cursor.read_json(
            self._plain_path,
            sample_size=-1,
            format=self._format,
            ignore_errors=self._lines,
            hive_partitioning=False,
        )
        found = dict(zip(relation.columns, map(str, relation.types), strict=True))
        if found == {"json": "JSON"}:
            raise UnreadableError(
                f"{self.name} holds JSON that is no table. "
                'Each line, or each element of one array, must be an object {"text": "…"}.'
            )
        return {name: self._type_of(name, kind) for name, kind in found.items()}

    def _type_of(self, name: str, kind: str) -> str:
        """Ids are spelled as they stand: as doubles, long ones would become one and the same."""
        is_id = name == self._id_column or name.lower() in ID_NAMES
        spelt = (*_SPELT, *_ROUNDED) if is_id else _SPELT
        return "VARCHAR" if kind.startswith(spelt) else kind

    def why_null(self, row: int) -> str:
        return "null text, or not valid JSON" if self._lines else super().why_null(row)


class _Translated:
    """Turns the errors of DuckDB, and of Arrow reading from it, into one that names the file."""

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, duckdb.Error | pa.ArrowException | OSError):
            reason = first_lines(error).replace(self._path, self._name)
            if "maximum_object_size" in reason:
                reason += " Give so long a text a file of its own, or use Parquet."
            raise UnreadableError(f"{self._name} cannot be read. {reason}") from error


def first_lines(error: BaseException) -> str:
    """The part of DuckDB's message that speaks of the input."""
    return " ".join(line.strip() for line in str(error).splitlines()[:4] if line.strip())
