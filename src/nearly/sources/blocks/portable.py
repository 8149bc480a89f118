"""Rows that live in one process alone, written down so that they can go along to another."""

import dataclasses
import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.ipc as ipc

from nearly.errors import SourceError, UnreadableError
from nearly.frozen import dataclass
from nearly.sources import column
from nearly.sources.formats.soundness import NOT_UTF_8, checked
from nearly.sources.part import Cut, Part, Reject
from nearly.sources.reader import Reading

__all__ = ["Spool", "carry"]


class Spool:
    """A nameless temporary file: gone with the last block that needs it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _file(self) -> BinaryIO:
        file = cast(BinaryIO, TemporaryFile(dir=self._folder))  # noqa: SIM115
        weakref.finalize(self, file.close)
        return file

    def append(self, data: pa.Buffer) -> "_Written":
        """Where it was put."""
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(data)
        self._file.flush()
        return _Written(self, start, data.size)

    def read(self, start: int, length: int) -> bytes:
        """What was put there."""
        self._file.seek(start)
        return self._file.read(length)


def carry(part: Part, reading: Reading, size: int, spool: Spool) -> list[Cut]:
    """Read a part and write it down, in pieces of about `size` bytes."""
    packing = _Packing(part, reading, size, spool)
    try:
        for batch in part.batches(None, packing.reject):
            for piece in _of_size(reading.aligned(batch, None), size):
                packing.add(piece)
    except UnreadableError as error:
        packing.finish(error)
    else:
        packing.finish(None)
    return packing.cuts


@dataclasses.dataclass
class _Notes:
    """What a part has to say about its rows, besides the rows."""

    #: Each with the number of rows that came before it.
    rejected: list[tuple[int, str, str]] = field(default_factory=list)
    #: Of each row whose text is null, what it is called and why that is.
    nulls: dict[int, tuple[str, str]] = field(default_factory=dict)
    broken: list[int] = field(default_factory=list)
    #: What broke off the reading, after all rows.
    failure: UnreadableError | None = None


class _CarriedPart(Part):
    """Some rows of another part, to be read as that part would give them."""

    def __init__(
        self, origin: Part, schema: pa.Schema, first: int, rows: "_Written", notes: _Notes
    ) -> None:
        self.name = origin.name
        self.given = origin.given
        self.noun = origin.noun
        self.steady = origin.steady
        self.schema = schema
        self.first = first
        self.broken = notes.broken
        self._rows = rows
        self._notes = notes

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,
    ) -> Iterator[pa.RecordBatch]:
        waiting = self._notes.rejected[::-1]
        given = 0
        for batch in ipc.open_stream(self._rows.read()):
            while waiting and waiting[-1][0] <= given:
                reject(*waiting.pop()[1:])
            yield checked(batch, columns, self.name)[0]
            given += batch.num_rows
        while waiting:
            reject(*waiting.pop()[1:])
        if self._notes.failure is not None:
            raise self._notes.failure

    def record(self, row: int) -> str:
        return self._notes.nulls[row][0] if row in self._notes.nulls else super().record(row)

    def why_null(self, row: int) -> str:
        return self._notes.nulls[row][1] if row in self._notes.nulls else NOT_UTF_8


@dataclass(frozen=True)
class _Written:
    """Bytes in a spool; when they are sent, they leave it behind."""

    spool: Spool
    start: int
    length: int

    def read(self) -> bytes:
        return self.spool.read(self.start, self.length)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Sent, (self.read(),)


@dataclass(frozen=True)
class _Sent:
    """Bytes that came along."""

    data: bytes

    def read(self) -> bytes:
        return self.data


class _Packing:
    """Pieces being filled, one after the other."""

    def __init__(self, origin: Part, reading: Reading, size: int, spool: Spool) -> None:
        self.cuts: list[Cut] = []
        self._origin = origin
        self._reading = reading
        self._size = size
        self._spool = spool
        self._begin(first=0)

    def _begin(self, first: int) -> None:
        self._first = first
        self._rows = 0
        self._bytes = 0
        self._batches: list[pa.RecordBatch] = []
        self._notes = _Notes()

    def reject(self, record: str, reason: str) -> None:
        """What the part rejects comes before the rows that it gives next."""
        self._notes.rejected.append((self._rows, record, reason))

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows in, into the next piece if this one has enough."""
        if self._rows and self._bytes + batch.nbytes > self._size:
            self._close()
        import pyarrow.compute as pc  # slow to import, and needed only where blocks are sent

        texts = column.content_of(batch, self._reading.choice)
        for i in pc.indices_nonzero(texts.is_null()).to_pylist() if texts.null_count else ():
            row = self._first + self._rows + i
            self._notes.nulls[row] = self._origin.record(row), self._origin.why_null(row)
        last = self._first + self._rows + batch.num_rows
        self._notes.broken += [r for r in self._origin.broken if last - batch.num_rows <= r < last]
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes

    def finish(self, failure: UnreadableError | None) -> None:
        """Nothing more comes, be it that the reading broke off."""
        self._notes.failure = failure
        self._close()

    def _close(self) -> None:
        part = _CarriedPart(
            self._origin, self._reading.schema, self._first, self._written(), self._notes
        )
        self.cuts.append(Cut(part, self._rows, self._bytes))
        self._begin(self._first + self._rows)

    def _written(self) -> _Written:
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, self._reading.schema) as writer:
            for batch in self._batches:
                writer.write_batch(batch)
        try:
            return self._spool.append(sink.getvalue())
        except OSError as error:
            raise SourceError(
                f"{self._origin.name} cannot be written down to be sent: {error.strerror}. "
                "Make room, or name another temporary folder."
            ) from error


def _of_size(batch: pa.RecordBatch, size: int) -> Iterator[pa.RecordBatch]:
    """A batch in slices of about `size` bytes."""
    rows = max(1, batch.num_rows * size // max(1, batch.nbytes))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
