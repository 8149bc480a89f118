"""CSV and TSV files read row by row in Python, with every bad row listed by its line."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import SourceError, UnreadableError
from nearly.sources import part
from nearly.sources.formats.encoding import open_text, without_surrogates
from nearly.sources.part import Reject

__all__ = ["CarefulCsv"]

#: The longest line and the longest value, in characters: the reader takes four bytes for each.
LONGEST = 1 << 25
SAMPLE_ROWS = 1_000
DELIMITERS = (",", ";", "\t", "|")

#: Refused by the strict reader whether or not a quote is open, which brings it back to
#: the beginning of a row: it stands for a line too long to be read.
_POISON = 'x\nx"x'


class CarefulCsv:
    """One CSV or TSV file with a header; every value is a string, an empty one is null."""

    def __init__(self, path: str, name: str, *, delimiter: str | None) -> None:
        self._path = path
        self._name = name
        with self._named_errors():
            self.delimiter = delimiter or _delimiter_of(path)
        header, self.sample = self._peek()
        self.schema = pa.schema([(column, pa.large_string()) for column in header])

    def __getstate__(self) -> dict[str, Any]:
        # Only guesses need the sample, and they are made before anything is sent away.
        return {**self.__dict__, "sample": []}

    def batches(self, reject: Reject) -> Iterator[pa.RecordBatch]:
        """All good rows in order, with all columns: each is checked, so each is read."""
        lines: list[int] = []
        rows: list[list[str]] = []
        size = 0
        for line, row in self._rows(reject):
            lines.append(line)
            rows.append(row)
            size += sum(map(len, row))
            if len(rows) == part.BATCH_ROWS or size >= part.BATCH_BYTES:
                yield self._batch(lines, rows, reject)
                lines, rows, size = [], [], 0
        if rows:
            yield self._batch(lines, rows, reject)

    def _batch(self, lines: list[int], rows: list[list[str]], reject: Reject) -> pa.RecordBatch:
        try:
            return self._arrays(rows)
        except UnicodeEncodeError:
            good = []
            for line, row in zip(lines, rows, strict=True):
                if without_surrogates("".join(row)):
                    good.append(row)
                else:
                    reject(f"line {line}", "not valid UTF-8")
            return self._arrays(good)

    def _arrays(self, rows: list[list[str]]) -> pa.RecordBatch:
        values = list(zip(*rows, strict=True)) or [() for _ in self.schema]
        arrays = [
            string_array([value or None for value in column] if "" in column else column)
            for column in values
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _rows(self, reject: Reject) -> Iterator[tuple[int, list[str]]]:
        """Each good row after the header with its line; the bad ones are rejected."""
        width = len(self.schema)
        for first, last, row in self._records():
            if isinstance(row, csv.Error):
                reject(_lines_from(first, last), _explained(row))
            elif len(row) == width and first > self._header_line:
                yield first, row
            elif row and first > self._header_line:
                values = "1 value" if len(row) == 1 else f"{len(row)} values"
                reject(f"line {first}", f"{values} where the header has {width}")

    def _records(self) -> Iterator[tuple[int, int, list[str] | csv.Error]]:
        """Every record, the header too, with its first and last line."""
        # The limit belongs to the whole process, and its default is less than a long article.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        with self._named_errors(), open_text(self._path, newline="") as stream:
            reader = csv.reader(_bounded_lines(stream), delimiter=self.delimiter, strict=True)
            while True:
                first = reader.line_num + 1
                try:
                    row: list[str] | csv.Error = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    row = error
                yield first, reader.line_num, row

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, UnicodeError) as error:
            raise UnreadableError(f"{self._name} cannot be read: {error}") from error

    def _peek(self) -> tuple[list[str], list[list[str]]]:
        """The header, and some rows that show what the columns hold."""
        records = self._records()
        try:
            for first, _, row in records:
                if isinstance(row, csv.Error):
                    raise UnreadableError(f"the header of {self._name} is broken: {row}")
                if not without_surrogates("".join(row)):
                    raise UnreadableError(f"the header of {self._name} is not valid UTF-8.")
                if row:
                    self._header_line = first
                    return row, _sample(records, len(row))
        finally:
            records.close()  # type: ignore[attr-defined]
        raise SourceError(f"{self._name} is empty. A table begins with the names of its columns.")


def _sample(
    records: Iterator[tuple[int, int, list[str] | csv.Error]], width: int
) -> list[list[str]]:
    rows: list[list[str]] = []
    for _, _, row in records:
        if isinstance(row, list) and len(row) == width:
            rows.append(row)
        if len(rows) == SAMPLE_ROWS:
            break
    return rows


def _bounded_lines(stream: io.TextIOWrapper) -> Iterator[str]:
    """The lines of a file, where a line that would fill the memory is made unreadable."""
    while line := stream.readline(LONGEST):
        if len(line) == LONGEST and line[-1] not in "\r\n":
            while (rest := stream.readline(LONGEST)) and rest[-1] not in "\r\n":
                pass
            line = _POISON
        yield line


def _delimiter_of(path: str) -> str:
    """The likeliest delimiter of the header, looking outside its quotes."""
    with open_text(path, newline="") as stream:
        header = re.sub(r'"[^"]*"', "", stream.readline(LONGEST))
    return max(DELIMITERS, key=header.count)


def _lines_from(first: int, last: int) -> str:
    return f"line {first}" if first >= last else f"lines {first} to {last}"


def _explained(error: csv.Error) -> str:
    """What the reader's message means to the owner of the file."""
    message = str(error)
    if "new-line" in message or "field larger" in message:
        return (
            f"a value or a line of more than {LONGEST:,} characters; "
            "give so long a text a file of its own, or use Parquet"
        )
    if "end of data" in message:
        return "a quote is opened and never closed"
    return f"a quoted value goes on after its closing quote ({message})"
