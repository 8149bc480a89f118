"""Shingles that count for nothing: those of templates, and those that too many documents have.

Both are sets of hashes, which the set of every document is taken without. Which shingles too many
documents have is found in two passes, in memory that does not grow with the corpus: one names all
that may be, and perhaps some others; the next counts these exactly.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.arrays import string_array
from nearly.measures.shingle import shingle_sets
from nearly.settings import TextSettings

__all__ = ["Hashes", "digest", "dropped_shingles", "from_bytes", "to_bytes"]

Hashes = npt.NDArray[np.uint64]

#: How hashes are written: the same bytes on every machine.
_STORED = np.dtype("<u8")


# A run has one set of them, and asks for it with every batch.
@lru_cache(maxsize=4)
def dropped_shingles(
    text: TextSettings, seed: int, common: bytes = b""
) -> _kernels.HashIndex | None:
    """What is dropped of every document, if anything is."""
    if not (text.templates or common):
        return None
    _, ignored = shingle_sets(string_array(text.templates), text, seed)
    return _kernels.HashIndex(np.union1d(ignored, from_bytes(common)))


def digest(given: str | bytes) -> str:
    """Stands for what is long."""
    import hashlib

    return hashlib.sha256(given if isinstance(given, bytes) else given.encode()).hexdigest()


def to_bytes(hashes: Hashes) -> bytes:
    """Hashes as a plain value, which travels and can be compared."""
    return hashes.astype(_STORED).tobytes()


def from_bytes(stored: bytes) -> Hashes:
    """The inverse of `to_bytes`."""
    return np.frombuffer(stored, _STORED).astype(np.uint64)
