"""Arrow arrays made from their buffers.

`pa.array` would do, but it imports pandas wherever that is installed, which takes longer
than reading a small corpus.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

__all__ = ["string_array", "whole_numbers"]


def string_array(values: Sequence[str | None], kind: pa.DataType | None = None) -> pa.Array:
    """Python strings as `large_string`, or as another kind of string.

    Raises UnicodeEncodeError for a lone surrogate, and AttributeError for what is no string.
    """
    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    missing = values.count(None)
    valid = pa.py_buffer(_bits([value is not None for value in values])) if missing else None
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    array = pa.Array.from_buffers(pa.large_string(), len(encoded), buffers, missing)
    return array if kind is None else array.cast(kind)


def whole_numbers(first: int, count: int) -> pa.Array:
    """The numbers from `first` on, as int64."""
    numbers = np.arange(first, first + count, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(numbers)], 0)


def _bits(flags: Sequence[bool]) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.packbits(np.array(flags, dtype=bool), bitorder="little")
