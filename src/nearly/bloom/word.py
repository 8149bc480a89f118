"""The bits of filters, as words of 64 that a kernel works on."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from nearly.tuning.bloom import BLOCK_BYTES

__all__ = ["Words", "empty_words", "estimated_values"]

Words = npt.NDArray[np.uint64]

_BITS_OF_BYTE: Final = np.array([byte.bit_count() for byte in range(256)])


def empty_words(blocks: int) -> Words:
    """Blocks of bits that are all 0, each on a line of the cache."""
    memory = np.zeros((blocks + 1) * BLOCK_BYTES, np.uint8)
    start = -memory.ctypes.data % BLOCK_BYTES
    return memory[start : start + blocks * BLOCK_BYTES].view(np.uint64)


def estimated_values(words: Words, hashes: int) -> int:
    """How many values have set these bits, by the share that is still 0."""
    bits = 64 * len(words)
    counts = np.bincount(words.view(np.uint8), minlength=256)
    clear = bits - int(counts @ _BITS_OF_BYTE)
    return round(bits / hashes * math.log(bits / max(1, clear)))
