"""From texts to sets of shingles, and to their signatures.

A signature itself is not kept: its bands are hashed to keys that say in which buckets the
document lies, and two bits of each position make the sketch that tells, before a text is
touched, whether two documents can be similar enough. docs/signatures.md states all of it
bit by bit.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.measures.held_shingles import Sets
from nearly.measures.normalisation import normalise
from nearly.settings import Scheme, TextSettings

__all__ = [
    "SIGNATURE_VERSION",
    "auto_k",
    "shingle_bags",
    "shingle_sets",
    "signatures",
]

#: Of docs/signatures.md: what is signed by one version cannot be compared with what another signed.
SIGNATURE_VERSION: Final = 2

#: From this many characters on a document is no longer a message but an article.
LONG = 2_000


def auto_k(unit: str, mean_length: float) -> int:
    """5 characters for short documents, 9 for long ones (kth, on k-shingles); 3 or 5 words."""
    is_long = mean_length >= LONG
    return (9 if is_long else 5) if unit == "char" else (5 if is_long else 3)


def shingle_sets(
    texts: pa.LargeStringArray,
    text: TextSettings,
    seed: int,
    *,
    in_order: bool = False,
    dropped: _kernels.HashIndex | None = None,
) -> Sets:
    """Each document's set of shingles, as hashes, sorted where that is asked for."""
    return _kernels.shingle_sets(
        *spans(normalise(texts, text)),
        unit=text.unit,
        k=text.whole_k,
        seed=seed,
        in_order=in_order,
        dropped=dropped,
    )


def shingle_bags(texts: pa.LargeStringArray, text: TextSettings, seed: int) -> Sets:
    """Each document's bag of shingles: a shingle that occurs again has another hash, in order."""
    return _kernels.shingle_bags(
        *spans(normalise(texts, text)), unit=text.unit, k=text.whole_k, seed=seed
    )


def signatures(
    texts: pa.LargeStringArray,
    text: TextSettings,
    seed: int,
    scheme: Scheme,
    positions: int,
    *,
    dropped: _kernels.HashIndex | None = None,
) -> npt.NDArray[np.uint32]:
    """Whole signatures, 32 bits per position: for estimates and for those who want to look."""
    return _kernels.signatures(
        *spans(normalise(texts, text)),
        unit=text.unit,
        k=text.whole_k,
        seed=seed,
        scheme=scheme,
        positions=positions,
        dropped=dropped,
    )
