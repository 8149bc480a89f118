"""CSV and TSV files read record by record in Python; a bad record is a row of nulls."""

import csv
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import SourceError, UnreadableError
from nearly.sources import part
from nearly.sources.formats.abridged_csv import AbridgedCsv
from nearly.sources.formats.csv_feed import Fed, LongRecordError
from nearly.sources.formats.csv_record import LongError, UnclearError, quoted_records
from nearly.sources.formats.database import Database
from nearly.sources.formats.encoding import open_text, without_surrogates, write_plain
from nearly.sources.formats.soundness import NOT_UTF_8
from nearly.sources.record import STRETCH, Layout, Original, Records, open_original

__all__ = ["BadRow", "CarefulCsv"]

#: Characters of a record from which on its long values are read apart.
ABRIDGED_FROM = 1 << 22
#: The longest line and the longest value, in characters, of a file in which quotes do not tell
#: where values end: the reader takes four bytes for each.
LONGEST = 1 << 25
SAMPLE_ROWS = 1_000
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class BadRow:
    """A record that is no row of the table: the lines it takes, and why."""

    lines: str
    reason: str


#: Rows, and the bad ones by their place among them.
Found = tuple[pa.RecordBatch, dict[int, BadRow]]


@dataclass(frozen=True)
class _Record:
    """One record, the header too, and its text as it stands where that was asked for."""

    first: int
    last: int
    values: list[str] | csv.Error
    text: str


