"""Lines of JSON without their long strings, which are read once they are asked for.

DuckDB makes room for several times the longest object of a file, for each thread. So it is given
a copy in which a short mark stands for each long string, and the strings are put back afterwards.
"""

import json
import re
import secrets
from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import utf8_array
from nearly.sources import part

__all__ = ["Abridged"]

#: Bytes of a string for which a mark stands.
LONG = 2**20
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]', re.DOTALL)
#: A string that every reader of JSON takes, and takes for the same: no half of a pair, no NUL.
_SOUND = re.compile(
    rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb'|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"'
)
_COLON = re.compile(rb"[ \t\r\n]*:")


class Abridged:
    """A file and its copy: a mark says where in the file its string begins and ends."""

    def __init__(self, source: str, copy: str, longest: int) -> None:
        self.copy = copy
        self._source = source
        self._mark = secrets.token_hex(16)
        place = 0
        with open(source, "rb") as file, open(copy, "wb") as target:
            for line in file:
                target.write(line if len(line) <= longest else self._short(line, place))
                place += len(line)

    def _short(self, line: bytes, place: int) -> bytes:
        """A line with marks for the long values of its object; nothing deeper is touched."""
        pieces, end, depth = [], 0, 0
        for token in _TOKEN.finditer(line):
            first, last = token.span()
            kind = line[first : first + 1]
            if kind != b'"':
                depth += 1 if kind in b"{[" else -1
            elif depth == 1 and last - first > LONG and _is_sound_value(line, first, last):
                mark = f'"{self._mark}:{place + first}:{place + last}"'
                pieces += [line[end:first], mark.encode()]
                end = last
        return b"".join([*pieces, line[end:]])

    def restored(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The rows with their strings, some at a time."""
        marked = [
            place
            for place, column in enumerate(batch.columns)
            if _is_text(column.type) and pc.any(pc.starts_with(column, self._mark)).as_py()
        ]
        if not marked:
            yield batch
            return
        start = size = 0
        for row in range(batch.num_rows):
            size += sum(self._length(batch.column(place)[row].as_py()) for place in marked)
            if size >= part.BATCH_BYTES or row + 1 == batch.num_rows:
                yield self._restored(batch.slice(start, row + 1 - start), marked)
                start, size = row + 1, 0

    def _length(self, value: str | None) -> int:
        if value is None or not value.startswith(self._mark):
            return len(value or "")
        _, first, last = value.split(":")
        return int(last) - int(first)

    def _restored(self, batch: pa.RecordBatch, marked: list[int]) -> pa.RecordBatch:
        columns = list(batch.columns)
        for place in marked:
            values = [self._value(value) for value in columns[place].to_pylist()]
            columns[place] = utf8_array(values).cast(columns[place].type)
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def _value(self, value: str | None) -> bytes | None:
        if value is None or not value.startswith(self._mark):
            return None if value is None else value.encode()
        _, first, last = value.split(":")
        with open(self._source, "rb") as file:
            file.seek(int(first))
            try:
                return _said(file, int(last) - int(first))
            except ValueError as error:
                raise OSError("it was changed while it was read") from error


def _is_sound_value(line: bytes, first: int, last: int) -> bool:
    if _COLON.match(line, last) or not _SOUND.fullmatch(line, first, last):
        return False
    try:
        str(memoryview(line)[first:last], "utf-8")
    except UnicodeError:
        return False
    return True


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _said(file: IO[bytes], size: int) -> bytes:
    """What the next string of a file says; no more than two forms of it are held at once."""
    written = file.read(size)
    if b"\\" not in written:
        return written[1:-1]
    text = written.decode()
    del written
    value: str = json.loads(text)
    del text
    return value.encode()
