"""How an Arrow array of texts is shown to a kernel, and how a kernel's arrays become Arrow."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["binary_rows", "matrix_of", "spans"]

Offsets = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_NO_BYTES = np.empty(0, np.uint8)


def spans(texts: pa.LargeStringArray) -> tuple[Offsets, Bytes]:
    """The offsets and the bytes of the texts, as they lie in memory: nothing is copied."""
    _, offsets, data = texts.buffers()
    if offsets is None or len(texts) == 0:
        return np.zeros(1, np.int64), _NO_BYTES
    window = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return window, _NO_BYTES if data is None else np.frombuffer(data, np.uint8)


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
    return data.view(kind).reshape(len(column), -1)
