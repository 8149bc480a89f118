"""What DuckDB reads: JSON files."""

import functools
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, cast

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from duckdb.sqltypes import DuckDBPyType

from nearly.errors import UnreadableError
from nearly.sources import part
from nearly.sources.column import ID_NAMES
from nearly.sources.cut_text import Gaps
from nearly.sources.formats.abridged import Abridged
from nearly.sources.formats.cut_record import CutRecords
from nearly.sources.formats.database import Database
from nearly.sources.formats.encoding import (
    compression_of,
    encoding_of,
    open_bytes,
    write_plain,
)
from nearly.sources.formats.json_element import element_spans, original_elements
from nearly.sources.formats.json_value import cut_member
from nearly.sources.part import Part, Reject
from nearly.sources.record import Lines, Original, blank_lines, original_lines

__all__ = ["JsonPart", "first_lines"]

#: Types that DuckDB reads into the strings of JSON. They stay strings: a date or an
#: identifier that is read and written again would not be spelt as it was.
_SPELT = ("DATE", "TIME", "TIMESTAMP", "UUID", "JSON")

#: Bytes of a line from which on lines are read some at a time.
LONG_LINE = 2**15
#: Bytes of an object that DuckDB reads without being told, and for which it makes room anyway.
LARGEST_OBJECT = 2**24
#: Bytes of a line from which on its long strings are read apart.
ABRIDGED_FROM = LARGEST_OBJECT
#: Bytes of lines that are read together where they are pieces of long objects.
CUT_BYTES = 2**17

#: What was found out by reading.
_FOUND_OUT = (
    "_plain_path",
    "_abridged",
    "_cut",
    "_whole_path",
    "_blank_lines",
    "_longest_line",
    "_longest_whole_line",
)

#: Types that cannot hold every number of a JSON file.
_ROUNDED = ("DOUBLE", "HUGEINT", "UHUGEINT")


