"""JSON without its long strings, which are read once they are asked for.

DuckDB makes room for several times the longest object of a file, for each thread. So it is given
a copy in which a short mark stands for each long string, and the strings are put back afterwards.
"""

import codecs
import json
import os
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import utf8_array
from nearly.mapping import let_go, mapped
from nearly.sources import part
from nearly.sources.item import is_list

__all__ = ["LONG", "PIECE", "Abridged", "Marked", "is_utf_8"]

#: Bytes of a string for which a mark stands.
LONG = 2**20
#: Bytes that are looked at together.
PIECE = 2**20
CHANGED = "it was changed while it was read"
#: Some short strings and what is between them, any string, or where a level begins or ends.
_TOKEN = re.compile(
    rb'(?:[^"{}\[\]]{1,9999}+|"[^"\\]{0,99}+"){1,9999}+|("(?:[^"\\]++|\\.)*+"?)|[{}\[\]]', re.DOTALL
)
#: A string that is JSON, but for its encoding: no half of a pair, no unknown escape.
_SOUND = re.compile(
    rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb'|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"'
)
#: One that is not, as every reader says: it stands for any that is not.
_UNSOUND = rb'"\ud800"'
#: Whole characters of a sound string, as they are written.
_CHARACTERS = re.compile(
    r"(?:[^\\]++|\\[^u]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
#: DuckDB writes these escapes with capitals.
_ESCAPED = re.compile(r"\\u00[01][0-9a-f]|\\.")
_COLON = re.compile(rb"[ \t\r\n]*:")
_STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}


