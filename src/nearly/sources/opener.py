"""Decides what was given, and opens it.

What reads a kind of file is imported when a file of that kind is opened: DuckDB alone takes as long
to import as a small corpus to compare.
"""

import io
import os
import re
import shutil
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from nearly.errors import SourceError, UnreadableError
from nearly.frozen import dataclass
from nearly.sources.folder import divided
from nearly.sources.formats.arrow import ArrowFilePart
from nearly.sources.formats.charset import (
    AUTO,
    check_encoding,
    detected,
    unmarked_codec,
    write_as_utf_8,
)
from nearly.sources.formats.empty_file import EmptyFilePart
from nearly.sources.formats.encoding import bare_ending, compression_of, open_bytes
from nearly.sources.formats.frame import ItemsPart, PandasPart, VectorsPart, part_of_object
from nearly.sources.formats.text_file import LinesPart, TextFilesPart
from nearly.sources.long_table import LongTable
from nearly.sources.part import Part
from nearly.sources.path import Files, find_files, inside
from nearly.sources.record import Encoded
from nearly.sources.source import Source

if TYPE_CHECKING:
    from nearly.sources.formats.database import Database

__all__ = ["open_source", "read_table"]

#: Bytes below which DuckDB cannot read much.
_LEAST_FOR_DUCKDB = 2**26
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)

_KINDS = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".xlsx": "sheet", ".ods": "sheet", ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite",
}  # fmt: skip
_TEXT_KINDS = ("csv", "tsv", "json", "jsonl")

#: How a stream begins that is not text.
_BEGINNINGS = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
}


def open_source(
    given: Any,
    *,
    id: str | None = None,  # noqa: A002 - the name that users know
    text: str | Sequence[str] | None = None,
    items: str | None = None,
    vector: str | None = None,
    by: str | None = None,
    item: str | None = None,
    glob: str | None = None,
    lines: bool = False,
    encoding: str | None = None,
    threads: int | None = None,
    memory: int | None = None,
    temporary: Path,
) -> Source:
    """Open a path, folder, pattern, query, `-`, list of paths, or a Python object.

    `temporary` is a folder for what has to be written down to be read twice; it must
    outlive the source. `memory` is what the whole process may have, if that is limited.
    """
    if encoding is not None:
        check_encoding(encoding)
    columns = _Columns(id, text, items, vector, by, item)
    request = _Request(columns, glob, lines, encoding, threads, memory, temporary)
    if isinstance(given, str | os.PathLike):
        return _open_named(os.fsdecode(given), request)
    if isinstance(given, list | tuple) and given and isinstance(given[0], os.PathLike):
        paths = [os.fsdecode(path) for path in given]
        return _open_files(find_files(paths, glob), f"{len(paths)} paths", request)
    request.refuse_file_options(f"a {type(given).__name__}")
    part = part_of_object(given, temporary, named_id=id is not None or by is not None)
    is_indexed = isinstance(part, PandasPart)
    if isinstance(part, PandasPart):
        columns = replace(columns, id=part.index)
    if isinstance(part, ItemsPart):
        columns = replace(columns, items=columns.items or part.items)
    if isinstance(part, VectorsPart):
        columns = replace(columns, vector=columns.vector or part.vector)
    return _source(
        part.name,
        [part],
        replace(request, columns=columns),
        guess_id=not is_indexed,
        ids_are_unique=isinstance(given, Mapping),
    )


def read_table(given: str, *, temporary: Path) -> pa.Table:
    """All columns and rows of one table file, or of a SQL query; a bad row is an error."""
    request = _Request(_Columns(), None, False, None, None, None, temporary)
    part = _open_one_table(given, request)

    def reject(record: str, reason: str) -> None:
        raise UnreadableError(f"{given}, {record}: {reason}. Fix the table.")

    batches = []
    for batch in part.batches(None, reject):
        for row in part.broken[:1]:
            reject(part.record(row), part.why_null(row))
        batches.append(batch)
    return pa.Table.from_batches(batches, part.schema)


@dataclass(frozen=True)
class _Columns:
    """The columns that were named."""

    id: str | None = None
    text: str | Sequence[str] | None = None
    items: str | None = None
    vector: str | None = None
    by: str | None = None
    item: str | None = None

    def check(self) -> None:
        """Refuse a key without an item, and other columns beside them."""
        if (self.by is None) != (self.item is None):
            raise SourceError(
                f"by is {self.by!r} and item is {self.item!r}. Give both: the column that says "
                "whose item a row is, and the column of the item."
            )
        others = {name: getattr(self, name) for name in ("id", "text", "items", "vector")}
        for name, column in others.items() if self.by is not None else ():
            if column is not None:
                raise SourceError(
                    f"{name} is {column!r}, and by is {self.by!r}, which names the documents of a "
                    f"table with one item per row. Leave {name} out."
                )