class JsonPart(Part):
    """One JSON file: an array of objects, or an object a line, of which broken ones are null.

    Several threads read it, so it may break off anywhere.
    """

    steady = False
    #: Whether an object of an array is longer than DuckDB reads.
    _has_long_objects = False

    def __init__(
        self,
        database: Database,
        path: str,
        name: str,
        *,
        lines: bool,
        id_column: str | None = None,
    ) -> None:
        self.name = name
        self._id_column = id_column
        self.path = os.path.abspath(path)
        self._database = database
        self._lines = lines
        self._columns: dict[str, str] | None = None
        with self._translated():
            if compression_of(self.path) and not lines:  # lines are measured, which reads them all
                _read_through(self.path)
            self.schema = self._find_schema()

    def __getstate__(self) -> dict[str, Any]:
        # What was found out here by reading is found out there if it is needed.
        return {name: value for name, value in self.__dict__.items() if name not in _FOUND_OUT}

    def _find_schema(self) -> pa.Schema:
        is_short = os.path.getsize(self.path) <= LARGEST_OBJECT and not compression_of(self.path)
        if self._lines or is_short:
            return self._read_schema(self._database.connection)
        # DuckDB keeps what it takes to see that an object is too long until it is closed.
        with self._database.connect() as connection:
            try:
                return self._read_schema(connection)
            except duckdb.Error as error:
                if self._has_long_objects or "maximum_object_size" not in str(error):
                    raise
        self._has_long_objects = True
        for name in _FOUND_OUT:
            self.__dict__.pop(name, None)
        return self._read_schema(self._database.connection)

    def _read_schema(self, connection: duckdb.DuckDBPyConnection) -> pa.Schema:
        relation = self._relation(connection.cursor(), self._plain_path, self._longest_line)
        return relation.limit(0).to_arrow_reader(1).schema

    @functools.cached_property
    def _plain_path(self) -> str:
        """Where DuckDB reads it: the file itself, if it can."""
        if self._cut is not None:
            return self._cut.copy
        return self._whole_path if self._abridged is None else self._abridged.copy

    @functools.cached_property
    def _abridged(self) -> Abridged | None:
        """What is read in place of a file with objects for which DuckDB would need much memory."""
        if not self._has_long_objects and self._longest_whole_line <= ABRIDGED_FROM:
            return None
        folder = tempfile.mkdtemp(dir=self._database.folder)
        source = self._whole_path
        if compression_of(source) or not self._lines:
            # An array is mapped, and a file that others may shorten cannot be.
            source = os.path.join(folder, "plain.json")
            write_plain(self._whole_path, source)
        copy = os.path.join(folder, "abridged.json")
        return Abridged(source, copy, ABRIDGED_FROM if self._lines else None)

    @functools.cached_property
    def _cut(self) -> CutRecords | None:
        """What is read in place of objects that stay long without their long strings."""
        if self._abridged is None:
            return None
        short = self._abridged.copy
        if self._lines:
            is_long = _longest_line(short) > ABRIDGED_FROM
        else:
            spans = element_spans(short)
            is_long = spans is not None and (spans.ends - spans.starts).max() > ABRIDGED_FROM
        if not is_long:
            return None
        folder = tempfile.mkdtemp(dir=self._database.folder)
        return CutRecords(short, folder, ABRIDGED_FROM, self._is_json, lines=self._lines)

    def _is_json(self, text: str) -> bool:
        cursor = self._database.connection.cursor()
        found = cursor.execute("SELECT json_valid(?)", [text]).fetchone()
        return bool(found and found[0])

    @functools.cached_property
    def _whole_path(self) -> str:
        """The file, or a copy: DuckDB knows neither marks nor other encodings than UTF-8."""
        with open_bytes(self.path) as file:
            encoding = encoding_of(file.read(4))
        if encoding == "utf-8":
            return self._database.plain_path(self.path)
        copy = os.path.join(tempfile.mkdtemp(dir=self._database.folder), "unmarked.json")
        write_plain(self.path, copy)
        return copy

    def _translated(self) -> "_Translated":
        return _Translated(self.name, self.path)

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002 - bad records come as rows of nulls
    ) -> Iterator[pa.RecordBatch]:
        cursor = self._database.connection.cursor()
        lines = Lines(self.path) if self._lines and columns is None else None
        present = [c for c in columns or () if c in self.schema.names]
        given = 0
        try:
            with self._translated():
                for batch in self._read(cursor, present or self.schema.names):
                    self.broken = _no_objects(batch, given, lines) if lines else ()
                    yield batch
                    given += batch.num_rows
        finally:
            cursor.close()

    def _read(
        self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        batches = self._as_in_copy(cursor, columns)
        if self._cut is not None:
            batches = self._cut.joined(batches)
        for batch in batches:
            yield from self._abridged.restored(batch) if self._abridged else [batch]

    def _as_in_copy(
        self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Where lines are long, some of them at a time: DuckDB gives thousands of rows at once."""
        is_long = self._cut is not None or (self._lines and self._longest_line > LONG_LINE)
        pieces = self._pieces() if is_long else iter([(self._plain_path, self._longest_line)])
        for path, longest in pieces:
            relation = self._relation(cursor, path, longest, columns)
            relation = relation.select(*map(duckdb.ColumnExpression, columns))
            with relation.to_arrow_reader(part.BATCH_ROWS) as reader:
                yield from reader

    def _pieces(self) -> Iterator[tuple[str, int]]:
        """Files of some lines each, one after the other, and the bytes of each one's longest."""
        size = part.BATCH_BYTES if self._cut is None else min(CUT_BYTES, part.BATCH_BYTES)
        folder = tempfile.mkdtemp(dir=self._database.folder)
        piece = os.path.join(folder, "piece.jsonl")
        try:
            with open_bytes(self._plain_path) as raw:
                file = io.BufferedReader(cast(io.RawIOBase, raw))
                while lines := file.readlines(size):
                    with open(piece, "wb") as target:
                        target.writelines(lines)
                    longest = max(map(len, lines))
                    del lines  # one of them may be all that fits
                    yield piece, longest
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @functools.cached_property
    def _longest_whole_line(self) -> int:
        return _longest_line(self._whole_path) if self._lines else 0

    @functools.cached_property
    def _longest_line(self) -> int:
        if self._abridged is None or not self._has_lines:
            return self._longest_whole_line
        return _longest_line(self._plain_path)

    @property
    def _has_lines(self) -> bool:
        """Whether what DuckDB reads has an object a line."""
        return self._lines or self._cut is not None

    def _relation(
        self,
        cursor: duckdb.DuckDBPyConnection,
        path: str,
        longest: int,
        columns: Sequence[str] | None = None,
    ) -> duckdb.DuckDBPyRelation:
        """Some of the columns: to name those that are not asked for takes time for each piece."""
        if self._columns is None:
            self._columns = self._columns_of_all(cursor)
        found = self._columns
        return cursor.read_json(
            path,
            columns={name: found[name] for name in found if columns is None or name in columns},
            records="true",  # of one column it would find that out each time, from all values
            format="newline_delimited" if self._has_lines else "auto",
            ignore_errors=self._lines,
            hive_partitioning=False,
            maximum_object_size=self._room_for(longest),
        )

    def _room_for(self, longest: int) -> int:
        """DuckDB takes several times as much for each thread; objects that are cut need little."""
        return max(LARGEST_OBJECT if self._cut is None else CUT_BYTES, longest + 1)

    def _columns_of_all(self, cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
        if self._cut is None:
            types = self._find_types(
                cursor, self._plain_path, self._longest_line, has_lines=self._has_lines
            )
            return {name: self._type_of(name, str(kind)) for name, kind in types.items()}
        typed = self._cut.typed_copy
        # DuckDB keeps what it took for long objects until it is closed.
        with self._database.connect() as connection:
            types = self._find_types(connection, typed, _longest_line(typed), has_lines=True)
        as_json = {json.loads(name) for name in self._cut.as_json}
        return {
            name: "VARCHAR" if name in as_json else self._type_of(name, str(kind))
            for name, kind in types.items()
        }

    def _find_types(
        self,
        cursor: duckdb.DuckDBPyConnection,
        path: str,
        longest: int,
        *,
        has_lines: bool,
    ) -> dict[str, DuckDBPyType]:
        """The types of the whole file: a column that only its last line has counts too."""
        relation = cursor.read_json(
            path,
            sample_size=-1,
            format="newline_delimited" if has_lines else "auto",
            ignore_errors=self._lines,
            hive_partitioning=False,
            maximum_object_size=self._room_for(longest),
        )
        found = dict(zip(relation.columns, relation.types, strict=True))
        if {name: str(kind) for name, kind in found.items()} == {"json": "JSON"}:
            raise UnreadableError(
                f"{self.name} holds JSON that is no table. "
                'Each line, or each element of one array, must be an object {"text": "…"}.'
            )
        return found

    def _type_of(self, name: str, kind: str) -> str:
        """Ids are spelled as they stand: as doubles, long ones would become one and the same."""
        is_id = name == self._id_column or name.lower() in ID_NAMES
        spelt = (*_SPELT, *_ROUNDED) if is_id else _SPELT
        return "VARCHAR" if kind.startswith(spelt) else kind

    def record(self, row: int) -> str:
        if not self._lines:
            return super().record(row)
        line = row + 1 + int(np.searchsorted(self._blank_lines, row, side="right"))
        return f"{super().record(row)}, line {line}"

    @functools.cached_property
    def _blank_lines(self) -> npt.NDArray[np.int64]:
        return blank_lines(original_lines(self.path, blank=False))

    def why_null(self, row: int) -> str:
        return "null text, or not valid JSON" if self._lines else super().why_null(row)

    def is_own_format(self, ending: str) -> bool:
        return ending in (".jsonl", ".ndjson") if self._lines else ending == ".json"

    def original(self) -> Original | None:
        if self._lines:
            return original_lines(self.path, blank=False)
        return original_elements(self.path)

    def cut_record(self, record: str, column: str, gaps: Gaps) -> str:
        return cut_member(record, column, gaps)


def _no_objects(batch: pa.RecordBatch, first: int, lines: Lines) -> list[int]:
    """The rows whose lines are no JSON: they are null in every column, and so may others be."""
    if not all(column.null_count for column in batch.columns):
        return []
    import pyarrow.compute as pc

    is_null = functools.reduce(pc.and_, (column.is_null() for column in batch.columns))
    rows = [first + i for i in pc.indices_nonzero(is_null).to_pylist()]
    return [row for row in rows if not _is_object(lines.at(row))]


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _longest_line(path: str) -> int:
    """Bytes of the longest line, its end included."""
    longest = pending = 0
    with open_bytes(path) as file:
        while piece := file.read(1 << 20):
            first, *others = map(len, piece.split(b"\n"))
            pending += first
            if others:
                longest = max(longest, pending + 1, max(others[:-1], default=0) + 1)
                pending = others[-1]
    return max(longest, pending)


def _read_through(path: str) -> None:
    """A compressed file ends with a checksum, of which DuckDB takes no notice."""
    with open_bytes(path) as file:
        while file.read(1 << 20):
            pass


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
            raise UnreadableError(f"{self._name} cannot be read. {reason}") from error
        if isinstance(error, UnicodeDecodeError):  # it cuts what it quotes of the file
            reason = "DuckDB refuses it, with a message that is no text."
            raise UnreadableError(f"{self._name} cannot be read. {reason}") from error


def first_lines(error: BaseException) -> str:
    """The part of DuckDB's message that speaks of the input."""
    return " ".join(line.strip() for line in str(error).splitlines()[:4] if line.strip())
