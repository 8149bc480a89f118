"""Records as the bytes that they are in their file: what a clean copy is cut from."""

import codecs
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nearly.frozen import dataclass
from nearly.sources.formats.encoding import encoding_of, open_bytes

__all__ = [
    "STRETCH",
    "Encoded",
    "Layout",
    "Lines",
    "Original",
    "Places",
    "Records",
    "blank_lines",
    "open_original",
    "original_lines",
]

#: Bytes that are looked at together.
STRETCH = 1 << 20

_FEED = ord("\n")
_SPACES = [ord(space) for space in " \t\n\v\f\r"]

#: Encodings whose characters are units of more than one byte, by their marks.
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "<u4"),
    (codecs.BOM_UTF32_BE, "utf-32-be", ">u4"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "<u2"),
    (codecs.BOM_UTF16_BE, "utf-16-be", ">u2"),
)

Places = npt.NDArray[np.int64]
Units = npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Layout:
    """How the characters of a file lie in its bytes."""

    mark: bytes
    codec: str
    unit: str = "u1"

    @property
    def width(self) -> int:
        """Bytes of a unit."""
        return np.dtype(self.unit).itemsize

    def units(self, data: bytes) -> Units:
        """The bytes as units; a piece of one at the end is left out."""
        return np.frombuffer(data, self.unit, len(data) // self.width)

    def encode(self, text: str) -> bytes:
        """The bytes that were read as this text."""
        return text.encode(self.codec, "surrogateescape")


def layout_of(head: bytes) -> Layout:
    """The layout that a mark at the beginning announces; UTF-8 where there is none."""
    for mark, codec, unit in _WIDE:
        if head.startswith(mark):
            return Layout(mark, codec, unit)
    marked = encoding_of(head) == "utf-8-sig"
    return Layout(codecs.BOM_UTF8 if marked else b"", "utf-8")


@dataclass(frozen=True)
class Records:
    """A stretch of a file: its bytes, and where its records lie; what is between them stays."""

    data: bytes
    starts: Places
    ends: Places

    def __len__(self) -> int:
        return len(self.starts)

    def without(self, gone: npt.NDArray[np.bool_]) -> "Records":
        """The same bytes but those of some records."""
        if not gone.any():
            return self
        gaps = zip([0, *self.ends[gone]], [*self.starts[gone], len(self.data)], strict=True)
        view = memoryview(self.data)
        shift = np.cumsum(np.where(gone, self.ends - self.starts, 0))
        return Records(
            b"".join(view[start:end] for start, end in gaps),
            (self.starts - shift)[~gone],
            (self.ends - shift)[~gone],
        )

    def with_others(self, made: Mapping[int, bytes]) -> "Records":
        """The same records but some, by their number, which have other bytes."""
        pieces, copied = [], 0
        lengths = self.ends - self.starts
        for number, data in sorted(made.items()):
            pieces += [self.data[copied : self.starts[number]], data]
            copied = int(self.ends[number])
            lengths[number] = len(data)
        shift = np.cumsum(lengths - (self.ends - self.starts))
        ends = self.ends + shift
        return Records(b"".join([*pieces, self.data[copied:]]), ends - lengths, ends)

    def split(self, count: int) -> tuple["Records", "Records"]:
        """The first `count` records, and the others."""
        if count >= len(self):
            return self, Records(b"", self.starts[:0], self.ends[:0])
        place = int(self.starts[count])
        first = Records(self.data[:place], self.starts[:count], self.ends[:count])
        rest = self.starts[count:] - place, self.ends[count:] - place
        return first, Records(self.data[place:], *rest)


@dataclass(frozen=True)
class Original:
    """A file as it stands: how it begins, and its records one after the other."""

    layout: Layout
    #: The mark and the header, with which every copy begins.
    head: bytes
    records: Iterator[Records]
    #: What is not as it stands in the file.
    note: str = ""
    #: Whether there is neither a header nor a record, so that it goes with any other file.
    is_blank: bool = False
    #: What each record begins with that does not come first, and what ends the file.
    between: bytes = b""
    tail: bytes = b""

    def whole(self) -> Iterator[bytes]:
        """All its bytes, piece by piece."""
        datas = (records.data for records in self.records)
        yield self.head
        yield next(datas, b"").removeprefix(self.between)
        yield from datas
        yield self.tail

    @property
    def line_ends(self) -> tuple[bytes, ...]:
        """How the bytes of a line may end; the first is how the header does."""
        ends = [self.layout.encode(end) for end in ("\r\n", "\r", "\n")]
        own = next((end for end in ends if self.head.endswith(end)), ends[-1])
        return own, *ends


def open_original(path: str) -> tuple[io.BufferedReader, Layout]:
    """A file to be read on after its mark, decompressed where its name says so."""
    file: io.BufferedReader = io.BufferedReader(cast(Any, open_bytes(path)), 1 << 18)
    layout = layout_of(file.peek(4)[:4])
    file.read(len(layout.mark))
    return file, layout


@dataclass(frozen=True)
class Encoded:
    """A file whose encoding no mark announces; what is read of it is a copy in UTF-8."""

    path: str
    codec: str

    def original(self, read_copy: Callable[[], Original]) -> Original:
        """The records of the copy as the bytes that they are in the file.

        Some encodings have two spellings of one text. Where the file is not the one that would be
        written now, its records stay in UTF-8.
        """
        if not self._is_written_so(read_copy()):
            note = f"written as UTF-8: not every byte can be told from the text in {self.codec}"
            return replace(read_copy(), note=note)
        copy = read_copy()
        records = (self._recoded_records(records) for records in copy.records)
        return replace(
            copy,
            layout=Layout(b"", self.codec),
            head=self._recoded(copy.head),
            records=records,
            between=self._recoded(copy.between),
            tail=self._recoded(copy.tail),
        )

    def _is_written_so(self, copy: Original) -> bool:
        with io.BufferedReader(cast(Any, open_bytes(self.path)), 1 << 18) as file:
            try:
                pieces = map(self._recoded, copy.whole())
                same = all(file.read(len(data)) == data for data in pieces)
            except UnicodeError:
                return False
            return same and not file.read(1)

    def _recoded(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        return text.encode(self.codec, "surrogateescape")

    def _recoded_records(self, records: Records) -> Records:
        edges = np.unique(np.concatenate([[0, len(records.data)], records.starts, records.ends]))
        edges = edges.astype(np.int64)
        pieces = [self._recoded(records.data[start:end]) for start, end in pairwise(edges)]
        places = np.cumsum([0, *map(len, pieces)])
        starts, ends = np.searchsorted(edges, records.starts), np.searchsorted(edges, records.ends)
        return Records(b"".join(pieces), places[starts], places[ends])


def original_lines(path: str, *, blank: bool) -> Original:
    """A file whose records are its lines."""
    file, layout = open_original(path)
    file.close()
    return Original(layout, layout.mark, _lines_of(path, blank=blank))


def _lines_of(path: str, *, blank: bool) -> Iterator[Records]:
    file, layout = open_original(path)
    with file:
        yield from lines_of(file, layout, blank=blank)


def lines_of(file: io.BufferedReader, layout: Layout, *, blank: bool) -> Iterator[Records]:
    """The lines of a file, after its mark; blank ones are records only where they count as such."""
    for data in _stretches(file, layout):
        units = layout.units(data)
        ends = _line_ends(units)
        starts = np.append(0, ends[:-1])
        if not blank:
            is_record = ~_are_blank(data, units, starts, ends, layout)
            starts, ends = starts[is_record], ends[is_record]
        yield Records(data, starts * layout.width, ends * layout.width)


def blank_lines(original: Original) -> Places:
    """For each blank line, how many records come before it."""
    feed = original.layout.encode("\n")
    before: list[int] = []
    rows = 0
    for records in original.records:
        starts, ends = np.append(0, records.ends), np.append(records.starts, len(records.data))
        for i in np.flatnonzero(ends > starts).tolist():
            before += [rows + i] * records.data[starts[i] : ends[i]].count(feed)
        rows += len(records)
    return np.array(before, np.int64)


class Lines:
    """The records of a file by their number, asked for in ascending order."""

    def __init__(self, path: str) -> None:
        original = original_lines(path, blank=False)
        self._layout = original.layout
        self._coming = original.records
        self._here = Records(b"", np.empty(0, np.int64), np.empty(0, np.int64))
        self._first = 0

    def at(self, number: int) -> bytes:
        """One record, as UTF-8."""
        while number >= self._first + len(self._here):
            self._first += len(self._here)
            self._here = next(self._coming)
        i = number - self._first
        line = self._here.data[self._here.starts[i] : self._here.ends[i]]
        return line.decode(self._layout.codec, "surrogateescape").encode("utf-8", "surrogateescape")


def _line_ends(units: Units) -> Places:
    """Where lines end, in units; the last line may lack its end."""
    ends = np.flatnonzero(units == _FEED) + 1
    if len(units) and (len(ends) == 0 or ends[-1] < len(units)):
        ends = np.append(ends, len(units))
    return ends


def _stretches(file: io.BufferedReader, layout: Layout) -> Iterator[bytes]:
    """The file in pieces that end with a line."""
    held: list[bytes] = []
    while piece := file.read(STRETCH):
        end = _after_last_feed(piece, layout)
        if end:
            yield b"".join([*held, piece[:end]])
            held = []
        held.append(piece[end:])
    if rest := b"".join(held):
        yield rest


def _after_last_feed(piece: bytes, layout: Layout) -> int:
    """Where the last line of a piece ends; 0 where none does. Pieces begin with a whole unit."""
    feeds = np.flatnonzero(layout.units(piece) == _FEED)
    return int(feeds[-1] + 1) * layout.width if len(feeds) else 0


def _are_blank(
    data: bytes, units: Units, starts: Places, ends: Places, layout: Layout
) -> npt.NDArray[np.bool_]:
    """Whether lines hold nothing but white space: few begin with any, and only they are read."""
    blank = np.isin(units[starts], _SPACES)
    for i in np.flatnonzero(blank):
        line = data[starts[i] * layout.width : ends[i] * layout.width]
        blank[i] = not line.decode(layout.codec, "replace").strip(" \t\n\v\f\r")
    return blank
