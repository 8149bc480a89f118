"""Contents of documents, compressed in blocks: any one of them is read with its block."""

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import spans

__all__ = ["TextBlock", "compressed", "unpacked"]

#: Bytes of contents in a block: more compress better, and take longer to read for one of them.
BLOCK_BYTES: Final = 2**14

#: A question reads a block for each text that it is compared with, so what counts is how fast it
#: is unpacked: three times as fast as Zstandard, for a third to three fifths more room.
_CODEC = pa.Codec("lz4_raw")


class TextBlock(NamedTuple):
    """Some contents, one after the other, compressed."""

    lengths: npt.NDArray[np.uint32]  # bytes of each
    data: bytes | memoryview


def compressed(contents: pa.Array) -> Iterator[TextBlock]:
    """All of them, in blocks of about `BLOCK_BYTES`."""
    offsets, data = spans(contents)
    lengths = np.diff(offsets).astype(np.uint32)
    blocks = (offsets[:-1] - offsets[0]) // BLOCK_BYTES
    starts = [0, *(np.flatnonzero(np.diff(blocks)) + 1).tolist(), len(lengths)]
    for first, last in itertools.pairwise(starts):
        if first < last:
            piece = data[offsets[first] : offsets[last]]
            packed = _CODEC.compress(pa.py_buffer(piece), asbytes=True) if len(piece) else b""
            yield TextBlock(lengths[first:last], packed)


def unpacked(data: memoryview, size: int) -> bytes:
    """The contents of one block, which have `size` bytes together."""
    if size == 0:
        return b""
    unpacked: bytes = _CODEC.decompress(pa.py_buffer(data), size, asbytes=True)
    return unpacked
