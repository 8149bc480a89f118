"""One value of pieces: of a list, a map or an object each has some, and may go on with the last.

How deep a piece goes on is said with it. 1: this list has more elements. 2: the first element here
is the rest of the last one before, which has more elements itself; and so on.
"""

import re
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import numbers_of, spans
from nearly.sources.item import is_list

__all__ = ["JoinedValue", "joined"]

Depths = npt.NDArray[np.int64]

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class JoinedValue(ABC):
    """Takes pieces in order; nulls are none, and neither is their depth looked at."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._has_value = False

    def add(self, pieces: pa.Array, depths: Depths) -> None:
        """The next pieces, and how deep each goes on."""
        if pieces.null_count:
            is_there = pieces.is_valid()
            pieces, depths = (
                pieces.filter(is_there),
                depths[is_there.to_numpy(zero_copy_only=False)],
            )
        if len(pieces):
            self._add(pieces, depths)
            self._has_value = True

    def whole(self) -> pa.Array:
        """An array of one value."""
        return self._whole() if self._has_value else pa.nulls(1, self._kind)

    @abstractmethod
    def _add(self, pieces: pa.Array, depths: Depths) -> None: ...

    @abstractmethod
    def _whole(self) -> pa.Array: ...


def joined(kind: pa.DataType, *, narrow: bool = False) -> JoinedValue:
    """Nothing yet, for values of a type; the whole numbers of a list may come `narrow`."""
    if is_list(kind):
        return _JoinedList(kind, narrow=narrow)
    if pa.types.is_map(kind):
        return _JoinedMap(kind)
    if pa.types.is_struct(kind):
        return _JoinedObject(kind)
    return _JoinedText(kind) if pa.types.is_large_string(kind) else _Single(kind)


class _Single(JoinedValue):
    """A value without parts."""

    def _add(self, pieces: pa.Array, depths: Depths) -> None:  # noqa: ARG002
        if not self._has_value:
            self._value = pieces[:1]

    def _whole(self) -> pa.Array:
        return self._value


class _JoinedObject(JoinedValue):
    """An object of which each piece has some members."""

    def __init__(self, kind: pa.DataType) -> None:
        super().__init__(kind)
        self._members = [joined(field.type) for field in kind]

    def _add(self, pieces: pa.Array, depths: Depths) -> None:
        for member, values in zip(self._members, pieces.flatten(), strict=True):
            member.add(values, depths - 1)

    def _whole(self) -> pa.Array:
        values = [member.whole() for member in self._members]
        return pa.StructArray.from_arrays(values, fields=list(self._kind))


class _JoinedList(JoinedValue):
    """Elements are put one after the other as they come.

    Pieces that are held until the end would take as much again as the whole.
    """

    #: How much deeper a piece is seen by an element than by the list.
    _step = 1

    def __init__(self, kind: pa.DataType, *, narrow: bool = False) -> None:
        super().__init__(kind)
        self._is_narrow = narrow
        self._elements = _Growing(self._element_kind())
        #: The last element, which may go on.
        self._last = joined(self._element_kind())

    def _element_kind(self) -> pa.DataType:
        return self._kind.value_type

    def _add(self, pieces: pa.Array, depths: Depths) -> None:
        if not self._has_value:
            depths = np.append(1, depths[1:])
        goes_on = depths > 1
        # A piece of one element that goes on belongs together with those before and after it.
        is_part = goes_on & (self._lengths(pieces) == 1)
        kinds = np.where(is_part, 2, goes_on)
        ends = np.flatnonzero((np.diff(kinds) != 0) | (kinds[1:] == 1)) + 1
        for first, last in pairwise([0, *ends.tolist(), len(pieces)]):
            self._add_alike(self._flat(pieces.slice(first, last - first)), depths[first:last])

    def _lengths(self, pieces: pa.Array) -> npt.NDArray[np.int64]:
        ends = np.asarray(pieces.offsets).astype(np.int64)
        return ends[1:] - ends[:-1]

    def _flat(self, pieces: pa.Array) -> pa.Array:
        return pieces.flatten()

    def _add_alike(self, elements: pa.Array, depths: Depths) -> None:
        """The elements of pieces that begin alike."""
        if depths[0] > 1:
            count = len(depths)  # one of each, or the first of one piece
            self._last.add(elements[:count], depths - self._step)
            elements = elements[count:]
        if not len(elements):
            return
        self._settle()
        self._elements.add(elements[:-1])
        self._hold(elements[-1:])

    def _hold(self, element: pa.Array) -> None:
        self._last = joined(self._element_kind())
        self._last.add(element, np.zeros(1, np.int64))
        self._is_held = True

    _is_held = False

    def _settle(self) -> None:
        if self._is_held:
            self._elements.add(self._last.whole())
        self._is_held = False

    def _whole(self) -> pa.Array:
        self._settle()
        values = self._elements.whole()
        offsets = pa.array(np.array([0, len(values)]), pa.int64())
        found = pa.LargeListArray.from_arrays(offsets, values)
        is_enough = self._is_narrow and pa.types.is_integer(values.type)
        return found if is_enough else found.cast(self._kind)


class _JoinedMap(_JoinedList):
    """A map is a list of entries, and no level of its own for their values."""

    _step = 0

    def _element_kind(self) -> pa.DataType:
        return pa.struct(
            [pa.field("key", self._kind.key_type, False), pa.field("value", self._kind.item_type)]
        )

    def _flat(self, pieces: pa.Array) -> pa.Array:
        offsets = np.asarray(pieces.offsets)
        first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        columns = [pieces.keys[first : first + count], pieces.items[first : first + count]]
        return pa.StructArray.from_arrays(columns, fields=list(self._element_kind()))

    def _whole(self) -> pa.Array:
        self._settle()
        entries = self._elements.whole()
        offsets = pa.array(np.array([0, len(entries)]), pa.int32())
        keys, items = entries.flatten()
        return pa.MapArray.from_arrays(offsets, keys, items).cast(self._kind)


class _JoinedText(JoinedValue):
    """A string; or the JSON that DuckDB writes where a column has values of several kinds."""

    def _add(self, pieces: pa.Array, depths: Depths) -> None:
        texts = pieces.to_pylist()
        if not self._has_value:
            self._text = bytearray(texts.pop(0).encode())
            depths = depths[1:]
        for text, depth in zip(texts, depths.tolist(), strict=True):
            del self._text[len(self._text) - depth :]
            self._text += b"," + text[_opened(text, depth) :].encode()

    def _whole(self) -> pa.Array:
        ends = np.array([0, len(self._text)])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(self._text)]
        return pa.Array.from_buffers(self._kind, 1, buffers)


def _opened(text: str, depth: int) -> int:
    """Where the content begins after so many lists and objects were opened."""
    place = 1
    for _ in range(depth - 1):
        name = _STRING.match(text, place)
        place = name.end() + 2 if name else place + 1  # a colon and what is opened, or just this
    return place


class _Growing:
    """Values one after the other; room for numbers and strings grows where it stands.

    Whole numbers take as few bytes each as the largest of them needs.
    """

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._is_text = pa.types.is_large_string(kind)
        self._is_whole = pa.types.is_integer(kind)
        self._is_plain = self._is_text or self._is_whole or pa.types.is_floating(kind)
        self._others: list[pa.Array] = []
        self._begin()

    def _begin(self) -> None:
        self._data, self._ends = bytearray(), bytearray(8)
        self._number = np.dtype("int8" if self._is_whole else "float64")

    def add(self, values: pa.Array) -> None:
        if not len(values):
            return
        if not self._is_plain or values.null_count:
            self._others += [*self._settled(), values]
        elif self._is_text:
            offsets, data = spans(values)
            here = offsets[1:] - offsets[0] + len(self._data)
            self._ends += here.data
            self._data += data[offsets[0] : offsets[-1]].data
        else:
            self._add_numbers(numbers_of(values))

    def _add_numbers(self, numbers: npt.NDArray[Any]) -> None:
        kind = _narrowest(numbers) if self._is_whole else numbers.dtype
        if not self._data or kind.itemsize > self._number.itemsize:
            held = np.frombuffer(self._data, self._number)
            self._data, self._number = bytearray(len(held) * kind.itemsize), kind
            np.frombuffer(self._data, kind)[:] = held
        self._data += numbers.astype(self._number, copy=False).data

    def _settled(self) -> list[pa.Array]:
        """What has grown, where a null makes an end of it."""
        if not self._data and len(self._ends) == 8:
            return []
        buffers = [None, pa.py_buffer(self._data)]
        if self._is_text:
            buffers.insert(1, pa.py_buffer(self._ends))
            kind, count = self._kind, len(self._ends) // 8 - 1
        else:
            kind = pa.from_numpy_dtype(self._number)
            count = len(self._data) // self._number.itemsize
        self._begin()
        return [pa.Array.from_buffers(kind, count, buffers)]

    def whole(self) -> pa.Array:
        pieces = [*self._others, *self._settled()]
        if not pieces:
            return pa.array([], self._kind)
        if len(pieces) == 1:
            return pieces[0]
        return pa.concat_arrays([piece.cast(self._kind) for piece in pieces])


def _narrowest(numbers: npt.NDArray[Any]) -> np.dtype[Any]:
    """The type of the fewest bytes that holds all of these whole numbers."""
    low, high = numbers.min(), numbers.max()
    kinds = [np.dtype(f"{numbers.dtype.kind}{width}") for width in (1, 2, 4)]
    holding = (kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return next(holding, numbers.dtype)