@dataclass(frozen=True)
class _Request:
    """What was asked for besides the input itself."""

    columns: _Columns
    glob: str | None
    lines: bool
    encoding: str | None
    threads: int | None
    memory: int | None
    temporary: Path
    #: Told with the results: what was decided about the files.
    notes: list[str] = field(default_factory=list)
    encodings: dict[str, str] = field(default_factory=dict)

    @cached_property
    def database(self) -> "Database":
        return self._database(2**30)

    @cached_property
    def csv_database(self) -> "Database":
        # What DuckDB has read of a CSV file it keeps, needed or not, until its memory is full.
        return self._database(2**28)

    @cached_property
    def json_database(self) -> "Database":
        # Each thread takes a hundred megabytes, so that a limit allows for one; the only other
        # bound is the machine, for a line may be long.
        from nearly.sources.formats.database import Database

        return Database(self.temporary, self.threads if self.memory is None else 1, sys.maxsize)

    def _database(self, most_memory: int) -> "Database":
        from nearly.sources.formats.database import Database

        if self.memory is not None:
            most_memory = min(most_memory, max(_LEAST_FOR_DUCKDB, self.memory // 5))
        return Database(self.temporary, self.threads, most_memory)

    def run_query(self, query: str) -> ArrowFilePart:
        from nearly.sources.formats.query import run_query

        return run_query(self.database, query, self.temporary)

    def refuse_file_options(self, name: str) -> None:
        """`lines`, `glob` and `encoding` are about files."""
        for option in ("lines", "glob", "encoding"):
            if getattr(self, option):
                raise SourceError(f"{option} is about files, and {name} was given. Leave it out.")

    def encoding_of(self, path: str, shown: str) -> str | None:
        """What a file has to be decoded by, where UTF-8 and marks are not enough."""
        if self.encoding is None:
            return None
        try:
            found = detected(path, shown) if self.encoding == AUTO else self.encoding
        except (OSError, pa.ArrowException):
            return None  # whoever reads it will say so
        if found is not None:
            self.encodings[shown] = found
        return found

    def given(self, path: str) -> str:
        """The full path of a file; nothing for what was read from standard input."""
        full = Path(os.path.abspath(path))
        return "" if full.is_relative_to(os.path.abspath(self.temporary)) else str(full)

    def told(self) -> dict[str, Any]:
        """What was decided about the files."""
        told: dict[str, Any] = {"notes": self.notes} if self.notes else {}
        return told | ({"encodings": self.encodings} if self.encodings else {})

    def refuse_columns(self, name: str) -> None:
        """Text files have no columns."""
        for option, column in vars(self.columns).items():
            if column is not None:
                named = column if isinstance(column, str) else ", ".join(column)
                raise SourceError(
                    f"{option} is {named!r}, and {name} is read as text, which has no columns. "
                    f"Leave {option} out, or give a table (CSV, JSON, Parquet, Arrow)."
                )


def _open_named(given: str, request: _Request) -> Source:
    if given == "-":
        return _open_standard_input(request)
    if _QUERY.match(given) and not os.path.lexists(given):
        request.refuse_file_options("a query")
        part = request.run_query(given)
        return _source(part.name, [part], request)
    return _open_files(find_files([given], request.glob), given, request)


def _open_one_table(given: str, request: _Request) -> Part:
    if _QUERY.match(given) and not os.path.lexists(given):
        return request.run_query(given)
    paths = list(find_files([given], None).paths.items())
    if len(paths) != 1 or not _is_table(paths[0][1]):
        raise SourceError(
            f"{given} is not one table. Give one file that ends in "
            f"{', '.join(_KINDS)}, or a SQL query."
        )
    [(shown, path)] = paths
    return _open_table(path, shown, request)


def _open_files(files: Files, name: str, request: _Request) -> Source:
    if request.lines:
        return _open_lines(files, name, request)
    if files.folder is not None:
        return _open_folder(files, name, request)
    tables = [path for path in files.paths.values() if _is_table(path)]
    if not tables:
        return _open_texts(files, name, request)
    texts = [path for path in files.paths.values() if path not in tables]
    if texts:
        raise SourceError(
            f"{name} holds tables, such as {tables[0]!r}, and other files, such as {texts[0]!r}. "
            "Give one or the other, or a folder: there the larger part is taken."
        )
    return _open_tables(files, name, request)


def _is_table(path: str) -> bool:
    file, inner = inside(path)
    return inner is not None or bare_ending(file) in _KINDS


def _open_folder(files: Files, name: str, request: _Request) -> Source:
    """A table in parts, or documents; where it is mixed, what is left is told."""
    division = divided(files.paths)
    if not division.is_table:
        reason = "a table among texts: give it by itself, or choose with a glob"
        left = [(shown, reason) for shown in division.left]
        files = replace(files, paths=division.taken, left_out=[*files.left_out, *left])
        return _open_texts(files, name, request)
    if division.left:
        request.notes.append(
            f"{name} was read as one table, its parts: {_some(division.taken)}. "
            f"Left: {_some(division.left)}. A glob chooses otherwise."
        )
    return _open_tables(replace(files, paths=division.taken), name, request)


def _some(names: Iterable[str]) -> str:
    """The first few names, and how many there are more."""
    listed = list(names)
    more = f" and {len(listed) - 3:,} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more


def _open_texts(files: Files, name: str, request: _Request) -> Source:
    request.refuse_columns(name)
    found = {shown: request.encoding_of(path, shown) for shown, path in files.paths.items()}
    encodings = {shown: encoding for shown, encoding in found.items() if encoding is not None}
    part = TextFilesPart(name, files.paths, files.left_out, encodings)
    return Source(
        name,
        [part],
        id_column="id",
        text_column="text",
        ids_are_unique=True,
        is_folder=files.folder is not None,
        has_columns=False,
        notes=request.told(),
        temporary=request.temporary,
    )


def _open_lines(files: Files, name: str, request: _Request) -> Source:
    request.refuse_columns(name)
    return Source(
        name,
        [_open_line_file(path, shown, request) for shown, path in files.paths.items()],
        text_column="text",
        unreadable=files.left_out,
        notes=request.told(),
        temporary=request.temporary,
    )


def _open_line_file(path: str, name: str, request: _Request) -> Part:
    copy, encoded = _in_utf_8(path, name, request)
    part = LinesPart(copy, name)
    part.given, part.encoded = request.given(path), encoded
    return part


def _open_tables(files: Files, name: str, request: _Request) -> Source:
    """Tables that can be opened; where there are several, the others are left out and listed."""
    parts: list[Part] = []
    unreadable = list(files.left_out)
    for shown, path in files.paths.items():
        try:
            parts.append(_open_table(path, shown, request))
        except UnreadableError as error:
            if len(files.paths) == 1:
                raise
            unreadable.append((shown, str(error)))
    if not parts:
        raise UnreadableError(f"none of {name} can be read. The first: {unreadable[0][1]}")
    return _source(name, parts, request, unreadable=unreadable, notes=request.told())


def _source(name: str, parts: Sequence[Part], request: _Request, **more: Any) -> Source:
    """A table with a document per row or, where there is an item per row, one per key."""
    columns, temporary = request.columns, request.temporary
    columns.check()
    if columns.by is None or columns.item is None:
        return Source(
            name,
            parts,
            id_column=columns.id,
            text_column=columns.text,
            items_column=columns.items,
            vector_column=columns.vector,
            temporary=temporary,
            **more,
        )
    rows = Source(name, parts, key_column=columns.by, temporary=temporary, **more)
    return LongTable(rows, columns.by, columns.item, temporary=temporary)


def _open_table(path: str, name: str, request: _Request) -> Part:
    path, inner = inside(path)
    part = _open_table_file(path, inner, name, request)
    part.given = request.given(path)
    return part


def _open_table_file(path: str, inner: str | None, name: str, request: _Request) -> Part:
    kind = _KINDS.get(bare_ending(path), "")
    if kind not in _TEXT_KINDS and compression_of(path) is not None:
        path = _decompressed(path, name, request.temporary)
    if inner is not None or kind in ("sheet", "sqlite"):
        return _open_inside(path, inner, kind, name, request)
    if kind in _TEXT_KINDS:
        copy, encoded = _in_utf_8(path, name, request)
        part = _open_text_table(copy, kind, name, request)
        part.encoded = encoded
        return part
    if kind == "arrow":
        return ArrowFilePart(path, name)
    from nearly.sources.formats.parquet import ParquetPart

    return ParquetPart(path, name, request.temporary)


def _open_text_table(path: str, kind: str, name: str, request: _Request) -> Part:
    if _holds_nothing(path, kind):
        return EmptyFilePart(path, _without_rows(request), name)
    if kind in ("csv", "tsv"):
        from nearly.sources.formats.delimited import DelimitedPart

        delimiter = "\t" if kind == "tsv" else None
        return DelimitedPart(request.csv_database, path, name, delimiter=delimiter)
    from nearly.sources.formats.duck import JsonPart

    return JsonPart(
        request.json_database, path, name, lines=kind == "jsonl", id_column=request.columns.id
    )


def _holds_nothing(path: str, kind: str) -> bool:
    """Whether there is no byte, no more than white space, or in JSON an empty list."""
    try:
        with open_bytes(path) as file:
            head = file.read(64)
    except (OSError, pa.ArrowException):
        return False  # whoever reads it will say so
    nothing = (b"", b"[]") if kind == "json" else (b"",)
    return len(head) < 64 and b"".join(head.removeprefix(BOM_UTF8).split()) in nothing


def _without_rows(request: _Request) -> pa.Table:
    """A file of no bytes has no header, and has whatever columns are asked for."""
    asked = request.columns
    texts = [asked.text] if isinstance(asked.text, str) else asked.text or ["text"]
    named = (asked.id, *texts, asked.items, asked.vector, asked.by, asked.item)
    columns = dict.fromkeys(column for column in named if column)
    return pa.schema([(c, pa.large_string()) for c in columns]).empty_table()


def _open_inside(path: str, inner: str | None, kind: str, name: str, request: _Request) -> Part:
    """A sheet of a spreadsheet, or a table of a database."""
    if kind == "sheet":
        from nearly.sources.formats.sheet import SheetPart

        part = SheetPart(path, name, inner)
        if inner is None and len(part.sheets) > 1:
            others = ", ".join(sheet for sheet in part.sheets if sheet != part.sheet)
            request.notes.append(
                f"of {name} the sheet {part.sheet} was read; others are {others}, "
                f"each named as in {name}::{part.sheets[-1]}"
            )
        return part
    from nearly.sources.formats.sqlite import SqlitePart, is_sqlite

    if is_sqlite(path):
        return SqlitePart(path, name, inner)
    raise UnreadableError(
        f"{name} is no SQLite database. FILE::NAME names a table of such a database, or a sheet "
        "of a spreadsheet (.xlsx, .ods)."
    )


def _in_utf_8(path: str, name: str, request: _Request) -> tuple[str, Encoded | None]:
    """The file itself, or a copy of it in UTF-8 where its encoding is another."""
    encoding = request.encoding_of(path, name)
    codec = None if encoding is None else unmarked_codec(path, encoding, name)
    if encoding is None or codec is None:
        return path, None
    copy = _fresh_path(request.temporary)
    copy = copy.with_suffix(bare_ending(path))
    write_as_utf_8(path, encoding, name, copy)
    return str(copy), Encoded(os.path.abspath(path), codec)


def _decompressed(path: str, name: str, temporary: Path) -> str:
    """A plain copy: Parquet and Arrow files are read from their end."""
    copy = _fresh_path(temporary)
    try:
        with open_bytes(path) as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target)
    except (OSError, pa.ArrowException) as error:
        raise UnreadableError(f"{name} cannot be decompressed: {error}") from error
    return str(copy)


def _open_standard_input(request: _Request) -> Source:
    name = "standard input"
    if request.glob is not None:
        raise SourceError("glob is about folders, and standard input was given. Leave it out.")
    if sys.stdin is None:
        raise UnreadableError("standard input is closed. Pipe documents in, or name a file.")
    copy = _fresh_path(request.temporary)
    try:
        with open(copy, "wb") as target:
            stream = cast(io.BufferedReader, sys.stdin.buffer)
            while piece := stream.read1():  # one end of input is enough
                target.write(piece)
    except OSError as error:
        raise UnreadableError(f"{name} cannot be copied to {str(copy)!r}: {error}") from error
    files = Files(paths={name: _with_ending(str(copy))})
    return (
        _open_lines(files, name, request) if request.lines else _open_tables(files, name, request)
    )


def _with_ending(path: str) -> str:
    """Rename a file by what it holds; text that is not JSON is taken for CSV."""
    with open_bytes(path) as file:
        head = file.read(4096)
    ending = next((e for start, e in _BEGINNINGS.items() if head.startswith(start)), None)
    if ending is None:
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        ending = {b"{": ".jsonl", b"[": ".json"}.get(start, ".csv")
    root, compression = (path, "") if compression_of(path) is None else os.path.splitext(path)
    renamed = root + ending + compression
    os.rename(path, renamed)
    return _with_ending(renamed) if ending in (".gz", ".zst") else renamed


def _fresh_path(temporary: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=temporary)) / "copy"
