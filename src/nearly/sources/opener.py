"""Decides what was given, and opens it."""

import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from nearly.errors import SourceError, UnreadableError
from nearly.sources.formats.arrow import ArrowFilePart
from nearly.sources.formats.database import Database
from nearly.sources.formats.delimited import DelimitedPart
from nearly.sources.formats.duck import JsonPart, run_query
from nearly.sources.formats.encoding import bare_ending, compression_of, open_bytes
from nearly.sources.formats.frame import part_of_object
from nearly.sources.formats.parquet import ParquetPart
from nearly.sources.formats.text_file import LinesPart, TextFilesPart
from nearly.sources.part import Part
from nearly.sources.path import Files, find_files
from nearly.sources.source import Source

__all__ = ["open_source", "read_table"]

_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)

_KINDS = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip

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
    text: str | None = None,
    glob: str | None = None,
    lines: bool = False,
    threads: int | None = None,
    temporary: Path,
) -> Source:
    """Open a path, folder, pattern, query, `-`, list of paths, or a Python object.

    `temporary` is a folder for what has to be written down to be read twice; it must
    outlive the source.
    """
    request = _Request(id, text, glob, lines, threads, temporary)
    if isinstance(given, str | os.PathLike):
        return _open_named(os.fsdecode(given), request)
    if isinstance(given, list | tuple) and given and isinstance(given[0], os.PathLike):
        paths = [os.fsdecode(path) for path in given]
        return _open_files(find_files(paths, glob), f"{len(paths)} paths", request)
    request.refuse_file_options(f"a {type(given).__name__}")
    part = part_of_object(given, temporary)
    return Source(
        part.name,
        [part],
        id_column=id,
        text_column=text,
        ids_are_unique=isinstance(given, Mapping),
        temporary=temporary,
    )


def read_table(given: str, *, temporary: Path) -> pa.Table:
    """All columns and rows of one table file, or of a SQL query; a bad row is an error."""
    request = _Request(None, None, None, False, None, temporary)
    part = _open_one_table(given, request)

    def reject(record: str, reason: str) -> None:
        raise UnreadableError(f"{given}, {record}: {reason}. Mend the table.")

    return pa.Table.from_batches(part.batches(None, reject), part.schema)


@dataclass(frozen=True)
class _Request:
    """What was asked for besides the input itself."""

    id: str | None
    text: str | None
    glob: str | None
    lines: bool
    threads: int | None
    temporary: Path

    @cached_property
    def database(self) -> Database:
        return Database(self.temporary, self.threads)

    @cached_property
    def csv_database(self) -> Database:
        # What DuckDB has read of a CSV file it keeps, needed or not, until its memory is full.
        return Database(self.temporary, self.threads, most_memory=2**28)

    def refuse_file_options(self, name: str) -> None:
        """`lines` and `glob` are about files."""
        if self.lines or self.glob is not None:
            option = "lines" if self.lines else "glob"
            raise SourceError(f"{option} is about files, and {name} was given. Leave it out.")

    def refuse_columns(self, name: str) -> None:
        """Text files have no columns."""
        for option, column in (("id", self.id), ("text", self.text)):
            if column is not None:
                raise SourceError(
                    f"{option} is {column!r}, and {name} is read as text, which has no columns. "
                    f"Leave {option} out, or give a table (CSV, JSON, Parquet, Arrow)."
                )


def _open_named(given: str, request: _Request) -> Source:
    if given == "-":
        return _open_standard_input(request)
    if _QUERY.match(given) and not os.path.lexists(given):
        request.refuse_file_options("a query")
        part = run_query(request.database.connection, given, request.temporary)
        return Source(
            part.name,
            [part],
            id_column=request.id,
            text_column=request.text,
            temporary=request.temporary,
        )
    return _open_files(find_files([given], request.glob), given, request)


def _open_one_table(given: str, request: _Request) -> Part:
    if _QUERY.match(given) and not os.path.lexists(given):
        return run_query(request.database.connection, given, request.temporary)
    paths = list(find_files([given], None).paths.items())
    if len(paths) != 1 or bare_ending(paths[0][1]) not in _KINDS:
        raise SourceError(
            f"{given} is not one table. Give one file that ends in "
            f"{', '.join(_KINDS)}, or a SQL query."
        )
    [(shown, path)] = paths
    return _open_table(path, shown, request)


def _open_files(files: Files, name: str, request: _Request) -> Source:
    if request.lines:
        return _open_lines(files, name, request)
    tables = [path for path in files.paths.values() if bare_ending(path) in _KINDS]
    if files.folder is not None or not tables:
        return _open_texts(files, name, request)
    texts = [path for path in files.paths.values() if path not in tables]
    if texts:
        raise SourceError(
            f"{name} holds tables, such as {tables[0]!r}, and other files, such as {texts[0]!r}. "
            "Give one or the other, or a folder: there every file is a document."
        )
    return _open_tables(files, name, request)


def _open_texts(files: Files, name: str, request: _Request) -> Source:
    request.refuse_columns(name)
    part = TextFilesPart(name, files.paths, files.left_out)
    return Source(
        name,
        [part],
        id_column="id",
        text_column="text",
        ids_are_unique=True,
        is_folder=files.folder is not None,
        has_columns=False,
        temporary=request.temporary,
    )


def _open_lines(files: Files, name: str, request: _Request) -> Source:
    request.refuse_columns(name)
    parts = [LinesPart(path, shown) for shown, path in files.paths.items()]
    return Source(
        name,
        parts,
        text_column="text",
        unreadable=files.left_out,
        temporary=request.temporary,
    )


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
    return Source(
        name,
        parts,
        id_column=request.id,
        text_column=request.text,
        unreadable=unreadable,
        temporary=request.temporary,
    )


def _open_table(path: str, name: str, request: _Request) -> Part:
    kind = _KINDS[bare_ending(path)]
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else None
        return DelimitedPart(request.csv_database, path, name, delimiter=delimiter)
    if kind in ("json", "jsonl"):
        return JsonPart(request.database, path, name, lines=kind == "jsonl")
    if compression_of(path) is not None:
        path = _decompressed(path, name, request.temporary)
    if kind == "arrow":
        return ArrowFilePart(path, name)
    return ParquetPart(path, name)


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
