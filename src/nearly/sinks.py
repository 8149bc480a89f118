"""Results → files, written whole or not at all.

The ending of a file's name says its format, and every format has the same columns.
`Outputs` is the one way to a file: what is written goes to a temporary file beside
the target, and only when everything is written do all targets appear together.

The same rows give the same bytes, however they were cut into batches. Numbers in text
formats are the shortest that read back exactly; JSON has no NaN or infinity, so there
they are null. Dictionary columns are written as their values.
"""

import csv
import errno
import gzip
import io
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias, cast

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from nearly.errors import SinkError

__all__ = ["Outputs", "check_output", "check_place", "write_table"]

Batches: TypeAlias = Iterable[pa.RecordBatch] | pa.Table
WriteGroup: TypeAlias = Callable[[pa.Table], object]
Format: TypeAlias = Callable[[BinaryIO, pa.Schema], AbstractContextManager[WriteGroup]]
Compression: TypeAlias = Callable[[BinaryIO], Any]

#: Rows are written in groups of at most this many rows, and about this many bytes.
GROUP_ROWS = 120 * 1024
GROUP_BYTES = 64 * 2**20
#: A group is made of units of this many rows, so that the batches' own cuts leave no trace.
UNIT_ROWS = 1024


def write_table(batches: Batches, schema: pa.Schema, path: Path, *, force: bool = False) -> int:
    """Write one table to one file; gives the number of rows."""
    with Outputs(force=force) as outputs:
        return outputs.write(batches, schema, path)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a table's output that is bound to fail, before the long work starts."""
    _format_of(path)
    check_place(path, force=force)


def check_place(path: Path, *, force: bool) -> None:
    """Refuse a place where no file can be written, whatever its format."""
    given = os.fspath(path)
    with _blaming(path):
        folder = _target_of(path).parent
        if not folder.is_dir():
            raise SinkError(
                f"{given!r} cannot be written: there is no folder {str(folder)!r}; "
                "make it first, or give another name"
            )
        if path.is_dir():
            raise SinkError(f"{given!r} is a folder; give the name of a file")
        if path.exists():
            if not path.is_file():
                raise SinkError(f"{given!r} is not a regular file; give another name")
            if not force:
                raise SinkError(f"{given!r} exists; give another name, or --force to overwrite")
        tempfile.TemporaryFile(dir=folder).close()


class Outputs:
    """The files of one command: they appear together when the block ends well.

    An exception, Ctrl-C included, leaves every target as it was.
    """

    def __init__(self, *, force: bool = False) -> None:
        self._force = force
        self._started: list[_Staged] = []
        self._finished: list[_Staged] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            for staged in self._started:
                staged.discard()

    def write(self, batches: Batches, schema: pa.Schema, path: Path) -> int:
        """Write a table in the format of the path's ending; gives the number of rows."""
        form, compress = _format_of(path)
        plain = _plain(schema)
        rows = 0
        with ExitStack() as stack:
            file = stack.enter_context(self.open(path))
            if compress:
                file = stack.enter_context(compress(file))
            write_group = stack.enter_context(form(file, plain))
            for group in _groups(batches, plain):
                write_group(group)
                rows += group.num_rows
        return rows

    @contextmanager
    def open(self, path: Path) -> Iterator[BinaryIO]:
        """A new file to write bytes to; it takes the place of `path` when the block ends well."""
        check_place(path, force=self._force)
        staged = _Staged(path)
        if any(staged.target == other.target for other in self._started):
            raise SinkError(f"{os.fspath(path)!r} is given for two outputs; give two names")
        self._started.append(staged)
        file = staged.create()
        try:
            yield cast(BinaryIO, file)
            with _blaming(path):
                file.close()
                _sync(staged.temporary)
        except BaseException:
            # A second failure, of flushing what could not be written, says nothing new.
            with suppress(OSError, SinkError):
                file.close()
            raise
        self._finished.append(staged)

    def _commit(self) -> None:
        try:
            for staged in self._finished:
                with _blaming(staged.path):
                    staged.publish(force=self._force)
        except BaseException:
            for staged in self._finished:
                staged.withdraw()
            raise


