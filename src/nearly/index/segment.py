"""A segment that is open: what it holds, asked and read. Nothing of it changes any more.

Every page is compared with its checksum before something of it is used for the first time.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import column_of
from nearly.index.directory import Directory, advise
from nearly.index.draft import NOWHERE
from nearly.index.segment_file import Opened, Written, damaged, open_file
from nearly.index.text_block import TextBlock, compressed, unpacked
from nearly.measures.base import Signed

__all__ = ["Segment", "open_segment"]

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
Numbers = npt.NDArray[Any]

#: Blocks of texts that a segment remembers.
REMEMBERED = 256
#: From how many places on a column is checked as a whole.
MANY = 64

_NO_BYTES: npt.NDArray[np.uint8] = np.empty(0, np.uint8)


class Segment:
    """Contents by number, in the order of their digests; documents by number, by content."""

    def __init__(self, written: Written, opened: Opened, *, is_text: bool) -> None:
        self.name = written.name
        self._told = _Told(written.name)
        self.contents, self.documents = written.contents, written.documents
        self.bands: int = opened.facts["bands"]
        self.written = written
        self._opened = opened
        self._type = pa.large_string() if is_text else pa.large_binary()
        self._width = opened.columns["sketches"][1] // max(1, written.contents)
        digests = ("content_high", "content_low", "id_high", "id_low")
        columns = ("buckets", "sketches", *digests, "starts", "numbers", "texts")
        has_numbers = "id_numbers" in opened.columns
        self.mapped = _kernels.MappedSegment(
            opened.data,
            opened.sums,
            contents=written.contents,
            keyed=written.keyed,
            documents=written.documents,
            bands=self.bands,
            width=self._width,
            ids=opened.place("id_numbers" if has_numbers else "id_offsets"),
            id_bytes=0 if has_numbers else opened.place("id_bytes"),
            **{name: opened.place(name) for name in columns},
        )
        self._views = {name: opened.view(name) for name in opened.columns}
        self._block_firsts = self.column("block_firsts")
        self._block_places = self.column("block_places")
        self._first_places = self._block_firsts.data  # sooner looked into one by one
        self._block: Callable[[int], tuple[npt.NDArray[np.uint8], Numbers]]
        self._block = lru_cache(REMEMBERED)(self._read_block)

    # What it is asked

    def meet(
        self, keys: U32, bands: tuple[int, int], most: int, gone: npt.NDArray[np.uint8]
    ) -> tuple[U64, U32, int]:
        """Which question shares a bucket with which content, in which band; see the kernel."""
        with self._told:
            return self.mapped.meet(keys, *bands, most, gone)

    def differences(self, pairs: U64, sketches: U64, bits: int) -> U32:
        """In how many positions the sketches of a question and a content differ."""
        with self._told:
            return self.mapped.differences(pairs, sketches, bits)

    def agreeing(
        self, signed: Signed, most: int, gone: npt.NDArray[np.uint8], bits: int, most_different: int
    ) -> tuple[U32, U64, int, int]:
        """What one question meets and agrees with, and their digests; see the kernel."""
        with self._told:
            return self.mapped.agreeing(
                signed.keys, signed.sketches, most, gone, bits, most_different
            )

    def find_contents(self, digests: U64) -> tuple[U32, U32]:
        """Which of these digests are those of which contents."""
        with self._told:
            pairs = self.mapped.find(digests, False)
        return (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)

    def find_ids(self, digests: U64) -> tuple[U32, U32]:
        """Which of these digests are those of the ids of which documents."""
        with self._told:
            pairs = self.mapped.find(digests, True)
        places = pairs.astype(np.uint32)
        return (pairs >> np.uint64(32)).astype(np.uint32), self.take("id_of", places)

    # What it holds

    def digests(self, contents: U32) -> U64:
        """Of some contents, a row each."""
        columns = [self.take(name, contents) for name in ("content_high", "content_low")]
        return np.stack(columns, axis=1)

    def is_held(self, contents: U32) -> npt.NDArray[np.bool_]:
        """Whether this segment holds these: their keys and texts."""
        held: npt.NDArray[np.bool_] = self.take("texts", contents) != NOWHERE
        return held

    def owners(self, digests: U64, gone: npt.NDArray[np.uint8]) -> tuple[U32, U32, U64]:
        """Documents that have these contents: places in `digests`, documents, their numbers."""
        with self._told:
            return self.mapped.owners(digests, gone)

    def content_of(self, documents: Numbers) -> U32:
        """The content that each of these documents has."""
        found = np.searchsorted(self.column("starts"), documents, side="right") - 1
        return found.astype(np.uint32)

    def ids(self, documents: Numbers) -> list[Any]:
        """The ids of some documents."""
        with self._told:
            return self.mapped.ids(np.asarray(documents, np.uint32))

    def id_column(self) -> pa.Array:
        """All ids, by document."""
        if "id_numbers" in self._views:
            return column_of(self.column("id_numbers"))
        offsets, data = (pa.py_buffer(self.column(name)) for name in ("id_offsets", "id_bytes"))
        return pa.LargeStringArray.from_buffers(self.documents, offsets, data)

    def texts(self, contents: U32) -> pa.Array:
        """What some contents, which are held here, are; in the given order."""
        places = self.take("texts", contents)
        blocks = np.searchsorted(self._block_firsts, places, side="right") - 1
        starts = (places - self._block_firsts[blocks]).tolist()
        numbers, pieces = blocks.tolist(), [_NO_BYTES.data] * len(places)
        for i in np.argsort(places).tolist():  # a block is read once for all that is in it
            data, offsets = self._block(numbers[i])
            pieces[i] = data[offsets[starts[i]] : offsets[starts[i] + 1]].data
        ends = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece in pieces], out=ends[1:])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(pieces))]
        return pa.Array.from_buffers(self._type, len(pieces), buffers)

    def text_at(self, place: int) -> npt.NDArray[np.uint8]:
        """The bytes of the content whose text lies at a place."""
        block = bisect_right(self._first_places, place) - 1
        data, offsets = self._block(block)
        start = place - self._first_places[block]
        return data[offsets[start] : offsets[start + 1]]

    def _gathered(self, data: npt.NDArray[np.uint8], starts: Numbers, ends: Numbers) -> pa.Array:
        offsets = np.zeros(len(starts) + 1, np.int64)
        np.cumsum(ends - starts, out=offsets[1:])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(_kernels.gather(data, starts, ends))]
        return pa.Array.from_buffers(self._type, len(starts), buffers)

    def blocks(self, is_gone: npt.NDArray[np.bool_]) -> Iterator[TextBlock]:
        """All texts as they lie in the file, but those that are gone, by place."""
        lengths = self.column("lengths")
        for block in range(len(self._block_firsts) - 1):
            first, last = self._block_firsts[block : block + 2].tolist()
            if not is_gone[first:last].any():
                yield TextBlock(lengths[first:last], self._packed(block).data)
                continue
            data, offsets = self._read_block(block)
            kept = np.flatnonzero(~is_gone[first:last])
            yield from compressed(self._gathered(data, offsets[kept], offsets[kept + 1]))

    def _packed(self, block: int) -> npt.NDArray[np.uint8]:
        return self.slice("blocks", *self._block_places[block : block + 2].tolist())

    def _read_block(self, block: int) -> tuple[npt.NDArray[np.uint8], Numbers]:
        """The bytes of a block's texts, and where each begins."""
        first, last = self._block_firsts[block : block + 2].tolist()
        offsets = np.zeros(last - first + 1, np.int64)
        np.cumsum(self.slice("lengths", first, last), out=offsets[1:])
        data = unpacked(self._packed(block).data, int(offsets[-1]))
        return np.frombuffer(data, np.uint8), offsets

    # Its columns

    def column(self, name: str) -> Numbers:
        """A whole column, checked."""
        return self.slice(name, 0, len(self._views[name]))

    def slice(self, name: str, start: int, end: int) -> Numbers:
        """Some values of a column, checked."""
        view = self._views[name]
        place, width = self._opened.place(name), view.itemsize
        with self._told:
            self.mapped.check(place + start * width, place + end * width)
        return view[start:end]

    def take(self, name: str, places: Numbers) -> Numbers:
        """The values at some places, checked."""
        view = self._views[name]
        if len(places) >= MANY:
            return self.column(name)[places]
        start, width = self._opened.place(name), view.itemsize
        with self._told:
            self.mapped.check_places(start, width, np.asarray(places, np.int64))
        return view[places]

    def sketches(self) -> U64:
        """Of all contents, a row each."""
        return self.column("sketches").reshape(self.contents, self._width)

    def band(self, band: int) -> tuple[U32, U32]:
        """The keys of a band, in order, and whose they are."""
        keyed = self.written.keyed
        run = self.slice("buckets", 2 * band * keyed, (2 * band + 2) * keyed)
        return run[:keyed], run[keyed:]

    @property
    def is_posted(self) -> bool:
        """Whether it has postings."""
        return "member_keys" in self._views

    def postings(self) -> tuple[U32, U32]:
        """Keys of members, in order, and whose they are."""
        return self.column("member_keys"), self.column("member_of")

    @property
    def text_bytes(self) -> int:
        """How much of the file is compressed texts."""
        return len(self._views["blocks"])

    def damaged_pages(self) -> int:
        """How many pages are not as they were written, now."""
        with self.read_through():
            return len(self.mapped.damaged())

    @contextmanager
    def read_through(self) -> Iterator[None]:
        """Much of it is read meanwhile, page after page."""
        advise(self._opened.mapped, is_random=False)
        try:
            yield
        finally:
            advise(self._opened.mapped, is_random=True)


class _Told:
    """A damaged page in words. A class: this stands around every look at a segment."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, _kernels.DamagedError):
            raise damaged(self._name, "a page of it is not as it was written") from None


def open_segment(directory: Directory, written: Written, *, is_text: bool) -> Segment:
    """Map the file of a segment."""
    return Segment(written, open_file(directory, written), is_text=is_text)
