"""Vectors: from a column of lists, bytes or whole numbers to the contents that a measure compares.

A list becomes its numbers, in single precision where the column has it and in double where not;
bytes and whole numbers of 64 bits, such as fingerprints, are rows of bits as they are. In a column
of texts, as all of a CSV are, bits are written as 0 and 1, or as whole numbers.
"""

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import BITS, numbers_of
from nearly.errors import SourceError
from nearly.frozen import dataclass
from nearly.sources.item import is_list

__all__ = ["Shape", "contents_of", "shape_of", "shown", "why_none"]

#: Beyond these, squares of numbers cannot be told in double precision.
LEAST, GREATEST = 1e-150, 1e150

#: How many numbers of a vector are shown.
SHOWN: Final = 6


@dataclass(frozen=True)
class Shape:
    """How many numbers or bits a vector has, and of what kind they are: <f4, <f8 or bits."""

    number: str
    length: int | None  # not known before the first vector is

    @property
    def width(self) -> int:
        """Bytes of a vector."""
        length = self.length or 0
        return length // 8 if self.number == BITS else length * np.dtype(self.number).itemsize

    def known(self, first: Any) -> "Shape":
        """The same, as long as the first vector, where nothing else said how long."""
        if self.length is not None or first is None:
            return self
        if isinstance(first, str):
            return replace(self, length=_written_length(first))
        return replace(self, length=len(first) * (8 if self.number == BITS else 1))


def shape_of(kind: pa.DataType, column: str, name: str) -> Shape:
    """What the type of a column says of its vectors."""
    if pa.types.is_fixed_size_binary(kind):
        return Shape(BITS, 8 * kind.byte_width)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or _is_text(kind):
        return Shape(BITS, None)
    if kind in (pa.int64(), pa.uint64()):
        return Shape(BITS, 64)
    if not is_list(kind) or not _is_number(kind.value_type):
        raise SourceError(
            f"column {column!r} of {name} holds {kind}, and vectors are needed: lists of numbers, "
            "or bits as bytes or whole numbers of 64 bits. Name another column."
        )
    single = pa.types.is_float32(kind.value_type) or pa.types.is_float16(kind.value_type)
    length = kind.list_size if pa.types.is_fixed_size_list(kind) else None
    return Shape("<f4" if single else "<f8", length)


def _is_number(kind: pa.DataType) -> bool:
    is_plain = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    return bool(is_plain or pa.types.is_decimal(kind) or pa.types.is_null(kind))


def contents_of(column: pa.Array, shape: Shape) -> pa.LargeBinaryArray:
    """The bytes of each vector; null for what is none, which `why_none` explains."""
    if shape.number == BITS:
        return _bits_of(column, shape)
    matrix, good = _matrix_of(column, shape)
    with np.errstate(invalid="ignore"):
        sizes = np.abs(matrix).max(axis=1, initial=0.0).astype(np.float64)
    good &= np.isfinite(sizes) & (sizes <= GREATEST) & ((sizes >= LEAST) | (sizes == 0))
    return _rows(matrix.view(np.uint8).reshape(len(matrix), shape.width), good)


def why_none(value: Any, shape: Shape) -> str:
    """Why a value is no vector of this shape."""
    if value is None:
        return "null vector"
    if isinstance(value, str):
        return f"{value!r} is not {_written(shape)}"
    length = len(value) * (8 if shape.number == BITS else 1)
    noun = "bits" if shape.number == BITS else "numbers"
    if length != shape.length:
        return f"{length} {noun}, and other vectors have {shape.length}"
    if any(number is None for number in value):
        return "a null among its numbers"
    bad = next((n for n in map(float, value) if not math.isfinite(n)), None)
    if bad is not None:
        return f"{'not a number' if math.isnan(bad) else 'an infinite number'} in it"
    return f"numbers beyond {LEAST:g} and {GREATEST:g}, which cannot be squared"


def shown(value: Any, shape: Shape) -> str:
    """What people read of a vector: its first numbers, or all its bits."""
    if isinstance(value, str):
        value = _read_bits(value, shape)
    if isinstance(value, int):
        return f"{value % 2**64:064b}" if shape.length == 64 else f"{value:0{shape.length}b}"
    if isinstance(value, bytes):
        return "".join(f"{byte:08b}" for byte in value)
    first = " ".join(f"{float(number):.4g}" for number in value[:SHOWN])
    return first if len(value) <= SHOWN else f"{first} … ({shape.length} numbers)"