class Marked(ABC):
    """A file and its copy: a mark says where in the file its string begins and ends."""

    def __init__(self, source: str, copy: str) -> None:
        self.copy = copy
        self._source = source
        self._secret = secrets.token_hex(16)
        self._marks = re.compile(rf'"?{self._secret}:(\d+):(\d+)"?')
        self._state = _state_of(os.stat(source))

    def _mark(self, first: int, last: int) -> str:
        return f"{self._secret}:{first}:{last}"

    @abstractmethod
    def _said(self, file: IO[bytes], size: int) -> bytes:
        """What the next bytes of the file say; ValueError if they are not what they were."""

    def restored(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The rows with their strings, some at a time."""
        marked = [place for place, column in enumerate(batch.columns) if self._is_marked(column)]
        if not marked:
            yield batch
            return
        start = size = 0
        for row in range(batch.num_rows):
            size += sum(self._length(batch.column(place)[row].as_py()) for place in marked)
            if size >= part.BATCH_BYTES or row + 1 == batch.num_rows:
                yield self._restored(batch.slice(start, row + 1 - start), marked)
                start, size = row + 1, 0

    def _is_marked(self, column: pa.Array) -> bool:
        """Whether a string of the column, or deeper in it, has a mark."""
        if _is_text(column.type):
            return bool(pc.any(pc.match_substring(column, self._secret)).as_py())
        if pa.types.is_map(column.type):
            return self._is_marked(column.keys) or self._is_marked(column.items)
        if pa.types.is_struct(column.type):
            return any(map(self._is_marked, column.flatten()))
        return is_list(column.type) and self._is_marked(column.flatten())

    def _length(self, value: object) -> int:
        """Bytes of the strings that are to be put back."""
        if isinstance(value, str):
            return sum(int(last) - int(first) for first, last in self._marks.findall(value))
        if isinstance(value, dict):
            return sum(map(self._length, value.values()))
        return sum(map(self._length, value)) if isinstance(value, list | tuple) else 0

    def _restored(self, batch: pa.RecordBatch, marked: list[int]) -> pa.RecordBatch:
        columns = list(batch.columns)
        for place in marked:
            kind = columns[place].type
            values = [self._value(value) for value in columns[place].to_pylist()]
            is_text = _is_text(kind)
            columns[place] = utf8_array(values).cast(kind) if is_text else pa.array(values, kind)
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def _value(self, value: Any) -> Any:
        """With its strings, as bytes."""
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, dict):
            return {name: self._value(member) for name, member in value.items()}
        return type(value)(map(self._value, value)) if isinstance(value, list | tuple) else value

    def _string(self, value: str) -> bytes:
        if value.startswith(self._secret):
            return self._read(*value.split(":")[1:])
        pieces, end = [], 0
        for mark in self._marks.finditer(value):  # in a value of any kind, which is given as JSON
            said = json.dumps(self._read(*mark.groups()).decode(), ensure_ascii=False)
            pieces += [value[end : mark.start()], _ESCAPED.sub(_in_capitals, said)]
            end = mark.end()
        return "".join([*pieces, value[end:]]).encode()

    def _read(self, first: str, last: str) -> bytes:
        with open(self._source, "rb") as file:
            if _state_of(os.fstat(file.fileno())) != self._state:
                raise OSError(CHANGED)
            file.seek(int(first))
            try:
                return self._said(file, int(last) - int(first))
            except ValueError as error:
                raise OSError(CHANGED) from error


class Abridged(Marked):
    """JSON, in which strings are marked.

    Lines of at most `longest` bytes stay as they are; without it, the file is one text: an array,
    or objects one after the other.
    """

    def __init__(self, source: str, copy: str, longest: int | None) -> None:
        super().__init__(source, copy)
        with open(source, "rb") as file, open(copy, "wb") as target:
            if longest is None:
                self._write_short(mapped(file.fileno(), file.seek(0, 2)), 0, target)
                let_go()
                return
            place = 0
            for line in file:
                if len(line) <= longest:
                    target.write(line)
                else:
                    text = memoryview(line)[: len(line) - line.endswith(b"\n")]
                    self._write_short(text, place, target)
                    target.write(line[len(text) :])
                place += len(line)

    def _write_short(self, text: memoryview, place: int, target: IO[bytes]) -> None:
        """A text with marks for the long strings in its objects, however deep."""
        in_object = 2 if bytes(text[:64]).lstrip(b" \t\r\n").startswith(b"[") else 1
        end = depth = 0
        for token in _TOKEN.finditer(text):
            first, last = token.span()
            if token.lastindex is None:
                depth += _STEPS.get(text[first], 0)
            elif depth >= in_object and last - first > LONG and not _COLON.match(text, last):
                mark = f'"{self._mark(place + first, place + last)}"'.encode()
                target.write(text[end:first])
                target.write(mark if _is_sound(text, first, last) else _UNSOUND)
                end = last
            if end < first - PIECE:
                target.write(text[end:first])
                end = first
                let_go()
        target.write(text[end:])

    def _said(self, file: IO[bytes], size: int) -> bytes:
        """What the next string of a file says; as text it would take up to four times as much."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        pieces, pending = [], ""
        file.seek(1, 1)
        for start in range(0, size - 2, PIECE):
            pending += decoder.decode(file.read(min(PIECE, size - 2 - start)))
            found = _CHARACTERS.match(pending)
            end = found.end() if found else 0
            pieces.append(json.loads(f'"{pending[:end]}"').encode())
            pending = pending[end:]
        if pending:
            raise ValueError
        return b"".join(pieces)


def _is_sound(text: memoryview, first: int, last: int) -> bool:
    return bool(_SOUND.fullmatch(text, first, last)) and is_utf_8(text, first, last)


def is_utf_8(text: memoryview, first: int, last: int) -> bool:
    """Whether these bytes are, without a second copy of them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(first, last, PIECE):
            end = min(start + PIECE, last)
            decoder.decode(text[start:end], final=end == last)
    except UnicodeError:
        return False
    return True


def _in_capitals(escape: re.Match[str]) -> str:
    written = escape.group()
    return f"\\u{written[2:].upper()}" if written.startswith("\\u") else written


def _state_of(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
