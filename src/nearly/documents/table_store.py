"""The rows of a table as they are made: in memory while they fit, and then in a file."""

from pathlib import Path

import pyarrow as pa

from nearly.documents.budget import Budget
from nearly.documents.spool import TemporaryStream

__all__ = ["TableStore"]


class TableStore:
    """Filled in order; the table that it gives may lie in a file that is shown as memory."""

    def __init__(self, budget: Budget, folder: Path):
        self._folder = folder
        self._tables: list[pa.Table] = []
        self._stream: TemporaryStream | None = None
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None
        self.held = 0
        budget.enter(self)

    def add(self, rows: pa.Table) -> None:
        """The next rows."""
        if self._writer is not None:
            self._writer.write_table(rows)
        else:
            self._tables.append(rows)
            self.held += rows.nbytes

    def spill(self) -> None:
        """See `Spillable`."""
        self._stream = TemporaryStream(self._folder)
        self._writer = pa.ipc.new_stream(pa.PythonFile(self._stream, "w"), self._tables[0].schema)
        for rows in self._tables:
            self._writer.write_table(rows)
        self._tables, self.held = [], 0

    def table(self) -> pa.Table:
        """All rows; the store is empty afterwards."""
        if self._writer is None or self._stream is None:
            tables, self._tables, self.held = self._tables, [], 0
            return pa.concat_tables(tables)
        self._writer.close()
        with pa.ipc.open_stream(pa.py_buffer(self._stream.shown())) as reader:
            return reader.read_all()
