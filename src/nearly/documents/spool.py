"""Columns of a corpus, in memory while they fit and in a temporary file when they do not.

Each store is filled batch by batch, in order, and afterwards read by document number. What is
on disk is read with plain reads, not mapped: a limit on the address space holds too.
"""

import io
import itertools
import os
import weakref
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.documents.budget import Budget
from nearly.errors import SinkError
from nearly.mapping import mapped

__all__ = ["ColumnStore", "RowStore", "TemporaryColumn", "TemporaryStream", "TextStore"]

Documents = npt.NDArray[Any]
NEARBY = 4096  # bytes between two texts that are cheaper to read through than to seek over


class _File:
    """A nameless temporary file: gone with the process, whatever happens."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self.size = 0

    def append(self, data: Any) -> int:
        """Where it was put."""
        start = self.size
        view = memoryview(data).cast("B") if data.nbytes else memoryview(b"")
        while len(view):
            written = self._write(view)
            self.size += written
            view = view[written:]
        return start

    def _write(self, view: memoryview) -> int:
        try:
            return os.pwrite(self._file.fileno(), view, self.size)
        except OSError as error:
            raise SinkError(
                f"{self._folder}: {error.strerror} while putting aside what does not fit in "
                "memory; free some space, or name another folder with --temporary"
            ) from error

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self._file.fileno(), length, start)

    def read_into(self, rows: npt.NDArray[Any]) -> None:
        """As many bytes from the beginning as there is room for."""
        left = rows.data.cast("B") if rows.nbytes else memoryview(b"")
        while len(left):
            left = left[os.preadv(self._file.fileno(), [left], rows.nbytes - len(left)) :]

    def shown(self) -> memoryview:
        return mapped(self._file.fileno(), self.size)


class TemporaryStream(io.RawIOBase):
    """A nameless file that others write to, shown as memory when all is written."""

    def __init__(self, folder: Path):
        self._file = _File(folder)

    def writable(self) -> bool:
        """It is for nothing else."""
        return True

    def write(self, data: Any) -> int:
        """The next bytes."""
        view = memoryview(data)
        self._file.append(view)
        return view.nbytes

    def shown(self) -> memoryview:
        """All of them; see `nearly.mapping`."""
        return self._file.shown()


class TemporaryColumn:
    """Numbers that are put in a file, and shown as memory when all are there."""

    def __init__(self, folder: Path, kind: npt.DTypeLike):
        self._file = _File(folder)
        self._kind = np.dtype(kind)

    def append(self, numbers: npt.NDArray[Any]) -> None:
        """The next ones."""
        self._file.append(np.ascontiguousarray(numbers, self._kind))

    def shown(self) -> npt.NDArray[Any]:
        """All of them; see `nearly.mapping`."""
        return np.frombuffer(self._file.shown(), self._kind)


#: Of the memory of a batch, one part in so many may be no text of it.
LARGEST_WASTE = 8


class _Chunk(NamedTuple):
    """Texts that came together: where each begins, in bytes in memory or in a file."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8] | _File


#: How long texts are, and their bytes in pieces.
_Found = tuple[npt.NDArray[np.int64], list[npt.NDArray[np.uint8]]]


