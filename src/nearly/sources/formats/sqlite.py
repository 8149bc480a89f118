"""Tables of SQLite databases, read and never written, by the standard library."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sources import part
from nearly.sources.formats.encoding import without_surrogates
from nearly.sources.formats.soundness import NOT_UTF_8
from nearly.sources.part import Part, Reject

__all__ = ["SqlitePart", "is_sqlite"]

_MAGIC: Final = b"SQLite format 3\0"
_KINDS: Final = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.large_string(),
    "blob": pa.large_binary(),
}


def is_sqlite(path: str) -> bool:
    """Told by how the file begins: databases have endings of all kinds."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class SqlitePart(Part):
    """One table; columns that hold values of several types are spelled as strings."""

    def __init__(self, path: str, name: str, table: str | None) -> None:
        self.name = name
        self.path = os.path.abspath(path)
        self._bad_rows: set[int] = set()
        with self._connected() as connection:
            self._table = _chosen(connection, table, name)
            self.schema = _schema(connection, self._table)

    def batches(
        self,
        columns: Sequence[str] | None,  # noqa: ARG002 - other columns, other order of rows
        reject: Reject,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        first = 0
        with self._connected() as connection:
            cursor = connection.execute(f"SELECT * FROM {_quoted(self._table)}")  # noqa: S608
            while rows := cursor.fetchmany(part.BATCH_ROWS):
                arrays = [
                    self._array(values, field.type, first)
                    for values, field in zip(zip(*rows, strict=True), self.schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)
                first += len(rows)

    def why_null(self, row: int) -> str:
        return NOT_UTF_8 if row in self._bad_rows else super().why_null(row)

    def _array(self, values: Sequence[Any], kind: pa.DataType, first: int) -> pa.Array:
        if kind != pa.large_string():
            return pa.array(values, kind)
        texts = [None if v is None or isinstance(v, bytes) else str(v) for v in values]
        bad = [i for i, text in enumerate(texts) if text and not without_surrogates(text)]
        for i in bad:
            texts[i] = None
        self._bad_rows.update(first + i for i in bad)
        return string_array(texts)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Changes that wait in a log are read too; without a log no file is made beside it."""
        log = self.path + "-wal"
        waits = os.path.exists(log) and os.path.getsize(log) > 0
        mode = "mode=ro" if waits else "mode=ro&immutable=1"
        try:
            with closing(
                sqlite3.connect(
                    f"file:{quote(os.fsencode(self.path))}?{mode}",
                    uri=True,
                    check_same_thread=False,
                )
            ) as connection:
                connection.text_factory = _text
                connection.execute("PRAGMA trusted_schema = OFF")
                yield connection
        except (sqlite3.Error, OverflowError) as error:
            raise UnreadableError(
                f"{self.name} cannot be read as an SQLite database: {error}"
            ) from error


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _chosen(connection: sqlite3.Connection, asked: str | None, name: str) -> str:
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' "
        "ESCAPE '~' ORDER BY name"
    ).fetchall()
    tables = [str(table) for (table,) in found]
    if asked is not None and asked not in tables:
        raise MissingError(f"{name} has no table {asked!r}. It has: {', '.join(tables)}.")
    if asked is None and len(tables) != 1:
        bare = name.partition("::")[0]
        raise SourceError(
            f"{name} has {len(tables)} tables: {', '.join(tables) or 'none'}. "
            f"Name one, as in {bare}::{tables[0] if tables else 'table'}."
        )
    return asked or tables[0]


def _schema(connection: sqlite3.Connection, table: str) -> pa.Schema:
    """The types of the values, not those that were declared: SQLite takes any value anywhere."""
    cursor = connection.execute(f"SELECT * FROM {_quoted(table)} LIMIT 0")  # noqa: S608
    names = [str(column[0]) for column in cursor.description]
    kinds = ", ".join(f"group_concat(DISTINCT typeof({_quoted(name)}))" for name in names)
    [found] = connection.execute(f"SELECT {kinds} FROM {_quoted(table)}").fetchall()  # noqa: S608
    return pa.schema([(n, _type_of(kind or "")) for n, kind in zip(names, found, strict=True)])


def _type_of(found: str) -> pa.DataType:
    kinds = set(found.split(",")) - {"null", ""}
    return _KINDS[kinds.pop()] if len(kinds) == 1 else pa.large_string()
