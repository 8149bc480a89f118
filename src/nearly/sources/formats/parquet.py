"""Parquet files, read and copied with the types, the codecs and the metadata that they have."""

import copy
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearly import parquet
from nearly.errors import UnreadableError
from nearly.sources import part
from nearly.sources.formats.held_rows import HeldRows
from nearly.sources.formats.soundness import check_names, validate
from nearly.sources.part import Cut, Part, Reject, Stored

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = ["ParquetPart"]

#: A column is read in pieces of this size, and not at once.
BUFFER = 1 << 20
#: Bytes of rows from which on a row group is put aside, so that its pages can be let go.
LARGE = 1 << 24
#: Bytes of a row group that is small, whatever its rows are.
SMALL = 1 << 26
#: Bytes of rows that are copied as one group, however large the groups of the file are.
LARGEST_GROUP = 1 << 28
#: Pieces in which a small row group is read, and bytes of a piece that are worth a thread's while.
PIECES, LEAST_AT_ONCE = 8, 1 << 20

_CODECS = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4"}


class ParquetPart(Part):
    """One Parquet file, or a range of its rows."""

    steady = False
    #: Where the range ends; it begins at `first`.
    _end: int | None = None

    def __init__(self, path: str, name: str, temporary: Path | None = None) -> None:
        self.name = name
        self.path = os.path.abspath(path)
        self._temporary = temporary
        with self._opened() as file:
            self.schema = file.schema_arrow
        check_names(self.schema, name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_temporary": None}  # another machine has its own

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        present = [c for c in columns or () if c in self.schema.names]
        with self._opened() as file:
            for group, skip, most in self._groups_in_range(file.metadata):
                for batch in self._rows_of(file, group, present or None):
                    piece = batch.slice(skip, most)
                    skip, most = max(0, skip - batch.num_rows), most - piece.num_rows
                    if piece.num_rows:
                        validate(piece)
                        yield piece

    def _rows_of(
        self, file: Any, group: int, columns: Sequence[str] | None
    ) -> Iterator[pa.RecordBatch]:
        """What the reader of a small group holds beside them is small, too."""
        coming = _batches(file, group, columns)
        is_small = file.metadata.row_group(group).total_byte_size <= SMALL
        return coming if is_small else self._let_go(coming)

    def _let_go(self, coming: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a group, read to its end before those that are long are handed on.

        Its reader holds a page and a dictionary, each as long as the longest of their documents.
        """
        batch = next(coming, None)
        while batch is not None and batch.nbytes <= LARGE:
            yield batch
            batch = next(coming, None)
        if batch is None:
            return
        held = HeldRows(self._temporary, batch.schema, most_held=0)
        while batch is not None:
            held.append(batch)
            batch = next(coming, None)
        del coming
        pa.default_memory_pool().release_unused()
        yield from held.in_order()

    def _groups_in_range(self, metadata: "pq.FileMetaData") -> Iterator[tuple[int, int, int]]:
        """Row groups, each with the rows to leave out at its beginning, and the rows to take."""
        end = metadata.num_rows if self._end is None else self._end
        start = 0
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group).num_rows
            skip = max(0, self.first - start)
            most = min(end - start, rows) - skip
            if most > 0:
                yield group, skip, most
            start += rows

    def cut(self, size: int) -> list[Cut]:
        """Row groups together, or in pieces: each piece reads much of its group, and signs less."""
        runs: list[tuple[int, int]] = []
        for rows, length in self._row_groups():
            pieces = max(1, min(round(length / size), rows // part.BATCH_ROWS))
            for i in range(pieces):
                if not runs or pieces > 1 or runs[-1][1] + length / 2 > size:
                    runs.append((0, 0))
                some = rows * (i + 1) // pieces - rows * i // pieces
                runs[-1] = runs[-1][0] + some, runs[-1][1] + length // pieces
        if len(runs) < 2:
            return [Cut(self, sum(rows for rows, _ in runs), sum(length for _, length in runs))]
        starts = itertools.accumulate((rows for rows, _ in runs), initial=0)
        return [
            Cut(self._range(start, start + rows), rows, length)
            for start, (rows, length) in zip(starts, runs, strict=False)
        ]

    def is_own_format(self, ending: str) -> bool:
        return ending == ".parquet"

    def stored(self) -> Stored:
        with self._opened() as file:
            options = _options(file.metadata)
        return Stored(self.schema, "parquet", options, self._stored_groups())

    def _stored_groups(self) -> Iterator[pa.Table]:
        with self._opened() as file:
            for group in range(file.metadata.num_row_groups):
                held: list[pa.RecordBatch] = []
                size = 0
                for batch in self._rows_of(file, group, None):
                    held.append(batch)
                    size += batch.nbytes
                    if size >= LARGEST_GROUP:
                        yield pa.Table.from_batches(held, self.schema)
                        held, size = [], 0
                yield pa.Table.from_batches(held, self.schema)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with pa.OSFile(os.fsencode(self.path)) as raw:
                yield self._file(raw)
        except (pa.ArrowException, OSError) as error:
            raise UnreadableError(f"{self.name} cannot be read as Parquet. {error}") from error

    def _file(self, raw: pa.NativeFile) -> Any:
        try:
            return parquet.opened(raw, BUFFER)
        except UnicodeDecodeError as error:
            raise UnreadableError(
                f"{self.name} cannot be read as Parquet: the name of a column is not UTF-8. {error}"
            ) from error

    def _range(self, start: int, end: int) -> "ParquetPart":
        some = copy.copy(self)
        some.first, some._end = start, end
        return some

    def _row_groups(self) -> list[tuple[int, int]]:
        """The rows and the bytes of each."""
        with self._opened() as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            return [(g.num_rows, sum(c.total_compressed_size for c in _chunks(g))) for g in groups]


def _batches(file: Any, group: int, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    rows: Iterator[pa.RecordBatch] = file.iter_batches(
        batch_size=_rows_at_once(file.metadata.row_group(group)),
        row_groups=[group],
        columns=columns,
    )
    return rows


def _rows_at_once(group: "pq.RowGroupMetaData") -> int:
    """Long documents come some at a time, by what a row of the group has on average.

    A small group comes in some pieces, too, so that all threads have work.
    """
    size: int = group.total_byte_size  # what columns say of themselves may abort a damaged file
    rows: int = group.num_rows
    most = min(part.BATCH_BYTES, max(LEAST_AT_ONCE, size // PIECES))
    return min(part.BATCH_ROWS, most * rows // max(1, size) + 1)


def _chunks(group: "pq.RowGroupMetaData") -> "list[pq.ColumnChunkMetaData]":
    return [group.column(i) for i in range(group.num_columns)]


def _options(metadata: "pq.FileMetaData") -> Mapping[str, Any]:
    """What makes a writer write as this file was written."""
    options: dict[str, Any] = {"version": metadata.format_version}
    if options["version"] not in ("1.0", "2.4", "2.6"):
        options["version"] = "2.6"
    options["store_schema"] = b"ARROW:schema" in (metadata.metadata or {})
    if metadata.num_row_groups == 0:
        return options
    group = metadata.row_group(0)
    chunks = _chunks(group)
    options["compression"] = {
        c.path_in_schema: _CODECS.get(c.compression, c.compression.lower()) for c in chunks
    }
    options["use_dictionary"] = [
        c.path_in_schema for c in chunks if any("DICTIONARY" in e for e in c.encodings)
    ] or False
    if any(c.physical_type == "INT96" for c in chunks):
        options["use_deprecated_int96_timestamps"] = True
    if group.sorting_columns:
        options["sorting_columns"] = list(group.sorting_columns)
    return options