class _Staged:
    """One output on its way: a temporary file, its target, and the old file until all is well."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.target = _target_of(path)
        # Not derived from the target's name, which may be as long as a name can be.
        stem = f".nearly-{secrets.token_hex(8)}"
        self.temporary = self.target.with_name(f"{stem}.part")
        self._old = self.target.with_name(f"{stem}.old")
        self._identity: tuple[int, int] | None = None

    def create(self) -> io.BufferedWriter:
        with _blaming(self.path):
            # A private file that is overwritten stays private.
            mode = stat.S_IMODE(self.target.stat().st_mode) if self.target.exists() else 0o666
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            raw = _StagedFile(os.open(self.temporary, flags, mode), self.path)
        self._identity = _identity(self.temporary)
        return io.BufferedWriter(raw, buffer_size=2**20)

    def publish(self, *, force: bool) -> None:
        if not force:
            _move_without_overwriting(self.temporary, self.target)
        else:
            if self.target.exists():
                _keep(self.target, self._old)
            os.replace(self.temporary, self.target)
        with suppress(OSError):  # not every file system can do this for a folder
            _sync(self.target.parent)

    def withdraw(self) -> None:
        """Put back what was there; right at whichever step `publish` was stopped."""
        with suppress(OSError):
            if self._old.exists():
                os.replace(self._old, self.target)
            elif _identity(self.target) == self._identity:
                self.target.unlink()

    def discard(self) -> None:
        with suppress(OSError):
            self.temporary.unlink()
        with suppress(OSError):
            if self.target.exists():  # or else the old file is all there is
                self._old.unlink()


class _StagedFile(io.FileIO):
    """A file whose failures name the output that it was to become.

    Only what fails here is the output's fault: rows are often read while they are written,
    and an error of the source has to stay one.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "w")
        self._path = path

    def write(self, data: Any, /) -> int:
        with _blaming(self._path):
            return super().write(data)


def _target_of(path: Path) -> Path:
    """Where the bytes go: a symbolic link stays, and what it points to is replaced."""
    return Path(os.path.realpath(path))


