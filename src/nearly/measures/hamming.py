"""Hamming distance: in how many places two vectors differ, by bit sampling (kth).

A row of a signature is the bit at a random place, and two vectors agree in it with the share of
places that are equal. Numbers have a bit each: that of 0 and of 1 is the number itself, that of any
other is drawn by a hash. So numbers that differ may have the same bit, and vectors agree more often
than is promised, never less.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import BITS, spans
from nearly.measures.base import Signed
from nearly.measures.number import Documents
from nearly.measures.vector import Kernel, VectorDistance
from nearly.tuning.banding import Banding
from nearly.tuning.family import Place
from nearly.tuning.hashing import Hashing, background

__all__ = ["Hamming"]

Words = npt.NDArray[np.uint64]

WORD: Final = 64
#: Spreads the bits of a number, so that the highest of them is as good as drawn.
SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)

#: Words of bits by which rows are put next to near ones.
PLACED: Final = 4


@dataclass(frozen=True, kw_only=True)
class Hamming(VectorDistance):
    """How many bits, or numbers, differ."""

    name: ClassVar[str] = "hamming"
    counts: ClassVar[bool] = True

    @property
    def far(self) -> float:
        """Every place differs."""
        return float(max(1, self.length))

    @property
    def hashing(self) -> Hashing:
        """A bit for each place; half of the bits of strangers are equal."""
        return Hashing(
            row=Place(),
            sketch=Place(),
            bits=1,
            pairs=background(0.5, 1e-3),
            rows_a_permutation=16,
            most_sketched=512,
            far=self.far,
        )

    def vectors(self, contents: pa.Array) -> Any:
        """Numbers, or the words of bits."""
        return self._words(contents) if self.number == BITS else super().vectors(contents)

    @property
    def kernel(self) -> Kernel:
        """Counted down from 0."""
        return _kernels.hamming if self.number == BITS else _kernels.differing_places

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """Keys of the bits at random places, some of them more than once."""
        weighed = self.weigh(contents)
        drawn = np.random.PCG64(self.seed).random_raw(banding.permutations)
        places = (drawn % np.uint64(max(1, self.length))).astype(np.uint32)
        keys, sketches = _kernels.sample_bits(
            self.bits(self.vectors(contents)), places, banding.bands, banding.rows, banding.sketched
        )
        return Signed(sizes=weighed.sizes, digests=weighed.digests, keys=keys, sketches=sketches)

    def bound(self, drawn: Any, threshold: Fraction) -> "_Bits":  # noqa: ARG002
        """By bits."""
        return _Bits(self, int(-threshold))

    @property
    def head(self) -> int:
        """Whole words."""
        return 8 * (1 + self.length // WORD)

    def bits(self, vectors: Any) -> Words:
        """A bit for each place, in words."""
        if self.number == BITS:
            words: Words = vectors
            return words
        hashed = np.ascontiguousarray(vectors, np.float64).view(np.uint64) * SPREAD
        is_set = (hashed >> np.uint64(WORD - 1)).astype(bool)
        is_set[vectors == 0] = False
        is_set[vectors == 1] = True
        return _in_words(np.packbits(is_set, axis=1, bitorder="little"))

    def _words(self, contents: pa.Array) -> Words:
        offsets, data = spans(contents)
        return _in_words(data[offsets[0] : offsets[-1]].reshape(len(contents), self.width))


@dataclass(frozen=True)
class _Bits:
    """Bits that differ: as many as numbers do, or fewer."""

    measure: Hamming
    most: int

    def heads(self, vectors: npt.NDArray[Any]) -> Words:
        """See `Bound`."""
        return self.measure.bits(vectors)

    def places(self, heads: Words) -> npt.NDArray[np.float32]:
        """See `Bound`: a few of the bits."""
        some = np.ascontiguousarray(heads[:, :PLACED])
        return np.unpackbits(some.view(np.uint8), axis=1).astype(np.float32)

    def near(self, mine: Words, theirs: Words, *, same: bool) -> tuple[Documents, Documents]:
        """See `Bound`."""
        return _kernels.near_bits(mine, theirs, self.most, same)


def _in_words(rows: npt.NDArray[np.uint8]) -> Words:
    """Rows of bytes as rows of words, with zeros at their ends."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view(np.uint64)
