"""The words or characters of documents, each with its place in the text as it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans, take_strings
from nearly.measures.normalisation import normalise
from nearly.settings import PassageSettings, TextSettings

__all__ = ["HOLE", "Hashes", "Numbers", "Units", "cut", "in_slices"]

Numbers = npt.NDArray[np.uint32]
Hashes = npt.NDArray[np.uint64]

#: The number of a unit that is left out.
HOLE: Final = np.uint32(0xFFFFFFFF)

#: Bytes of text that a thread cuts at a time, or more.
_SLICE: Final = 8_000_000
#: Columns that say where units stand.
_PLACES: Final = ("starts", "ends", "begins")
#: Units that are not worth a thread.
_FEW: Final = 500_000

Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class Units:
    """The units of all documents, one document behind the other."""

    offsets: npt.NDArray[np.int64]  # where the units of each document begin
    hashes: Hashes  # of the normalised units
    numbers: Numbers  # where their spelling is
    starts: Numbers  # code points of the document's text
    ends: Numbers
    begins: npt.NDArray[np.uint8]  # whether a sentence begins with the unit
    spelling: pa.LargeStringArray  # of normalised units: all of them, some perhaps twice

    @property
    def documents(self) -> Numbers:
        """The document of each unit."""
        count = len(self.offsets) - 1
        return np.repeat(np.arange(count, dtype=np.uint32), np.diff(self.offsets))

    def part(self, start: int, end: int) -> tuple[npt.NDArray[np.int64], Hashes]:
        """Where the units of documents [start, end) begin, and their hashes."""
        first, last = int(self.offsets[start]), int(self.offsets[end])
        return self.offsets[start : end + 1] - first, self.hashes[first:last]


def cut(
    texts: pa.LargeStringArray,
    settings: PassageSettings,
    *,
    unit: Literal["word", "char"] | None = None,
    threads: int = 1,
) -> Units:
    """Every unit by its normalised form; what has none, such as a lone accent, is left out."""
    words, folds = (unit or settings.unit) == "word", settings.case == "fold"

    def work(part: slice) -> _Part:
        return _cut(texts[part], settings.text, words=words, folds=folds)

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, _slices(texts)))
    return _joined(parts, threads)


def _slices(texts: pa.LargeStringArray) -> list[slice]:
    """Documents in a row, enough of them to be worth a thread."""
    offsets, _ = spans(texts)
    steps = np.arange(int(offsets[0]) + _SLICE, int(offsets[-1]), _SLICE)
    borders = np.unique(np.concatenate([[0], np.searchsorted(offsets, steps), [len(texts)]]))
    return [slice(int(a), int(b)) for a, b in pairwise(borders)] or [slice(0)]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Units of some documents, by numbers of their own."""

    offsets: npt.NDArray[np.int64]
    numbers: Numbers
    starts: Numbers
    ends: Numbers
    begins: npt.NDArray[np.uint8]
    names: Hashes
    spelling: pa.LargeStringArray


def _cut(texts: pa.LargeStringArray, text: TextSettings, *, words: bool, folds: bool) -> _Part:
    offsets, numbers, starts, ends, begins, text_ends, data = _kernels.cut_units(
        *spans(texts), words=words, folds=folds
    )
    buffers = pa.py_buffer(text_ends), pa.py_buffer(data)
    collected = pa.LargeStringArray.from_buffers(len(text_ends) - 1, *buffers)
    spelling = normalise(collected, replace(text, space="keep"))
    names = _kernels.hash_units(*spans(spelling))
    part = _Part(
        offsets=offsets,
        numbers=numbers,
        starts=starts,
        ends=ends,
        begins=begins,
        names=names,
        spelling=spelling,
    )
    return part if names.all() else _without_empty(part)


def _without_empty(part: _Part) -> _Part:
    kept = part.names[part.numbers] != 0
    counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return replace(
        part,
        offsets=counts[part.offsets],
        numbers=part.numbers[kept],
        starts=part.starts[kept],
        ends=part.ends[kept],
        begins=part.begins[kept],
    )


def _joined(parts: list[_Part], threads: int) -> Units:
    """The parts one behind the other, with numbers for all of them; the parts are used up."""
    if len(parts) == 1:
        return _alone(parts[0])
    names, firsts, new = np.unique(
        np.concatenate([part.names for part in parts]), return_index=True, return_inverse=True
    )
    sizes = np.cumsum([0, *(len(part.numbers) for part in parts)])
    offsets = [part.offsets[1:] + size for part, size in zip(parts, sizes, strict=False)]
    spelling = pa.concat_arrays([part.spelling for part in parts])
    known = np.split(new.astype(np.uint32), np.cumsum([len(part.names) for part in parts[:-1]]))
    columns = {name: [getattr(part, name) for part in parts] for name in (*_PLACES, "numbers")}
    parts.clear()  # so that of a long document one column is held twice, and not all
    placed = {name: _one_column(columns.pop(name), threads) for name in _PLACES}
    numbers = _one_column(columns.pop("numbers"), threads, known)
    hashes = np.empty(len(numbers), np.uint64)

    def look_up(part: slice) -> None:
        np.take(names, numbers[part], out=hashes[part], mode="clip")

    in_slices(look_up, len(numbers), threads)
    return Units(
        offsets=np.concatenate([np.zeros(1, np.int64), *offsets]),
        hashes=hashes,
        numbers=numbers,
        **placed,
        spelling=take_strings(spelling, firsts.astype(np.uint32)),
    )


def _one_column(
    pieces: Sequence[npt.NDArray[Any]], threads: int, known: Sequence[Numbers] | None = None
) -> npt.NDArray[Any]:
    """The pieces one behind the other; if their new numbers are known, by these."""
    column = np.empty(sum(map(len, pieces)), pieces[0].dtype)
    places = np.split(column, np.cumsum([len(piece) for piece in pieces[:-1]]))

    def fill(i: int) -> None:
        if known is None:
            places[i][:] = pieces[i]
        else:
            np.take(known[i], pieces[i], out=places[i], mode="clip")

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(len(pieces))))
    return column


def _alone(part: _Part) -> Units:
    """One part, which keeps its numbers."""
    return Units(
        offsets=part.offsets,
        hashes=part.names[part.numbers],
        numbers=part.numbers,
        starts=part.starts,
        ends=part.ends,
        begins=part.begins,
        spelling=part.spelling,
    )


def in_slices(work: Callable[[slice], Made], size: int, threads: int) -> list[Made]:
    """Work on slices of so many units, by all threads."""
    step = max(_FEW, -(-size // (4 * threads)))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, (slice(i, i + step) for i in range(0, max(1, size), step))))
