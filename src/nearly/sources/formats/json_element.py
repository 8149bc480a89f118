"""The elements of a JSON file as the bytes that they are: what its clean copy is cut from."""

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.sources.record import STRETCH, Original, Places, Records, open_original

__all__ = ["element_spans", "original_elements"]

Bytes = npt.NDArray[np.uint8]

_SPACE = b" \t\n\r"
#: What a byte outside of strings does to the depth.
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_IS_SPACE = np.zeros(256, bool)
_IS_SPACE[list(_SPACE)] = True


class Spans(NamedTuple):
    """Where each element is, with white space around it; and whether all are in an array."""

    starts: Places
    ends: Places
    in_array: bool


def original_elements(path: str) -> Original | None:
    """A file that was read as one array, or as objects one after the other.

    Each element is kept byte for byte. What stands between the first two is put between all, for
    mostly it is the same. None where bytes do not tell the elements: in UTF-16, among strays.
    """
    spans = element_spans(path)
    if spans is None:
        return None
    file, layout = open_original(path)
    with file:
        head, between, tail = _frame(_Pieces(file), spans)
    records = _records(path, spans, between)
    return Original(layout, layout.mark + head, records, between=between, tail=tail)


def element_spans(path: str) -> Spans | None:
    """Where the elements of a file are; None where bytes do not tell, or there is none."""
    file, layout = open_original(path)
    with file:
        spans = _spans(file) if layout.width == 1 else None
    return spans if spans is not None and len(spans.starts) else None


def _frame(pieces: "_Pieces", spans: Spans) -> tuple[bytes, bytes, bytes]:
    """What stands before the first element, after the first and after the last."""
    starts, ends = spans.starts.tolist(), spans.ends.tolist()
    head = pieces.read(0, starts[0])
    raw = pieces.read(starts[0], ends[0])
    before, after = _margins(raw)
    between = b"," + before if spans.in_array else b"\n"
    if len(starts) > 1:
        gap = pieces.read(ends[0], starts[1])
        raw = pieces.read(starts[1], ends[1])
        between = after + gap + _margins(raw)[0]
    if len(starts) > 2:
        raw = pieces.read(starts[-1], ends[-1])
    return head + before, between, _margins(raw)[1] + pieces.rest()


def _margins(raw: bytes) -> tuple[bytes, bytes]:
    """The white space before and after an element."""
    left, right = len(raw) - len(raw.lstrip(_SPACE)), len(raw.rstrip(_SPACE))
    return raw[:left], raw[right:]


def _records(path: str, spans: Spans, between: bytes) -> Iterator[Records]:
    file, _ = open_original(path)
    with file:
        pieces = _Pieces(file)
        held: list[bytes] = []
        size = 0
        for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True):
            held.append(between + pieces.read(start, end).strip(_SPACE))
            size += len(held[-1])
            if size >= STRETCH:
                yield _together(held)
                held, size = [], 0
        yield _together(held)


def _together(elements: Sequence[bytes]) -> Records:
    ends = np.cumsum([0, *map(len, elements)])
    return Records(b"".join(elements), ends[:-1], ends[1:])


class _Pieces:
    """Pieces of a file by their places after its mark, asked for in ascending order."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._place = 0

    def read(self, start: int, end: int) -> bytes:
        """One piece; what lies before it is read past."""
        while self._place < start:
            self._place += len(self._file.read(min(STRETCH, start - self._place)))
        self._place = end
        return self._file.read(end - start)

    def rest(self) -> bytes:
        """All after the last piece."""
        return self._file.read()


def _spans(file: io.BufferedReader) -> Spans | None:
    """The elements of a file; None where more than objects and white space lies outside."""
    in_array, depth, in_string, place = None, 0, 0, 0
    found = []
    while data := _stretch(file):
        units = np.frombuffer(data, np.uint8)
        strings = (np.cumsum(_quotes(units)) + in_string) & 1
        steps = np.where(strings == 0, _STEPS[units], 0)
        depths = np.cumsum(steps) + depth
        if in_array is None and not (is_space := _IS_SPACE[units]).all():
            in_array = units[is_space.argmin()] == ord("[")
        if in_array:
            is_comma = (units == ord(",")) & (strings == 0)
            edges = ((is_comma | (steps == 1)) & (depths == 1)) | ((steps == -1) & (depths == 0))
        else:
            edges = (steps == -1) & (depths == 0)
            if ((depths == 0) & ~edges & ~_IS_SPACE[units]).any():
                return None
        found.append(np.flatnonzero(edges) + place)
        depth, in_string, place = int(depths[-1]), int(strings[-1]), place + len(units)
    places = np.concatenate([np.empty(0, np.int64), *found])
    if in_array:
        return Spans(places[:-1] + 1, places[1:], in_array=True)
    return Spans(np.append(0, places + 1)[:-1], places + 1, in_array=False)


def _stretch(file: io.BufferedReader) -> bytes:
    """The next bytes; an escape is not parted from what it escapes."""
    data = file.read(STRETCH)
    while data.endswith(b"\\") and (more := file.read(1)):
        data += more
    return data


def _quotes(units: Bytes) -> npt.NDArray[np.bool_]:
    """The quotes that begin or end a string: an even number of backslashes stands before each."""
    is_quote: npt.NDArray[np.bool_] = units == ord('"')
    is_escape = units == ord("\\")
    if is_escape.any():
        places = np.arange(len(units))
        runs = places - np.maximum.accumulate(np.where(is_escape, -1, places))
        is_quote[1:] &= (runs[:-1] & 1) == 0
    return is_quote