def _identity(path: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _move_without_overwriting(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno == errno.EEXIST or target.exists():
            raise SinkError(
                f"{str(target)!r} appeared while it was being made; "
                "give another name, or --force to overwrite"
            ) from error
        os.replace(source, target)  # a file system without hard links
    else:
        source.unlink()


def _keep(target: Path, old: Path) -> None:
    try:
        os.link(target, old)
    except OSError:
        os.replace(target, old)  # a file system without hard links


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space, or write to another disk",
    errno.EDQUOT: "your quota is used up; free some space, or write to another disk",
    errno.EFBIG: "the file is larger than allowed here; raise the limit, or write elsewhere",
    errno.EACCES: "permission denied; write to a folder that is yours",
    errno.EPERM: "permission denied; write to a folder that is yours",
    errno.EROFS: "the file system is read-only; write to another folder",
    errno.ENAMETOOLONG: "the name is too long; give a shorter one",
}


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """Say of a failure which output it stopped, and what to do."""
    try:
        yield
    except OSError as error:
        code = error.errno or 0
        advice = _ADVICE.get(code, f"{error.strerror or error}; write to another folder")
        raise SinkError(
            f"{os.fspath(path)!r} cannot be written: {advice}. Nothing was changed."
        ) from error


def _groups(batches: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows in groups whose cuts depend on the rows alone."""
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for unit in _units(batches.to_batches() if isinstance(batches, pa.Table) else batches):
        group.append(unit)
        rows += unit.num_rows
        size += unit.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield pa.Table.from_batches(group).cast(schema)
            group, rows, size = [], 0, 0
    if group:
        yield pa.Table.from_batches(group).cast(schema)


def _units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    pieces: list[pa.RecordBatch] = []
    missing = UNIT_ROWS
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, missing)
            pieces.append(piece)
            start += piece.num_rows
            missing -= piece.num_rows
            if not missing:
                yield pa.concat_batches(pieces)
                pieces, missing = [], UNIT_ROWS
    if pieces:
        yield pa.concat_batches(pieces)


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema in types that every format can hold."""
    return pa.schema([f.with_type(_plain_type(f.type)) for f in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_float16(kind):
        return pa.float32()
    return kind


@contextmanager
def _parquet(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        yield partial(writer.write_table, row_group_size=GROUP_ROWS)


@contextmanager
def _arrow(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    # Not compressed: every reader can read it, and can map it into memory.
    with pa.ipc.new_file(file, schema) as writer:
        yield lambda group: writer.write_table(group.combine_chunks(), max_chunksize=GROUP_ROWS)


@contextmanager
def _delimited(delimiter: str, file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())
    fields = [_csv_field(f"c{i}", f.type, delimiter) for i, f in enumerate(schema)]
    with _Lines(f" || {_quoted(delimiter)} || ".join(fields) + " || chr(10)") as lines:
        yield lambda group: file.writelines(lines(group))


@contextmanager
def _json_lines(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    with _Lines(_json_object(schema) + " || chr(10)") as lines:
        yield lambda group: file.writelines(lines(group))


@contextmanager
def _json_array(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    first_comma = 1

    def write_group(group: pa.Table) -> None:
        nonlocal first_comma
        for data in lines(group):
            file.write(data[first_comma:])
            first_comma = 0

    file.write(b"[")
    with _Lines("',' || chr(10) || " + _json_object(schema)) as lines:
        yield write_group
    file.write(b"\n]\n")


class _Lines:
    """Rows → bytes, by one SQL expression over the columns c0, c1, …"""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._connection = duckdb.connect()
        # Escaping can take a group of texts beyond the 2 GB of small buffers.
        self._connection.execute("SET arrow_large_buffer_size = true")
        # Times are in UTC wherever this runs; without the ICU extension they always are.
        self._connection.execute("SET autoinstall_known_extensions = false")
        with suppress(duckdb.Error):
            self._connection.execute("SET TimeZone = 'UTC'")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def __call__(self, group: pa.Table) -> Iterator[memoryview]:
        numbered = group.rename_columns([f"c{i}" for i in range(group.num_columns)])
        lines = self._connection.from_arrow(numbered).project(self._expression).to_arrow_table()
        for chunk in lines.column(0).chunks:
            yield _bytes_of(chunk)


def _bytes_of(strings: pa.LargeStringArray) -> memoryview:
    """The strings one after another, as they lie in memory."""
    _, offsets, data = strings.buffers()
    bounds = memoryview(offsets).cast("q")
    start, end = bounds[strings.offset], bounds[strings.offset + len(strings)]
    return memoryview(data)[start:end]


def _json_object(schema: pa.Schema) -> str:
    members = []
    for i, field in enumerate(schema):
        floating = pa.types.is_floating(field.type)
        value = f"if(isfinite(c{i}), c{i}, NULL)" if floating else f"c{i}"
        members.append(f"{_quoted(field.name)}, {value}")
    return f"CAST(json_object({', '.join(members)}) AS VARCHAR)"


def _csv_field(column: str, kind: pa.DataType, delimiter: str) -> str:
    """A value as CSV: nothing for null, quotes only where a reader needs them."""
    nested = pa.types.is_nested(kind)
    text = f"CAST({f'to_json({column})' if nested else column} AS VARCHAR)"
    if pa.types.is_primitive(kind):
        return f"coalesce({text}, '')"
    quoted = f"""'"' || replace({text}, '"', '""') || '"'"""
    # An empty string has quotes, or it would read back as null.
    needed = [f"{text} = ''"]
    needed += [f"contains({text}, chr({ord(special)}))" for special in ('"', "\n", "\r", delimiter)]
    return (
        f"CASE WHEN {column} IS NULL THEN '' WHEN {' OR '.join(needed)} THEN {quoted} "
        f"ELSE {text} END"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_TEXT_FORMATS: dict[str, Format] = {
    ".csv": partial(_delimited, ","),
    ".tsv": partial(_delimited, "\t"),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_array,
}
_BINARY_FORMATS: dict[str, Format] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
}
_COMPRESSIONS: dict[str, Compression] = {
    # No name and no time inside: the same rows give the same bytes.
    ".gz": lambda file: gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0),
    ".zst": lambda file: pa.CompressedOutputStream(file, "zstd"),
}


def _format_of(path: Path) -> tuple[Format, Compression | None]:
    """The format that the ending names, and the compression on top of it."""
    name = Path(path.name.lower())
    compress = _COMPRESSIONS.get(name.suffix)
    formats = _TEXT_FORMATS if compress else _TEXT_FORMATS | _BINARY_FORMATS
    ending = Path(name.stem).suffix if compress else name.suffix
    if ending not in formats:
        raise SinkError(
            f"{os.fspath(path)!r}: the ending of the name says the format, and it has to be "
            f"{', '.join(_BINARY_FORMATS)}, {', '.join(_TEXT_FORMATS)}, "
            "or one of the last five with .gz or .zst after it. Give a name with such an ending."
        )
    return formats[ending], compress
