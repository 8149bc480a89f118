"""Arrow arrays as they lie in memory: shown to a kernel, and made of what a kernel gives.

Arrays are made from their buffers. `pa.array` would do, but it imports pandas wherever that is
installed, and other calls import `pyarrow.compute`; both take longer than a small corpus.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels

__all__ = [
    "BITS",
    "binary_rows",
    "by_target",
    "characters_in",
    "column_of",
    "count_characters",
    "flags_of",
    "lengths_of",
    "list_column",
    "matrix_of",
    "narrowed",
    "numbers_of",
    "optional_numbers",
    "spans",
    "string_array",
    "take_strings",
    "truths_of",
    "utf8_array",
    "whole_numbers",
    "widened",
]

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

#: The kind of number of a vector that is a row of bits.
BITS: Final = "bits"

_NO_BYTES = np.empty(0, np.uint8)
#: Bytes that characters are counted in at a time.
PIECE = 2**20


def spans(texts: pa.LargeStringArray) -> tuple[Offsets, Bytes]:
    """The offsets and the bytes of the texts, as they lie in memory: nothing is copied."""
    _, offsets, data = texts.buffers()
    if offsets is None or len(texts) == 0:
        return np.zeros(1, np.int64), _NO_BYTES
    window = _window(offsets, np.int64, texts.offset, len(texts) + 1)
    return window, _NO_BYTES if data is None else np.frombuffer(data, np.uint8)


def count_characters(texts: pa.LargeStringArray) -> int:
    """Characters of all the texts together."""
    offsets, data = spans(texts)
    return characters_in(data[offsets[0] : offsets[-1]])


def characters_in(data: Bytes) -> int:
    """Characters of a text; some at a time, for what is made on the way is as large as these."""
    pieces = (data[start : start + PIECE] for start in range(0, len(data), PIECE))
    return sum(int(np.count_nonzero((piece & 0xC0) != 0x80)) for piece in pieces)


def lengths_of(contents: pa.Array) -> pa.Array:
    """Characters of each text; of items, which are eight bytes each, how many there are."""
    import pyarrow.compute as pc

    if contents.type == pa.large_binary():
        return pc.divide(pc.binary_length(contents), 8)
    return pc.utf8_length(contents).cast(pa.int64())


def column_of(numbers: npt.NDArray[Any]) -> pa.Array:
    """An Arrow array of the same numbers, without copying."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(kind, len(numbers), [None, buffer])


def optional_numbers(values: Sequence[int | None]) -> pa.Int64Array:
    """Whole numbers, some of which may be missing."""
    numbers = np.array([0 if value is None else value for value in values], np.int64)
    missing = values.count(None)
    valid = pa.py_buffer(_bits([value is not None for value in values])) if missing else None
    return pa.Array.from_buffers(pa.int64(), len(values), [valid, pa.py_buffer(numbers)], missing)


def list_column(lists: Sequence[Sequence[Any]], joined: pa.Array) -> pa.ListArray:
    """Lists, given all that is in them one behind the other."""
    ends = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(each) for each in lists], out=ends[1:])
    return pa.ListArray.from_arrays(column_of(ends), joined)


