"""What an index is asked: one document, as a measure takes it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.errors import SettingsError
from nearly.index.making import Making, Shape
from nearly.sources.item import contents_of

__all__ = ["content_of"]


def content_of(making: Making, asked: Any) -> pa.Array:
    """One document as a measure takes it."""
    kind = type(asked).__name__
    if making.holds_items:
        if isinstance(asked, str) or not isinstance(asked, Iterable):
            raise SettingsError(f"the question is a {kind}, and the index holds sets; give a list")
        return contents_of(pa.array([list(asked)]))
    if making.shape is not None:
        return _vector(making.shape, asked)
    if not isinstance(asked, str):
        raise SettingsError(f"the question is a {kind}; give a text")
    data = asked.encode()
    offsets = np.array([0, len(data)], np.int64)
    return pa.LargeStringArray.from_buffers(1, pa.py_buffer(offsets), pa.py_buffer(data))


def _vector(shape: Shape, asked: Any) -> pa.Array:
    is_bits = shape.number == "bits"
    try:
        data = bytes(asked) if is_bits else np.asarray(asked).astype(shape.number).tobytes()
    except (TypeError, ValueError):
        data = b""
    size = 1 / 8 if is_bits else np.dtype(shape.number).itemsize
    if len(data) != (shape.length or 0) * size:
        what = "bits" if is_bits else "numbers"
        raise SettingsError(
            f"the question does not fit the index; give a vector of {shape.length} {what}"
        )
    return pa.array([data], pa.large_binary())
