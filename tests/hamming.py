"""A measure made outside the package: Hamming distance of bit strings, by bit sampling.

A document is a string of zeros and ones, all of one length. A row of a signature is the pair of
two bits at random places: two documents agree in it with the square of the share of equal bits. A
sketch keeps one bit of a row, and so agrees with that share.
"""

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pyarrow as pa

from nearly.measures.base import Measure, Signed, Weighed
from nearly.tuning.family import Chance, Family
from nearly.tuning.hashing import Hashing, background


@dataclass(frozen=True)
class Bits(Family):
    """Some random bits are all equal, by the share of equal bits."""

    count: int

    def chance(self, similarity):
        return Chance(similarity**self.count, 1 - similarity**self.count)


@dataclass(frozen=True, kw_only=True)
class Hamming(Measure):
    name: ClassVar[str] = "hamming"
    is_distance: ClassVar[bool] = True

    length: int
    seed: int = 1

    @property
    def hashing(self):
        return Hashing(row=Bits(2), sketch=Bits(1), bits=1, pairs=background(0.5, 1e-3))

    def closeness(self, nearness):
        return 1 + Fraction(nearness) / self.length

    def closenesses(self, nearness):
        return 1 + nearness / self.length

    def bits(self, contents):
        text = "".join(contents.to_pylist()).encode()
        return np.frombuffer(text, np.uint8).reshape(len(contents), self.length) - ord("0")

    def weigh(self, contents):
        sizes = np.full(len(contents), self.length, np.uint32)
        digests = [
            hashlib.blake2b(bits.tobytes(), digest_size=16).digest() for bits in self.bits(contents)
        ]
        return Weighed(
            sizes=sizes, digests=np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)
        )

    def sign(self, contents, banding):
        weighed = self.weigh(contents)
        draw = np.random.default_rng(self.seed)
        places = draw.integers(0, self.length, (banding.bands, banding.rows, 2))
        bits = self.bits(contents).astype(np.uint64)
        sampled = bits[:, places.reshape(banding.bands, -1)]
        weights = draw.integers(1, 2**32, sampled.shape[1:], dtype=np.uint64) | np.uint64(1)
        keys = (sampled * weights).sum(axis=2)
        kept = np.packbits(bits[:, places[:, :, 0].reshape(-1)].astype(bool), 1, "little")
        width = 8 * banding.hashing.sketch_words(banding.permutations)
        sketches = np.zeros((len(contents), width), np.uint8)
        sketches[:, : kept.shape[1]] = kept
        return Signed(
            sizes=weighed.sizes,
            digests=weighed.digests,
            keys=(keys ^ keys >> np.uint64(32)).astype(np.uint32),
            sketches=sketches.view(np.uint64),
        )

    def compare(self, contents, first, second, threshold):
        bits = self.bits(contents)
        nearness = -(bits[first] != bits[second]).sum(axis=1).astype(float)
        if threshold is not None:
            nearness[nearness < float(threshold)] = np.nan
        return nearness


def bit_strings(texts: list[str]) -> pa.Table:
    return pa.table({"id": [f"d{i}" for i in range(len(texts))], "text": texts})