def _is_text(kind: pa.DataType) -> bool:
    is_plain = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_plain or pa.types.is_string_view(kind))


def _written_length(first: str) -> int:
    """How many bits a text says: those of 0 and 1 as many as there are, numbers 64."""
    text = first.strip()
    is_bits = len(text) >= 8 and not text.strip("01")
    if is_bits and len(text) % 8 == 0:
        return len(text)
    if is_bits or _read_bits(text, Shape(BITS, 64)) is None:
        raise SourceError(
            f"the first vector is the text {first!r}; a text can be bits, written as 0 and 1, a "
            "multiple of 8 of them, or a whole number of 64 bits. Lists of numbers are read from "
            "JSON Lines and Parquet."
        )
    return 64


def _written(shape: Shape) -> str:
    number = ", or a whole number of 64 bits" if shape.length == 64 else ""
    return f"{shape.length} bits, written as 0 and 1{number}"


def _read_bits(text: str, shape: Shape) -> int | None:
    """The bits that a text says, as a number that has them; None: it says none of this shape."""
    text = text.strip()
    if len(text) == shape.length and not text.strip("01"):
        return int(text, 2)
    if shape.length == 64 and len(text) <= 20 and text.removeprefix("-").isdecimal():
        number = int(text)
        return number % 2**64 if -(2**63) <= number < 2**64 else None
    return None


def _bits_of(column: pa.Array, shape: Shape) -> pa.LargeBinaryArray:
    if _is_text(column.type):
        read = (None if v is None else _read_bits(v, shape) for v in column.to_pylist())
        written = [None if v is None else v.to_bytes(shape.width, "little") for v in read]
        return pa.array(written, pa.large_binary())
    if pa.types.is_integer(column.type):
        filled = column.fill_null(0) if column.null_count else column
        words = numbers_of(filled).astype(column.type.to_pandas_dtype())
        return _rows(words.view(np.uint8).reshape(len(words), 8), _validity(column))
    column = column.cast(pa.large_binary())
    lengths = np.array([0 if v is None else len(v) for v in column.to_pylist()], np.int64)
    return _with_nulls(column, _validity(column) & (lengths == shape.width))


def _matrix_of(column: pa.Array, shape: Shape) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """One row per vector, and which of them have the right number of numbers."""
    good = _validity(column)
    length = shape.length or 0
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.large_list(column.type.value_type))
    offsets = np.asarray(column.offsets).astype(np.int64)
    values = column.values
    good &= np.diff(offsets) == length
    if values.null_count:
        before = np.append(0, np.cumsum(np.asarray(values.is_null())))
        good &= before[offsets[1:]] == before[offsets[:-1]]
        values = values.cast(pa.float64()).fill_null(0.0)
    numbers = np.asarray(values if pa.types.is_floating(values.type) else values.cast(pa.float64()))
    if good.all():
        matrix = numbers[offsets[0] : offsets[-1]].reshape(len(column), length)
        return np.ascontiguousarray(matrix, shape.number), good
    matrix = np.zeros((len(column), length), shape.number)
    places = offsets[:-1][good, None] + np.arange(length)
    matrix[good] = numbers[places]
    return matrix, good


def _validity(column: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(column.is_valid()) if column.null_count else np.ones(len(column), bool)


def _rows(rows: npt.NDArray[np.uint8], good: npt.NDArray[np.bool_]) -> pa.LargeBinaryArray:
    """Each row of bytes as one value, without copying; null where it is not good."""
    offsets = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(rows)]
    return _with_nulls(pa.Array.from_buffers(pa.large_binary(), len(rows), buffers), good)


def _with_nulls(values: pa.Array, good: npt.NDArray[np.bool_]) -> pa.LargeBinaryArray:
    if good.all():
        return values
    bits = pa.py_buffer(np.packbits(good, bitorder="little"))
    offsets, data = values.buffers()[1:]
    if values.offset:
        offsets = pa.py_buffer(np.frombuffer(offsets, np.int64)[values.offset :].copy())
    missing = int((~good).sum())
    buffers = [bits, offsets, data]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers, missing)
