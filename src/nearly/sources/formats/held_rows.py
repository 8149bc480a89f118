"""Rows that were read once and wait to be asked for: in memory, or in a file when they are many."""

import weakref
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import pyarrow as pa

__all__ = ["HeldRows"]

#: Bytes of rows that wait in memory, or less where memory is short.
MOST_HELD = 1 << 26


class HeldRows:
    """Filled batch by batch, then read once, with no more than `most_held` bytes in memory."""

    def __init__(self, folder: Path | None, schema: pa.Schema, most_held: int) -> None:
        self._folder = folder
        self._most_held = min(MOST_HELD, most_held)
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None
        self.rows = 0

    def append(self, batch: pa.RecordBatch) -> None:
        """The next rows."""
        self.rows += batch.num_rows
        self._size += batch.nbytes
        self._waiting.append(batch)
        if self._size > self._most_held:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if self._writer is None:
            # A file without a name: gone with the process, whatever happens.
            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115
            weakref.finalize(self, self._file.close)
            self._writer = pa.ipc.new_stream(self._file, self._schema)
        for batch in self._waiting:
            self._writer.write_batch(batch)
        self._waiting.clear()

    def batches(self, rows_at_once: int) -> Iterator[pa.RecordBatch]:
        """All rows in order, at most `rows_at_once` in a batch; each batch is then let go."""
        waiting: list[pa.RecordBatch] = []
        for batch in self.in_order():
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= rows_at_once:
                yield from self._cut(waiting, rows_at_once)
                waiting = []
        yield from self._cut(waiting, rows_at_once)

    def in_order(self) -> Iterator[pa.RecordBatch]:
        """All rows in the batches that they came in."""
        if self._writer is not None and self._file is not None:
            self._writer.close()
            self._file.seek(0)
            with self._file, pa.ipc.open_stream(self._file) as reader:
                yield from reader
        self._waiting.reverse()
        while self._waiting:
            yield self._waiting.pop()

    def _cut(self, batches: list[pa.RecordBatch], rows_at_once: int) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(batches, self._schema).combine_chunks()
        yield from table.to_batches(rows_at_once)
