"""Text files: a document a file, or a document a line."""

import io
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from nearly.arrays import string_array, utf8_array
from nearly.errors import UnreadableError
from nearly.sources import part
from nearly.sources.cut_text import Gaps, cut_places
from nearly.sources.formats.document import FORMATS, document_content
from nearly.sources.formats.encoding import (
    NotTextError,
    bare_ending,
    decompressed,
    open_bytes,
    open_text,
    without_surrogates,
)
from nearly.sources.formats.soundness import NOT_UTF_8
from nearly.sources.part import Cut, Part, Reject, bytes_of_file
from nearly.sources.record import Encoded, Original, Records, open_original, original_lines

__all__ = ["LinesPart", "TextFilesPart"]

#: Endings that ask for a table.
_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".ipc")


class TextFilesPart(Part):
    """Files that are one document each; a file that is no text is a row of null text."""

    def __init__(
        self,
        name: str,
        paths: Mapping[str, str],
        left_out: Sequence[tuple[str, str]] = (),
        encodings: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.schema = pa.schema([("id", pa.string()), ("text", pa.large_string())])
        self._ids = list(paths)
        self._paths = paths
        self._left_out = left_out
        self._encodings = encodings or {}
        self._is_alone = len(paths) == 1 and not left_out
        self._reasons: dict[int, str] = {}
        self._digests: _Digests | None = None

    def keep_digests(self) -> Mapping[str, tuple[str, int]]:
        self._digests = _Digests(self._ids)
        return self._digests

    @property
    def files(self) -> Sequence[str]:
        return [os.path.abspath(path) for path in self._paths.values()]

    def batches(
        self,
        columns: Sequence[str] | None,  # noqa: ARG002
        reject: Reject,
    ) -> Iterator[pa.RecordBatch]:
        for record, reason in self._left_out:
            reject(record, reason)
        start, size = 0, 0
        texts: list[bytes | None] = []
        for row in range(len(self._ids)):
            texts.append(text := self._text(row))
            size += len(text or b"")
            if len(texts) == part.BATCH_ROWS or size >= part.BATCH_BYTES:
                yield self._batch(start, texts)
                start, size, texts = row + 1, 0, []
        if texts:
            yield self._batch(start, texts)

    def record(self, row: int) -> str:
        return self._ids[row]

    def why_null(self, row: int) -> str:
        return self._reasons[row]

    def cut(self, size: int) -> list[Cut]:
        runs: list[tuple[dict[str, str], int]] = []
        for shown, path in self._paths.items():
            length = bytes_of_file(path)
            if not runs or runs[-1][1] + length > size:
                runs.append(({}, 0))
            run, total = runs[-1]
            run[shown] = os.path.abspath(path)
            runs[-1] = run, total + length
        return [
            Cut(self._with_files(run, self._left_out if i == 0 else ()), len(run), total)
            for i, (run, total) in enumerate(runs)
        ]

    def _with_files(
        self, paths: Mapping[str, str], left_out: Sequence[tuple[str, str]]
    ) -> "TextFilesPart":
        encodings = {shown: e for shown, e in self._encodings.items() if shown in paths}
        some = TextFilesPart(self.name, paths, left_out, encodings)
        some._is_alone = self._is_alone
        return some

    def apart(self, rows: int) -> Sequence[tuple[Part, int]]:  # noqa: ARG002 - a row is a file
        return [
            (_WholeFilePart(shown, path, self._encodings.get(shown)), 1)
            for shown, path in self._paths.items()
        ]

    def _batch(self, start: int, texts: list[bytes | None]) -> pa.RecordBatch:
        ids = self._ids[start : start + len(texts)]
        arrays = [string_array(ids, pa.string()), utf8_array(texts)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _text(self, row: int) -> bytes | None:
        path = self._paths[self._ids[row]]
        try:
            encoding = self._encodings.get(self._ids[row])
            text = document_content(self._bytes(row, path), path, encoding)
            return text if isinstance(text, bytes) else text.encode()
        except NotTextError as error:
            reason = str(error)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
        if self._is_alone:
            needed = "" if bare_ending(path) in FORMATS else " A text file is needed."
            raise UnreadableError(f"{self._ids[row]}: {reason}.{needed}")
        self._reasons[row] = reason
        return None

    def _bytes(self, row: int, path: str) -> bytes:
        if self._digests is None:
            with open_bytes(path) as file:
                return file.read()
        # Whole, because what is hashed has to be what is decompressed.
        with open(path, "rb") as raw:
            data = raw.read()
        self._digests.add(row, data)
        with decompressed(io.BytesIO(data), path) as file:
            return file.read()


class _WholeFilePart(TextFilesPart):
    """One file that is one document, and one record of bytes."""

    def __init__(self, shown: str, path: str, encoding: str | None) -> None:
        super().__init__(shown, {shown: path}, (), {} if encoding is None else {shown: encoding})
        self._is_alone = False
        self.path = self.given = os.path.abspath(path)
        self.encoded = None if encoding is None else Encoded(self.path, encoding)

    def is_own_format(self, ending: str) -> bool:
        return ending == bare_ending(self.path) and ending not in FORMATS

    def original(self) -> Original | None:
        if bare_ending(self.path) in FORMATS:
            return None
        file, layout = open_original(self.path)
        with file:
            data = file.read()
        if self.encoded is not None:
            data = data.decode(self.encoded.codec, "surrogateescape").encode(
                "utf-8", "surrogateescape"
            )
        whole = Records(data, np.zeros(1, np.int64), np.array([len(data)], np.int64))
        return Original(layout, layout.mark, iter([whole]))

    def cut_record(self, record: str, column: str, gaps: Gaps) -> str:  # noqa: ARG002
        return gaps.cut(record)


class _Digests(Mapping[str, tuple[str, int]]):
    """A SHA-256 and a size per row: 40 bytes each, because there may be millions."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self._sums = bytearray(32 * len(ids))
        self._sizes = array("q", [-1]) * len(ids)

    def add(self, row: int, data: bytes) -> None:
        import hashlib

        self._sums[32 * row : 32 * row + 32] = hashlib.sha256(data).digest()
        self._sizes[row] = len(data)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self._ids) if self._sizes[row] >= 0}

    def __getitem__(self, name: str) -> tuple[str, int]:
        row = self._rows[name]
        return self._sums[32 * row : 32 * row + 32].hex(), self._sizes[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class LinesPart(Part):
    """One text file whose lines are the documents; a line that is no text is null."""

    noun = "line"

    def __init__(self, path: str, name: str) -> None:
        self.name = name
        self.schema = pa.schema([("text", pa.large_string())])
        self.path = os.path.abspath(path)
        self._reasons: dict[int, str] = {}

    def batches(
        self,
        columns: Sequence[str] | None,  # noqa: ARG002
        reject: Reject,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        first = 0
        try:
            with open_text(self.path, newline="\n") as stream:
                for lines in _groups(stream):
                    count = len(lines)
                    yield self._batch(first, lines)
                    first += count
        except (OSError, UnicodeError) as error:
            raise UnreadableError(f"{self.name} cannot be read: {error}") from error

    def why_null(self, row: int) -> str:
        return self._reasons[row]

    def is_own_format(self, ending: str) -> bool:
        return ending == bare_ending(self.path) or ending not in _TABLES

    def original(self) -> Original:
        return original_lines(self.path, blank=True)

    def cut_record(self, record: str, column: str, gaps: Gaps) -> str:  # noqa: ARG002
        return cut_places(record, range(len(record.rstrip("\r\n")) + 1), gaps)

    def _batch(self, first: int, lines: list[str]) -> pa.RecordBatch:
        texts = [line.rstrip("\r\n") for line in lines]
        lines.clear()  # one of them may be all that fits
        checked: list[str | None] = list(texts)
        self._reasons = {}
        for i, text in enumerate(texts):
            if not text.isprintable() and (reason := _why_no_text(text)):
                self._reasons[first + i] = reason
                checked[i] = None
        self.broken = list(self._reasons)
        return pa.RecordBatch.from_arrays([string_array(checked)], schema=self.schema)


def _groups(stream: io.TextIOWrapper) -> Iterator[list[str]]:
    """Some lines at a time, in a list that is for the taker to empty."""
    while lines := stream.readlines(part.BATCH_BYTES):
        while lines:
            some, lines = lines[: part.BATCH_ROWS], lines[part.BATCH_ROWS :]
            yield some


def _why_no_text(text: str) -> str | None:
    if "\0" in text:
        return "binary: a NUL byte"
    return None if without_surrogates(text) else NOT_UTF_8