def numbers_of(column: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an Arrow array without nulls, without copying."""
    if len(column) == 0:
        return np.empty(0, column.type.to_pandas_dtype())
    kind = column.type.to_pandas_dtype()
    return _window(column.buffers()[1], kind, column.offset, len(column))


def _window(buffer: pa.Buffer, kind: npt.DTypeLike, offset: int, count: int) -> npt.NDArray[Any]:
    """Some numbers of a buffer, which may be longer than they are, by any number of bytes."""
    width = np.dtype(kind).itemsize
    return np.frombuffer(buffer, kind, count, offset * width)


def binary_rows(matrix: npt.NDArray[Any]) -> pa.FixedSizeBinaryArray:
    """Each row of a matrix as one value of fixed width, without copying."""
    width = matrix.shape[1] * matrix.itemsize
    buffers = [None, pa.py_buffer(matrix)]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(matrix), buffers)


def matrix_of(column: pa.FixedSizeBinaryArray, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """The inverse of `binary_rows`."""
    width = column.type.byte_width
    start = column.offset * width
    data = np.frombuffer(column.buffers()[1], np.uint8)[start : start + len(column) * width]
    return data.view(kind).reshape(len(column), width // np.dtype(kind).itemsize)


def truths_of(flags: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """An Arrow array of the same truth values."""
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, pa.py_buffer(_bits(flags))])


def flags_of(truths: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """Truths of a column without nulls, one byte each."""
    return numbers_of(truths.cast(pa.uint8())).astype(bool)


def string_array(values: Sequence[str | None], kind: pa.DataType | None = None) -> pa.Array:
    """Python strings as `large_string`, or as another kind of string.

    Raises UnicodeEncodeError for a lone surrogate, and AttributeError for what is no string.
    """
    array = utf8_array([None if value is None else value.encode() for value in values])
    if kind == pa.string() and array.null_count == 0:
        return narrowed(array)
    return array if kind is None else array.cast(kind)


def utf8_array(values: Sequence[bytes | None]) -> pa.LargeStringArray:
    """Strings as they are encoded; what is no UTF-8 must not be among them."""
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum([len(value or b"") for value in values], out=offsets[1:])
    missing = values.count(None)
    valid = pa.py_buffer(_bits([value is not None for value in values])) if missing else None
    data = b"".join(value or b"" for value in values)
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(values), buffers, missing)


def widened(strings: pa.StringArray) -> pa.LargeStringArray:
    """The same strings with 64-bit offsets; only the offsets are copied."""
    if len(strings) == 0:
        return string_array([])
    _, offsets, data = strings.buffers()
    window = _window(offsets, np.int32, strings.offset, len(strings) + 1)
    wide = pa.py_buffer(window.astype(np.int64))
    return pa.LargeStringArray.from_buffers(len(strings), wide, data or pa.py_buffer(b""))


def narrowed(strings: pa.LargeStringArray) -> pa.StringArray:
    """The same strings with 32-bit offsets, which have to be enough; no string is null."""
    offsets, data = spans(strings)
    if offsets[-1] - offsets[0] > np.iinfo(np.int32).max:
        raise pa.ArrowInvalid("more than 2 GiB of strings in one array")
    narrow = pa.py_buffer((offsets - offsets[0]).astype(np.int32))
    window = pa.py_buffer(data[offsets[0] : offsets[-1]])
    return pa.StringArray.from_buffers(len(strings), narrow, window)


def take_strings(
    strings: pa.LargeStringArray, places: npt.NDArray[np.uint32]
) -> pa.LargeStringArray:
    """The strings at these places, in the given order."""
    offsets, data = spans(strings)
    starts, ends = offsets[places], offsets[places + 1]
    taken = np.zeros(len(places) + 1, np.int64)
    np.cumsum(ends - starts, out=taken[1:])
    gathered = pa.py_buffer(_kernels.gather(data, starts, ends))
    return pa.Array.from_buffers(strings.type, len(places), [None, pa.py_buffer(taken), gathered])


def whole_numbers(first: int, count: int) -> pa.Array:
    """The numbers from `first` on, as int64."""
    numbers = np.arange(first, first + count, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(numbers)], 0)


def _bits(flags: Sequence[bool] | npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    return np.packbits(np.asarray(flags, dtype=bool), bitorder="little")


def by_target(
    targets: npt.NDArray[Any], *columns: npt.NDArray[Any]
) -> Iterator[tuple[int, list[npt.NDArray[Any]]]]:
    """The rows of some columns target by target, in the order in which they come."""
    if len(targets) == 0:
        return
    lowest = targets.min()
    near = targets - lowest  # Numbers of 16 bits are sorted by their digits.
    order = np.argsort(near.astype(np.uint16) if near.max() < 2**16 else near, kind="stable")
    ordered = targets[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(ordered))
    sorted_columns = [column[order] for column in columns]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(ordered[start]), [column[start:end] for column in sorted_columns]
