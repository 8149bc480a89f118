"""The file of a segment: columns, where they stand, and a checksum of every page.

    64 bytes      the name of the format, and its version
    columns       each where a multiple of 64 bytes begins
    directory     JSON: place, count and kind of each column, and what the file belongs to
    checksums     64 bits (XXH3) of every page of 4,096 bytes of all that is above
    64 bytes      where the directory and the checksums begin, and 128 bits of the checksums

The catalogue knows the last 128 bits too: so a page that is not as it was written is found when it
is first looked at, and a file of another index is not taken for this one.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import numbers_of, spans
from nearly.errors import UnreadableError
from nearly.index.directory import Directory, NewFile
from nearly.index.draft import NOWHERE, Draft
from nearly.measures.work import Workers

__all__ = ["FORMAT", "Opened", "Written", "open_file", "write_file"]

#: The version of the files of an index. Others are refused.
FORMAT: Final = 2
MAGIC: Final = b"NEARLYIX"
ALIGNED: Final = 64
#: Bands that are sorted in one go: a row of keys is read once for them.
BANDS: Final = 2
TRAILER: Final = struct.Struct("<8sQQQ16s16x")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What the catalogue keeps of a segment."""

    name: str
    contents: int
    keyed: int
    documents: int
    size: int  # bytes of its file
    sum: bytes  # of its checksums


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A file that is mapped: where its columns are. Its pages are not checked yet."""

    mapped: memoryview
    data: npt.NDArray[np.uint8]
    sums: npt.NDArray[np.uint64]
    columns: Mapping[str, tuple[int, int, str]]
    facts: Mapping[str, Any]

    def place(self, column: str) -> int:
        """Where a column begins."""
        return self.columns[column][0]

    def view(self, column: str) -> npt.NDArray[Any]:
        """A column as it lies in memory, not checked."""
        start, count, kind = self.columns[column]
        return self.data[start : start + count * np.dtype(kind).itemsize].view(kind)


class _Writer:
    """Columns, one after the other."""

    def __init__(self, file: NewFile) -> None:
        self._file = file
        self.size = 0
        self.columns: dict[str, tuple[int, int, str]] = {}
        self.raw(MAGIC + struct.pack("<I", FORMAT))

    def raw(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self.size += len(data)

    def begin(self) -> int:
        """Where the next column begins."""
        self.raw(bytes(-self.size % ALIGNED))
        return self.size

    def column(self, name: str, values: npt.NDArray[Any]) -> None:
        self.parts(name, values.dtype, [values])

    def parts(self, name: str, kind: np.dtype[Any], parts: Iterable[npt.NDArray[Any]]) -> None:
        """A column that comes in parts, of which only one has to be in memory."""
        start = self.begin()
        for part in parts:
            self.raw(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        self.columns[name] = (start, (self.size - start) // kind.itemsize, kind.str)


def write_file(
    directory: Directory, name: str, draft: Draft, facts: Mapping[str, Any], workers: Workers
) -> Written:
    """Write a segment whole, and sync it; on any error the file is removed."""
    file = directory.create(name)
    try:
        writer = _Writer(file)
        _write_columns(writer, draft, workers)
        written = _seal(directory, name, file, writer, draft, facts)
        file.close()
        return written
    except BaseException:
        file.close()
        directory.remove(name)
        raise


def _write_columns(writer: _Writer, draft: Draft, workers: Workers) -> None:
    runs = workers.map(lambda part: draft.runs(*part), _bands(draft, workers))
    writer.parts("buckets", np.dtype(np.uint32), runs)
    writer.column("sketches", draft.sketches)
    writer.column("content_high", draft.digests[:, 0])
    writer.column("content_low", draft.digests[:, 1])
    writer.column("sizes", draft.sizes)
    writer.column("texts", draft.texts)
    writer.column("starts", draft.starts)
    writer.column("numbers", draft.numbers)
    _write_ids(writer, draft)
    _write_blocks(writer, draft)
    if draft.postings is not None:
        for place, name in enumerate(("member_keys", "member_of")):
            writer.parts(name, np.dtype(np.uint32), (part[place] for part in draft.postings()))


def _bands(draft: Draft, workers: Workers) -> list[tuple[int, int]]:
    """All of them in one go for one thread, else a few at a time, for they take room."""
    step = max(1, draft.bands) if workers.threads == 1 else BANDS
    return [(start, min(start + step, draft.bands)) for start in range(0, draft.bands, step)]


def _write_ids(writer: _Writer, draft: Draft) -> None:
    order = _kernels.digest_order(draft.id_digests)
    high, low = draft.id_digests.take(order, axis=0).T
    writer.column("id_high", high)
    writer.column("id_low", low)
    writer.column("id_of", order)
    if pa.types.is_integer(draft.ids.type):
        writer.column("id_numbers", numbers_of(draft.ids))
        return
    offsets, data = spans(draft.ids)
    writer.column("id_offsets", offsets - offsets[0])
    writer.column("id_bytes", data[offsets[0] : offsets[-1]])


def _write_blocks(writer: _Writer, draft: Draft) -> None:
    """Texts block by block, then how long each text is, and where each block begins."""
    start = writer.begin()
    lengths, firsts, places = [np.empty(0, np.uint32)], [0], [0]
    for block in draft.blocks:
        writer.raw(block.data)
        lengths.append(block.lengths)
        firsts.append(firsts[-1] + len(block.lengths))
        places.append(writer.size - start)
    writer.columns["blocks"] = (start, writer.size - start, "|u1")
    writer.column("lengths", np.concatenate(lengths))
    writer.column("block_firsts", np.array(firsts, np.uint32))
    writer.column("block_places", np.array(places, np.uint64))


def _seal(
    directory: Directory,
    name: str,
    file: NewFile,
    writer: _Writer,
    draft: Draft,
    facts: Mapping[str, Any],
) -> Written:
    counts = {
        "contents": len(draft.digests),
        "keyed": int(np.count_nonzero((draft.texts != NOWHERE) & (draft.sizes > 0))),
        "documents": len(draft.numbers),
    }
    start = writer.begin()
    told = {"columns": writer.columns, "facts": {**facts, **counts, "bands": draft.bands}}
    writer.raw(json.dumps(told).encode())
    length = writer.size
    writer.begin()
    file.flush()
    sums = _kernels.page_sums(np.frombuffer(directory.map(name), np.uint8)[:length])
    digest = _digest(sums)
    place = writer.size
    writer.raw(sums.view(np.uint8).data)
    writer.raw(TRAILER.pack(MAGIC, start, length, place, digest))
    file.sync()
    return Written(name=name, size=writer.size, sum=digest, **counts)


def open_file(directory: Directory, written: Written) -> Opened:
    """Map a segment that the catalogue names; its pages are checked when they are needed."""
    try:
        mapped = directory.map(written.name)
    except FileNotFoundError:
        raise damaged(written.name, "it is not there") from None
    data = np.frombuffer(mapped, np.uint8)
    if len(data) != written.size:
        raise damaged(written.name, f"it has {len(data):,} of {written.size:,} bytes")
    magic, start, length, place, digest = TRAILER.unpack(data[-TRAILER.size :].tobytes())
    sums = data[place : -TRAILER.size] if place <= len(data) - TRAILER.size else data[:0]
    if magic != MAGIC or digest != written.sum or len(sums) % 8 or _digest(sums) != digest:
        raise damaged(written.name, "its checksums are not those that were written")
    pages = sums.view(np.uint64)
    first = start // 4096
    if not np.array_equal(_kernels.page_sums(data[first * 4096 : length]), pages[first:]):
        raise damaged(written.name, "its directory is not as it was written")
    try:
        told = json.loads(data[start:length].tobytes())
    except ValueError:  # no checksum is of the trailer, which says where the directory begins
        raise damaged(written.name, "its directory is not where it was written") from None
    columns = {name: tuple(column) for name, column in told["columns"].items()}
    return Opened(
        mapped=mapped, data=data[:length], sums=pages, columns=columns, facts=told["facts"]
    )


def damaged(name: str, what: str) -> UnreadableError:
    """The error of a segment that is not as it was written."""
    return UnreadableError(
        f"segment {name} of the index is damaged: {what}. Restore a snapshot, or drop what is "
        "broken with nearly index check --repair"
    )


def _digest(sums: npt.NDArray[Any]) -> bytes:
    data = sums.view(np.uint8)
    return _kernels.contents(np.array([0, len(data)]), data).tobytes()