class CarefulCsv:
    """One CSV or TSV file with a header; every value is a string, an empty one is null."""

    def __init__(self, database: Database, path: str, name: str, *, delimiter: str | None) -> None:
        self._database = database
        self._path = path
        self._name = name
        with self._named_errors():
            self.delimiter = delimiter or _delimiter_of(path)
        header, self.sample = self._peek()
        self.schema = pa.schema([(column, pa.large_string()) for column in header])

    def __getstate__(self) -> dict[str, Any]:
        # Only guesses need the sample, and they are made before anything is sent away.
        state = {**self.__dict__, "sample": []}
        state.pop("_abridged", None)
        return state

    def batches(self) -> Iterator[Found]:
        """All rows in order, with all columns, and the bad ones by their place in the batch."""
        given = 0
        try:
            for found in self._batches(self._path, ABRIDGED_FROM):
                yield found
                given += found[0].num_rows
        except LongRecordError:
            yield from _after(given, self._long_batches())

    def _long_batches(self) -> Iterator[Found]:
        """The same, where values are long."""
        if self._abridged is None:
            yield from self._batches(self._path)
            return
        for batch, bad in self._batches(self._abridged.copy):
            first = 0
            for some in self._abridged.restored(batch):
                yield some, _shifted(bad, first, some.num_rows)
                first += some.num_rows

    @cached_property
    def _abridged(self) -> AbridgedCsv | None:
        """What is read in place of a file with long values; None where quotes do not tell."""
        folder = tempfile.mkdtemp(dir=self._database.folder)
        with self._named_errors():
            source = os.path.join(folder, "plain.csv")
            write_plain(self._path, source)  # a file that others may shorten cannot be mapped
            try:
                return AbridgedCsv(source, os.path.join(folder, "abridged.csv"), self.delimiter)
            except UnclearError:
                shutil.rmtree(folder)
                return None

    def _batches(self, path: str, most: int | None = None) -> Iterator[Found]:
        lines: list[int] = []
        rows: list[list[str]] = []
        bad: dict[int, BadRow] = {}
        size = 0
        for line, row in self._rows(path, most):
            if isinstance(row, BadRow):
                bad[len(rows)] = row
                row = [""] * len(self.schema)
            lines.append(line)
            rows.append(row)
            size += sum(map(len, row))
            if len(rows) == part.BATCH_ROWS or size >= part.BATCH_BYTES:
                yield self._batch(lines, rows, bad), bad
                lines, rows, bad, size = [], [], {}, 0
        if rows:
            yield self._batch(lines, rows, bad), bad

    def original(self) -> Original:
        """The file as it stands: its header, and the bytes of each row, bad ones too."""
        file, layout = open_original(self._path)
        file.close()
        records = self._cut_records()
        head = layout.mark
        while len(first := next(records)) == 0:
            head += first.data
        header = int(first.ends[0])
        places = first.starts[1:] - header, first.ends[1:] - header
        rest = Records(first.data[header:], *places)
        return Original(layout, head + first.data[:header], itertools.chain([rest], records))

    def _cut_records(self) -> Iterator[Records]:
        """By counting quotes, and from where that does not do, by reading."""
        given = 0
        with self._named_errors():
            file, layout = open_original(self._path)
            try:
                with file:
                    for records in quoted_records(file, layout, self.delimiter, ABRIDGED_FROM):
                        yield records
                        given += len(records.data)
                return
            except LongError:
                are_quoted = self._abridged is not None
            except UnclearError:
                are_quoted = False
            if are_quoted:
                yield from self._long_records(given)
            else:
                yield from self._read_records(layout, given)

    def _long_records(self, given: int) -> Iterator[Records]:
        """The records after the first `given` bytes, however long."""
        file, layout = open_original(self._path)
        with file:
            while given:
                given -= len(file.read(min(given, STRETCH)))
            yield from quoted_records(file, layout, self.delimiter, sys.maxsize)

    def _read_records(self, layout: Layout, given: int) -> Iterator[Records]:
        """The records after the first `given` bytes."""
        read = 0
        stretch = _Stretch()
        for found in self._records(self._path, with_text=True):
            data = layout.encode(found.text)
            read += len(data)
            if read > given:
                stretch.add(data, is_record=found.values != [])
            if stretch.size >= STRETCH:
                yield stretch.records()
                stretch = _Stretch()
        yield stretch.records()

    def _batch(
        self, lines: list[int], rows: list[list[str]], bad: dict[int, BadRow]
    ) -> pa.RecordBatch:
        try:
            return self._arrays(rows)
        except UnicodeEncodeError:
            for i, (line, row) in enumerate(zip(lines, rows, strict=True)):
                if not without_surrogates("".join(row)):
                    bad[i] = BadRow(f"line {line}", NOT_UTF_8)
                    rows[i] = [""] * len(row)
            return self._arrays(rows)

    def _arrays(self, rows: list[list[str]]) -> pa.RecordBatch:
        arrays = [
            string_array([value or None for value in column] if "" in column else column)
            for column in zip(*rows, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _rows(self, path: str, most: int | None) -> Iterator[tuple[int, list[str] | BadRow]]:
        """Each row after the header with its line; blank lines are none."""
        width = len(self.schema)
        for found in self._records(path, most):
            row = found.values
            if found.first <= self._header_line or row == []:
                continue
            if isinstance(row, csv.Error):
                yield found.first, BadRow(_lines_from(found.first, found.last), _explained(row))
            elif len(row) == width:
                yield found.first, row
            else:
                values = "1 value" if len(row) == 1 else f"{len(row)} values"
                reason = f"{values} where the header has {width}"
                yield found.first, BadRow(f"line {found.first}", reason)

    def _records(
        self, path: str, most: int | None = None, *, with_text: bool = False
    ) -> Iterator[_Record]:
        """Every record, the header and blank lines too; LongRecordError past `most` characters."""
        # The limit belongs to the whole process, and its default is less than a long article.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        taken: list[str] | None = [] if with_text else None
        fed = Fed(most)
        with self._named_errors(), open_text(path, newline="") as stream:
            lines = fed.lines(stream, LONGEST, taken)
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            while True:
                first = reader.line_num + 1
                try:
                    row: list[str] | csv.Error = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    row = error
                yield _Record(first, reader.line_num, row, "".join(taken or ()))
                fed.size = 0
                if taken:
                    taken.clear()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, UnicodeError) as error:
            raise UnreadableError(f"{self._name} cannot be read: {error}") from error

    def _peek(self) -> tuple[list[str], list[list[str]]]:
        """The header, and some rows that show what the columns hold."""
        records = self._records(self._path, ABRIDGED_FROM)
        try:
            for found in records:
                row = found.values
                if isinstance(row, csv.Error):
                    raise UnreadableError(f"the header of {self._name} is broken: {row}")
                if not without_surrogates("".join(row)):
                    raise UnreadableError(f"the header of {self._name} is not valid UTF-8.")
                if "\0" in "".join(row):
                    raise UnreadableError(f"the header of {self._name} has a NUL byte.")
                if row:
                    self._header_line = found.first
                    return row, _sample(records, len(row))
        except LongRecordError:
            raise UnreadableError(
                f"the header of {self._name} is longer than {ABRIDGED_FROM:,} characters. "
                "Check whether it is a table."
            ) from None
        finally:
            records.close()  # type: ignore[attr-defined]
        raise SourceError(f"{self._name} is empty. A table begins with the names of its columns.")


def _sample(records: Iterator[_Record], width: int) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(LongRecordError):
        for found in records:
            if isinstance(found.values, list) and len(found.values) == width:
                rows.append(found.values)
            if len(rows) == SAMPLE_ROWS:
                break
    return rows


def _after(given: int, batches: Iterator[Found]) -> Iterator[Found]:
    """All but the first `given` rows."""
    first = 0
    for batch, bad in batches:
        if first + batch.num_rows > given:
            skip = max(0, given - first)
            yield batch.slice(skip), _shifted(bad, skip, batch.num_rows)
        first += batch.num_rows


def _shifted(bad: dict[int, BadRow], first: int, rows: int) -> dict[int, BadRow]:
    return {row - first: why for row, why in bad.items() if first <= row < first + rows}


class _Stretch:
    """Records that are put together."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, data: bytes, *, is_record: bool) -> None:
        """The next bytes of the file."""
        if is_record:
            self._starts.append(self.size)
            self._ends.append(self.size + len(data))
        self._pieces.append(data)
        self.size += len(data)

    def records(self) -> Records:
        """All of it."""
        places = np.array(self._starts, np.int64), np.array(self._ends, np.int64)
        return Records(b"".join(self._pieces), *places)


def _delimiter_of(path: str) -> str:
    """The likeliest delimiter of the header, looking outside its quotes."""
    with open_text(path, newline="") as stream:
        line = stream.readline(LONGEST)
        while line in ("\n", "\r", "\r\n"):
            line = stream.readline(LONGEST)
    header = re.sub(r'"[^"]*"', "", line)
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
