"""A clean copy: the rows that stay, as they stand in their files wherever the format is the same.

Lines and records are copied by their bytes, and the rows of Parquet and Arrow with their types,
metadata and codecs. What goes into another format is converted.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias, cast

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import SinkError
from nearly.sinks.format import compression_of, ending_of, format_of, is_writable
from nearly.sinks.output import Outputs, is_file
from nearly.sinks.part_folder import check_parts
from nearly.sinks.place import blaming, check_place
from nearly.sinks.row_group import in_groups, plain_schema
from nearly.sinks.stored import stored_file

__all__ = ["STDOUT", "Copied", "check_copy", "write_copy"]

STDOUT = Path("-")
_ANY = sys.maxsize

#: Opens the file of that number.
OpenFile: TypeAlias = Callable[[int], AbstractContextManager[BinaryIO]]


class KeptPart(Protocol):
    """One file of a source, without the rows that go."""

    @property
    def name(self) -> str: ...
    @property
    def given(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def count(self) -> int: ...
    def is_own_format(self, ending: str) -> bool: ...
    def original(self) -> Any: ...
    def stored(self) -> Any: ...
    def __call__(self) -> Iterator[pa.RecordBatch]: ...


class Kept(Protocol):
    """All rows that stay."""

    schema: pa.Schema

    def parts(self) -> Sequence[KeptPart]: ...


@dataclass(frozen=True)
class Copied:
    """What was written: rows, files, and what could not be kept."""

    rows: int
    files: int = 1
    #: How they were written, where that is not as they stand.
    note: str = ""
    #: Rows that could not be read, and that the format has no way to hold.
    left_out: int = 0


def is_folder(place: Path) -> bool:
    """Whether a copy goes there file by file: its name has no ending."""
    return place != STDOUT and (not place.suffix or place.is_dir())


def check_copy(place: Path, *, lines: bool, sharded: bool, force: bool) -> None:
    """Refuse a place that is bound to fail, before the long work starts."""
    if sharded and not is_folder(place):
        raise SinkError(
            f"shards are files of a folder, and the output is {str(place)!r}; "
            "give the name of a folder, as in -o clean/"
        )
    if place == STDOUT:
        return
    if is_folder(place):
        check_parts(place, force=force)
        return
    if not lines:
        format_of(place)
    check_place(place, force=force)


def write_copy(
    outputs: Outputs,
    kept: Kept,
    place: Path,
    *,
    shard_rows: int | None = None,
    source_column: str | None = None,
) -> Copied:
    """Write the rows that stay to a file, a folder or, for `-`, to stdout."""
    parts = kept.parts()
    if source_column is not None and source_column in kept.schema.names:
        raise SinkError(
            f"there is a column {source_column!r} already; give another name for the source"
        )
    copy = _Copy(kept, parts, source_column)
    if place == STDOUT:
        return _write_to_stdout(copy)
    if not is_folder(place):
        return copy.to_file(ending_of(place), partial(_open_output, outputs, place))
    with outputs.folder(place) as folder, blaming(place):  # the errors of sources are no OSErrors
        return copy.to_shards(folder, shard_rows) if shard_rows else copy.to_folder(folder)


@dataclass(frozen=True)
class _Copy:
    """The rows that stay, on their way to files."""

    kept: Kept
    parts: Sequence[KeptPart]
    source_column: str | None

    def to_file(self, ending: str, open_file: OpenFile) -> Copied:
        """All rows in one file."""
        own = [part.is_own_format(ending) for part in self.parts]
        why = "the files have different headers, types or encodings"
        if all(own):
            copied = self._as_they_stand(open_file, _ANY)
            if copied is not None:
                return copied
        rows = 0
        with open_file(0) as file:
            rows = self._convert(file, ending, self._named_batches())
        note = self._note(ending, why if all(own) and len(self.parts) > 1 else "")
        left_out = sum(part.count for part in self.parts) - rows
        return Copied(rows, note=note, left_out=left_out)

    def to_folder(self, folder: Path) -> Copied:
        """Each file in one of the same name."""
        copies = []
        for i, name in enumerate(_names(self.parts)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            alone = _Copy(self.kept, [self.parts[i]], self.source_column)
            open_file = partial(_open_inside, folder / name)
            copies.append(alone.to_file(ending_of(Path(name)), open_file))
        return Copied(
            rows=sum(copied.rows for copied in copies),
            files=len(copies),
            note=next((copied.note for copied in copies if copied.note), ""),
            left_out=sum(copied.left_out for copied in copies),
        )

    def to_shards(self, folder: Path, most: int) -> Copied:
        """All rows in files of as many rows."""
        ending = _own_ending(self.parts[0])
        if not all(part.is_own_format(ending_of(Path(f"x{ending}"))) for part in self.parts):
            raise SinkError(
                "shards have the format of the input, and here that is not one that can be cut "
                "by rows; leave --shard-size out"
            )

        def open_shard(number: int) -> AbstractContextManager[BinaryIO]:
            return _open_inside(folder / f"part-{number:05}{ending}")

        copied = self._as_they_stand(open_shard, most)
        if copied is None:
            raise SinkError(
                "the files have different headers, types or encodings, so that their rows cannot "
                "share shards; leave --shard-size out"
            )
        return replace(copied, files=len(os.listdir(folder)))

    def _as_they_stand(self, open_file: OpenFile, most: int) -> Copied | None:
        """What was copied; None where the files do not go together."""
        originals = [part.original() for part in self.parts]
        if all(originals):
            self._refuse_source_column()
            originals = [o for o in originals if not o.is_blank] or originals[:1]
            if len({(original.head, original.layout) for original in originals}) > 1:
                return None
            note = next((original.note for original in originals if original.note), "")
            return Copied(_write_originals(originals, open_file, most), note=note)
        stored = [part.stored() for part in self.parts]
        if all(stored) and all(s.schema.equals(stored[0].schema) for s in stored):
            return Copied(self._write_stored(stored, open_file, most))
        return None

    def _write_stored(self, stored: Sequence[Any], open_file: OpenFile, most: int) -> int:
        schema = self._with_source(stored[0].schema)
        named = zip((part.name for part in self.parts), stored, strict=True)
        groups = (self._named(group, name) for name, its in named for group in its.groups)
        rows = 0
        for number, shard in enumerate(_in_shards(groups, most)):
            with open_file(number) as file, stored_file(file, schema, stored[0]) as write:
                for group in shard:
                    write(group)
                    rows += group.num_rows
        return rows

    def _convert(self, file: BinaryIO, ending: str, batches: Iterable[pa.RecordBatch]) -> int:
        schema = plain_schema(self._with_source(self.kept.schema))
        rows = 0
        with format_of(Path(f"x{ending}"))[0](file, schema) as write:
            for group in in_groups(batches, schema):
                write(group)
                rows += group.num_rows
        return rows

    def _named_batches(self) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            for batch in part():
                yield self._named(batch, part.name)

    def _named(self, rows: Any, name: str) -> Any:
        """A table or batch with the column of its source."""
        if self.source_column is None:
            return rows
        return rows.append_column(
            pa.field(self.source_column, pa.string()),
            string_array([name] * rows.num_rows, pa.string()),
        )

    def _with_source(self, schema: pa.Schema) -> pa.Schema:
        if self.source_column is None:
            return schema
        return schema.append(pa.field(self.source_column, pa.string()))

    def _refuse_source_column(self) -> None:
        if self.source_column is not None:
            raise SinkError(
                f"the rows of {self.parts[0].name} are copied as they stand, without a column "
                "more; write another format, as in -o clean.parquet, or leave --source-column out"
            )

    def _note(self, ending: str, why: str) -> str:
        """What is not kept of files that are written in another way."""
        if not any(part.path for part in self.parts):
            return ""
        return f"written anew as {ending.lstrip('.')}: {why or _lost(self.parts[0])}"


def _lost(part: KeptPart) -> str:
    if ending_of(Path(part.path)) in (".parquet", ".arrow", ".feather", ".ipc"):
        return "types and metadata as far as this format has them"
    if ending_of(Path(part.path)) in (".json", ".jsonl", ".ndjson"):
        return (
            "missing keys are null, lists and objects of several types become text, "
            "numbers beyond 64 bits are rounded"
        )
    return "values are kept, how they were spelled is not"


def _write_originals(originals: Sequence[Any], open_file: OpenFile, most: int) -> int:
    """The records of files one after the other, `most` in each file that is written."""
    rows = number = 0
    with ExitStack() as stack:
        target = _Target(stack.enter_context(open_file(number)), originals[0])
        room = most
        for original in originals:
            for records in original.records:
                while len(records) > room:
                    now, records = records.split(room)
                    target.write(now.data, original)
                    rows += len(now)
                    target.end()
                    stack.close()
                    number, room = number + 1, most
                    target = _Target(stack.enter_context(open_file(number)), originals[0])
                target.write(records.data, original)
                rows += len(records)
                room -= len(records)
        target.end()
    return rows


class _Target:
    """A file that takes the records of several."""

    def __init__(self, file: BinaryIO, original: Any) -> None:
        self._file = file
        self._first = self._last = original
        self._tail = b""
        file.write(original.head)

    def write(self, data: bytes, original: Any) -> None:
        """Records of a file; the last one of the file before may lack the end of its line."""
        if not data:
            return
        ends = self._last.line_ends
        if not self._tail:
            data = data.removeprefix(original.between)
        elif not original.between and original is not self._last and not self._tail.endswith(ends):
            self._file.write(ends[0])
        self._file.write(data)
        self._last, self._tail = original, data[-4:]

    def end(self) -> None:
        """Nothing comes after this."""
        self._file.write(self._first.tail)


def _in_shards(groups: Iterator[pa.Table], most: int) -> Iterator[Iterator[pa.Table]]:
    """Tables one after the other, in runs of `most` rows; the first may be without any."""
    waiting: list[pa.Table] = []

    def shard() -> Iterator[pa.Table]:
        room = most
        while room and (group := _next_group(waiting, groups)) is not None:
            now = group.slice(0, room)
            room -= now.num_rows
            if now.num_rows < group.num_rows:
                waiting.append(group.slice(now.num_rows))
            yield now

    yield shard()
    while (group := _next_group(waiting, groups)) is not None:
        waiting.append(group)
        yield shard()


def _next_group(waiting: list[pa.Table], groups: Iterator[pa.Table]) -> pa.Table | None:
    if waiting:
        return waiting.pop()
    return next((group for group in groups if group.num_rows), None)


def _names(parts: Sequence[KeptPart]) -> list[str]:
    """What the copies of files are called: as they are, below the folder that they share."""
    numbered = [f"part-{i:05}{_own_ending(part)}" for i, part in enumerate(parts)]
    paths = [part.given for part in parts]
    if not all(paths):
        return numbered
    shared = os.path.commonpath([os.path.dirname(path) for path in paths])
    names = [_name_of_copy(part, os.path.relpath(part.given, shared)) for part in parts]
    return names if len(set(names)) == len(names) else numbered  # a file may hold several tables


def _name_of_copy(part: KeptPart, name: str) -> str:
    ending = ending_of(Path(name))
    return _writable(name) if _can_hold(ending, part) else f"{name}{_own_ending(part)}"


def _writable(name: str) -> str:
    """Parquet and Arrow have codecs of their own, and are not compressed once more."""
    return name if is_writable(Path(name)) else os.path.splitext(name)[0]


def _own_ending(part: KeptPart, other: str = ".parquet") -> str:
    """The ending of a file of its format, with that of its compression; or another."""
    path = Path(part.path)
    ending = ending_of(path)
    if ending and _can_hold(ending, part):
        return _writable(f"x{ending}{path.suffix if compression_of(path) else ''}")[1:]
    endings = (".parquet", ".arrow", ".txt")  # what was piped in has no ending
    return next((ending for ending in endings if part.is_own_format(ending)), other)


def _can_hold(ending: str, part: KeptPart) -> bool:
    """Whether a file of that ending can be written: spreadsheets and databases are only read."""
    return part.is_own_format(ending) or is_file(f"x{ending}")


@contextmanager
def _open_output(outputs: Outputs, place: Path, _number: int) -> Iterator[BinaryIO]:
    with outputs.open(place) as file, _compressed(file, place) as target:
        yield target


@contextmanager
def _open_inside(path: Path, _number: int = 0) -> Iterator[BinaryIO]:
    """A file of a folder that is not there yet."""
    with open(path, "xb") as file:
        with _compressed(file, path) as target:
            yield target
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _compressed(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    compress = compression_of(path)
    if compress is None:
        yield file
        return
    with compress(file) as target:
        yield target


def _write_to_stdout(copy: _Copy) -> Copied:
    """In the format of the input; nothing goes out before all of it could be written."""
    part = copy.parts[0]
    ending = ending_of(Path(f"x{_own_ending(part, '.jsonl')}"))
    with tempfile.TemporaryFile() as whole:

        @contextmanager
        def opened(_number: int) -> Iterator[BinaryIO]:
            yield cast(BinaryIO, whole)

        copied = copy.to_file(ending, opened)
        whole.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return copied