class TextStore:
    """The texts of all documents, or the bytes that are compared instead.

    They are copied out of batches whose memory holds much else: a document should cost its text and
    not its reader's habits. What came first is spilled first. Threads may take texts meanwhile: a
    chunk is replaced as a whole.
    """

    def __init__(self, budget: Budget, folder: Path):
        self._folder = folder
        self._chunks: list[_Chunk] = []
        self._starts = [0]
        self._type = pa.large_string()
        self._file: _File | None = None
        self._spilled = 0  # chunks
        self._keeps_rest = budget.is_ample
        #: Of chunks in the file, once texts of several are taken: how many, and all their offsets.
        self._of_file = (0, np.empty(0, np.int64))
        self.held = 0
        budget.enter(self)

    def __len__(self) -> int:
        return self._starts[-1]

    def append(self, texts: pa.LargeStringArray) -> None:
        """The next documents."""
        offsets, data = spans(texts)
        used = data[offsets[0] : offsets[-1]]
        is_all = LARGEST_WASTE * len(data) <= (LARGEST_WASTE + 1) * len(used)
        self._chunks.append(_Chunk(offsets - offsets[0], used if is_all else used.copy()))
        self._starts.append(len(self) + len(texts))
        self._type = texts.type
        self.held += used.nbytes
        if self._file is not None and not self._keeps_rest:
            self.spill()

    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each text."""
        parts = [np.diff(chunk.offsets) for chunk in self._chunks]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def spill(self) -> None:
        """The first chunk that is in memory, or all, now and from now on. See `Spillable`."""
        if self._file is None:
            self._file = _File(self._folder)
        end = self._spilled + 1 if self._keeps_rest else len(self._chunks)
        for i in range(self._spilled, end):
            offsets, data = self._chunks[i]
            if not isinstance(data, _File):
                self._chunks[i] = _Chunk(offsets + self._file.append(data), self._file)
                self.held -= data.nbytes
            self._spilled += 1

    def chunks(self) -> Iterator[pa.LargeStringArray]:
        """The texts that are there now, in the pieces they came in."""
        for start, end in itertools.pairwise(tuple(self._starts)):
            yield self.take(np.arange(start, end))

    def take(self, documents: Documents) -> pa.LargeStringArray:
        """The texts of these documents, which are given in ascending order."""
        if len(documents) == 1:
            return self._one(int(documents[0]))
        chunks = np.searchsorted(self._starts, documents, side="right") - 1
        cut = int(np.searchsorted(chunks, self._spilled))
        if cut and chunks[0] < chunks[cut - 1]:
            many, pieces = self._from_file(documents[:cut], chunks[:cut])
        else:
            cut, many, pieces = 0, np.empty(0, np.int64), []
        few, more = self._by_chunk(documents[cut:], chunks[cut:])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([many, few]))])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(_joined([*pieces, *more]))]
        return pa.Array.from_buffers(self._type, len(documents), buffers)

    def _one(self, document: int) -> pa.LargeStringArray:
        """The same of one document: shown pairs ask for one after the other."""
        number = bisect_right(self._starts, document) - 1
        chunk, row = self._chunks[number], document - self._starts[number]
        ends = chunk.offsets[row : row + 2]
        data = _pieces(chunk.data, ends[:1], ends[1:])
        return pa.Array.from_buffers(
            self._type, 1, [None, pa.py_buffer(ends - ends[0]), pa.py_buffer(data)]
        )

    def _by_chunk(self, documents: Documents, chunks: Documents) -> _Found:
        lengths, pieces = [np.empty(0, np.int64)], []
        cuts = (np.flatnonzero(np.diff(chunks)) + 1).tolist()
        for low, high in itertools.pairwise([0, *cuts, len(chunks)] if len(chunks) else []):
            chunk = self._chunks[chunks[low]]
            rows = documents[low:high] - self._starts[chunks[low]]
            starts, ends = chunk.offsets[rows], chunk.offsets[rows + 1]
            lengths.append(ends - starts)
            pieces.append(_pieces(chunk.data, starts, ends))
        return np.concatenate(lengths), pieces

    def _from_file(self, documents: Documents, chunks: Documents) -> _Found:
        """Whatever the number of chunks: each has an offset more than texts."""
        offsets, places = self._offsets_in_file(), documents + chunks
        starts, ends = offsets[places], offsets[places + 1]
        return ends - starts, [_pieces(self._chunks[0].data, starts, ends)]

    def _offsets_in_file(self) -> npt.NDArray[np.int64]:
        """Those of all chunks in the file, one behind the other; chunks look into them then."""
        spilled = self._spilled
        count, offsets = self._of_file
        if count < spilled:
            chunks = self._chunks[:spilled]
            offsets = np.concatenate([chunk.offsets for chunk in chunks])
            ends = np.cumsum([len(chunk.offsets) for chunk in chunks])
            own = zip(np.split(offsets, ends[:-1]), chunks, strict=True)
            self._chunks[:spilled] = [_Chunk(part, chunk.data) for part, chunk in own]
            self._of_file = spilled, offsets
        return offsets


class RowStore:
    """Rows of fixed width that are looked up by document, such as sketches."""

    def __init__(self, kind: npt.DTypeLike, width: int, budget: Budget, folder: Path):
        self._folder = folder
        self._rows: npt.NDArray[Any] = np.empty((0, width), kind)
        self._count = 0
        self._file: _File | None = None
        budget.enter(self)

    @property
    def held(self) -> int:
        """See `Spillable`."""
        return self._rows.nbytes

    def append(self, rows: npt.NDArray[Any]) -> None:
        """The next documents' rows."""
        if self._file is not None:
            self._file.append(np.ascontiguousarray(rows))
        else:
            self._grow(self._count + len(rows))
            self._rows[self._count : self._count + len(rows)] = rows
        self._count += len(rows)

    def _grow(self, needed: int) -> None:
        if needed > len(self._rows):
            # In place: large blocks are moved by the kernel's page tables, not copied.
            self._rows.resize(
                (max(needed, len(self._rows) * 9 // 8), self._rows.shape[1]), refcheck=False
            )

    def spill(self) -> None:
        """See `Spillable`."""
        self._file = _File(self._folder)
        self._file.append(self._rows[: self._count])
        self._rows = self._rows[:0].copy()

    @property
    def bytes_of_row(self) -> int:
        """Bytes of a document's row."""
        return int(self._rows.itemsize * self._rows.shape[1])

    @property
    def is_in_memory(self) -> bool:
        """Whether nothing has been spilled."""
        return self._file is None

    def all(self) -> npt.NDArray[Any]:
        """All rows; read into memory if they are not there."""
        if self._file is None:
            return self._rows[: self._count]
        rows = np.empty((self._count, self._rows.shape[1]), self._rows.dtype)
        self._file.read_into(rows)
        return rows

    def clear(self) -> None:
        """Let go of everything."""
        self._rows, self._file, self._count = self._rows[:0].copy(), None, 0

    def take(self, documents: Documents) -> npt.NDArray[Any]:
        """The rows of these documents, which are given in ascending order."""
        if self._file is None:
            rows: npt.NDArray[Any] = self._rows[documents]
            return rows
        return self._read(self._file, documents)

    def _read(self, file: _File, documents: Documents) -> npt.NDArray[Any]:
        block = 2**16
        found = np.empty((len(documents), self._rows.shape[1]), self._rows.dtype)
        width = found.itemsize * found.shape[1]
        bounds = np.searchsorted(documents, np.arange(0, self._count + block, block))
        for i, (low, high) in enumerate(itertools.pairwise(bounds)):
            if low < high:
                data = file.read(i * block * width, block * width)
                rows = np.frombuffer(data, found.dtype).reshape(-1, found.shape[1])
                found[low:high] = rows[documents[low:high] - i * block]
        return found


_NOTHING = np.empty(0, np.uint8)


class _Spilled(NamedTuple):
    """A block of columns that lies in a file."""

    file: _File
    start: int
    rows: int


def _spilled(file: _File, block: npt.NDArray[Any]) -> _Spilled:
    return _Spilled(file, file.append(block), block.shape[1])


class ColumnStore:
    """A matrix that arrives by rows and is read by columns, such as the keys of bands."""

    def __init__(self, kind: npt.DTypeLike, budget: Budget, folder: Path):
        self._folder = folder
        self._kind = np.dtype(kind)
        self._blocks: list[npt.NDArray[Any] | _Spilled] = []
        self._file: _File | None = None
        self.held = 0
        budget.enter(self)

    def append(self, rows: npt.NDArray[Any]) -> None:
        """The next documents' rows."""
        block = np.ascontiguousarray(rows.T)
        if self._file is not None:
            self._blocks.append(_spilled(self._file, block))
        else:
            self._blocks.append(block)
            self.held += block.nbytes

    def spill(self) -> None:
        """See `Spillable`."""
        self._file = _File(self._folder)
        for i, block in enumerate(self._blocks):
            if isinstance(block, np.ndarray):
                self._blocks[i] = _spilled(self._file, block)
        self.held = 0

    def clear(self) -> None:
        """Let go of everything."""
        self._blocks, self._file, self.held = [], None, 0

    def column(self, i: int) -> npt.NDArray[Any]:
        """Column `i` of all documents."""
        parts = [self._part(block, i) for block in self._blocks]
        return np.concatenate(parts) if parts else np.empty(0, self._kind)

    def _part(self, block: npt.NDArray[Any] | _Spilled, i: int) -> npt.NDArray[Any]:
        if isinstance(block, np.ndarray):
            column: npt.NDArray[Any] = block[i]
            return column
        size = block.rows * self._kind.itemsize
        return np.frombuffer(block.file.read(block.start + i * size, size), self._kind)


def _pieces(
    data: npt.NDArray[np.uint8] | _File, starts: Documents, ends: Documents
) -> npt.NDArray[np.uint8]:
    if isinstance(data, _File):
        return _file_pieces(data, starts, ends)
    return _gathered(data, starts, ends)


def _file_pieces(file: _File, starts: Documents, ends: Documents) -> npt.NDArray[np.uint8]:
    """One read for neighbours: what lies between them is cheaper than another call."""
    far = (np.flatnonzero(starts[1:] - ends[:-1] > NEARBY) + 1).tolist()
    pieces = []
    for low, high in zip([0, *far], [*far, len(starts)], strict=True):
        base = starts[low]
        data = np.frombuffer(file.read(int(base), int(ends[high - 1] - base)), np.uint8)
        pieces.append(_gathered(data, starts[low:high] - base, ends[low:high] - base))
    return _joined(pieces)


def _gathered(
    data: npt.NDArray[np.uint8], starts: Documents, ends: Documents
) -> npt.NDArray[np.uint8]:
    """Pieces of the data, one after the other; without a copy where they stand so already."""
    if len(starts) and (starts[1:] == ends[:-1]).all():
        return data[starts[0] : ends[-1]]
    return _kernels.gather(data, starts, ends)


def _joined(pieces: list[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """All pieces; without a copy where there is one."""
    return pieces[0] if len(pieces) == 1 else np.concatenate([_NOTHING, *pieces])
