"""What DuckDB reads: Parquet and JSON files, and SQL queries."""

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa

from nearly.errors import SourceError, UnreadableError
from nearly.limits import available_memory
from nearly.sources import part
from nearly.sources.arrow import ArrowFilePart, spool
from nearly.sources.part import Part, Reject

__all__ = ["JsonPart", "ParquetPart", "connect", "plain_path", "run_query"]

#: Types that DuckDB reads into the strings of JSON. They stay strings: a date or an
#: identifier that is read and written again would not be spelt as it was.
_SPELT = ("DATE", "TIME", "TIMESTAMP", "UUID", "JSON")


def connect(
    temporary: Path, threads: int | None, most_memory: int = 2**30
) -> duckdb.DuckDBPyConnection:
    """A database in memory that fetches nothing, and spills below `temporary`."""
    memory = min(most_memory, available_memory() // 4)
    config: dict[str, Any] = {
        "arrow_large_buffer_size": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": f"{memory}B",
        "python_enable_replacements": False,
        "temp_directory": str(temporary / "duckdb"),
    }
    if threads is not None:
        config["threads"] = threads
    return duckdb.connect(config=config)


class _DuckPart(Part):
    """A file that DuckDB streams; several threads read it, so it may break off anywhere."""

    steady = False

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: str, name: str, temporary: Path
    ) -> None:
        self.name = name
        self._connection = connection
        self._path = plain_path(path, temporary)
        with _Translated(self.name, self._path):
            self.schema = self._relation(connection.cursor()).limit(0).to_arrow_reader(1).schema

    def _relation(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        raise NotImplementedError

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002 - bad records come as rows of nulls
    ) -> Iterator[pa.RecordBatch]:
        cursor = self._connection.cursor()
        try:
            with _Translated(self.name, self._path):
                relation = self._relation(cursor)
                present = [c for c in columns or () if c in self.schema.names]
                if present:
                    relation = relation.select(*map(duckdb.ColumnExpression, present))
                with relation.to_arrow_reader(part.BATCH_ROWS) as reader:
                    yield from reader
        finally:
            cursor.close()


class ParquetPart(_DuckPart):
    """One Parquet file."""

    def _relation(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        return cursor.read_parquet(self._path, hive_partitioning=False)


class JsonPart(_DuckPart):
    """One JSON file: an array of objects, or an object a line, of which broken ones are null."""

    _columns: dict[str, str] | None = None

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: str,
        name: str,
        temporary: Path,
        *,
        lines: bool,
    ) -> None:
        self._format: Literal["newline_delimited", "auto"] = (
            "newline_delimited" if lines else "auto"
        )
        self._lines = lines
        super().__init__(connection, path, name, temporary)

    def _relation(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        if self._columns is None:
            self._columns = self._find_columns(cursor)
        return cursor.read_json(
            self._path,
            columns=self._columns,
            format=self._format,
            ignore_errors=self._lines,
            hive_partitioning=False,
        )

    def _find_columns(self, cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """The columns of the whole file: one that only its last line has counts too."""
        relation = cursor.read_json(
            self._path,
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
        return {n: "VARCHAR" if kind.startswith(_SPELT) else kind for n, kind in found.items()}

    def why_null(self, row: int) -> str:
        return "null text, or not valid JSON" if self._lines else super().why_null(row)


def run_query(connection: duckdb.DuckDBPyConnection, query: str, temporary: Path) -> ArrowFilePart:
    """The result of a query, written down once: asked again, it might come in another order."""
    _check_one_select(connection, query)
    cursor = connection.cursor()
    try:
        with cursor.sql(query).to_arrow_reader(part.BATCH_ROWS) as reader:
            return spool(reader, "the query", temporary)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise SourceError(f"the query failed. {_first_lines(error)}") from error
    finally:
        cursor.close()


def _check_one_select(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:
        raise SourceError(f"the query is not valid SQL. {_first_lines(error)}") from error
    kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        given = ", ".join(kind.name for kind in kinds)
        raise SourceError(f"the query is {given}; give exactly one SELECT, which changes nothing.")


class _Translated:
    """Turns the errors of DuckDB, and of Arrow reading from it, into one that names the file."""

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, duckdb.Error | pa.ArrowException | OSError):
            reason = _first_lines(error).replace(self._path, self._name)
            if "maximum_object_size" in reason:
                reason += " Give so long a text a file of its own, or use Parquet."
            raise UnreadableError(f"{self._name} cannot be read. {reason}") from error


def _first_lines(error: BaseException) -> str:
    """The part of DuckDB's message that speaks of the input."""
    return " ".join(line.strip() for line in str(error).splitlines()[:4] if line.strip())


def plain_path(path: str, temporary: Path) -> str:
    """A path that DuckDB takes literally: no wildcards, no bytes that are not UTF-8."""
    full = os.path.abspath(path)
    if not glob.has_magic(full) and full.isprintable():
        return full
    # DuckDB looks at the ending to see how a file is compressed.
    ending = next((e for e in (".gz", ".zst") if path.lower().endswith(e)), "")
    link = os.path.join(tempfile.mkdtemp(dir=temporary), f"link{ending}")
    os.symlink(full, link)
    return link
