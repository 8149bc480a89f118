"""One value of pieces: a list whose elements are read some at a time."""

import numpy as np
import pyarrow as pa

from nearly.arrays import numbers_of, spans
from nearly.sources.item import is_list

__all__ = ["JoinedValue"]


class JoinedValue:
    """The list of all elements that are added, or the only value that is there.

    Elements of a list are put one after the other as they come: pieces that are held until the
    end would take as much again as the whole.
    """

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._values: list[pa.Array] = []
        self._growing = _Growing(kind.value_type) if is_list(kind) else None

    def add(self, pieces: pa.Array) -> None:
        """Take the values that are there; a null is no piece."""
        there = pieces.filter(pieces.is_valid()) if pieces.null_count else pieces
        if self._growing is None or not len(there):
            self._values += [there] * bool(len(there))
            return
        self._values = [there.slice(0, 0)]
        self._growing.add(there.flatten())

    def whole(self) -> pa.Array:
        """An array of one value."""
        if not self._values:
            return pa.nulls(1, self._kind)
        if self._growing is not None:
            values = self._growing.whole()
            offsets = pa.array(np.array([0, len(values)]), pa.int64())
            return pa.LargeListArray.from_arrays(offsets, values).cast(self._kind)
        if sum(map(len, self._values)) == 1:
            return self._values[0]
        # Where a column has values of several kinds, a list is the JSON that DuckDB writes of it.
        texts = [value[1:-1] for piece in self._values for value in piece.to_pylist()]
        return pa.array([f"[{','.join(filter(None, texts))}]"], self._kind)


class _Growing:
    """Values one after the other; room for numbers and strings grows where it stands."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._is_text = pa.types.is_large_string(kind)
        self._is_plain = self._is_text or pa.types.is_integer(kind) or pa.types.is_floating(kind)
        self._others: list[pa.Array] = []
        self._data, self._ends = bytearray(), bytearray(8)

    def add(self, values: pa.Array) -> None:
        if not self._is_plain or values.null_count:
            self._others += [*self._settled(), values]
        elif self._is_text:
            offsets, data = spans(values)
            here = offsets[1:] - offsets[0] + len(self._data)
            self._ends += here.data
            self._data += data[offsets[0] : offsets[-1]].data
        else:
            self._data += numbers_of(values).data

    def _settled(self) -> list[pa.Array]:
        """What has grown, where a null makes an end of it."""
        if not self._data and len(self._ends) == 8:
            return []
        buffers = [None, pa.py_buffer(self._data)]
        if self._is_text:
            buffers.insert(1, pa.py_buffer(self._ends))
            count = len(self._ends) // 8 - 1
        else:
            count = len(self._data) // (self._kind.bit_width // 8)
        self._data, self._ends = bytearray(), bytearray(8)
        return [pa.Array.from_buffers(self._kind, count, buffers)]

    def whole(self) -> pa.Array:
        pieces = [*self._others, *self._settled()]
        if not pieces:
            return pa.array([], self._kind)
        return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
