"""What the mathematics knows of a measure: how likely documents agree, by how close they are.

Closeness runs from 0 (nothing in common) to 1 (the same). A similarity is its own closeness; a
distance is turned into one by its measure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from nearly.tuning.family import Family, MinHash, Sketch

__all__ = ["MINHASH", "Closenesses", "Hashing", "background"]

#: A distribution of pairs over closeness: (closeness, weight), the weights being shares
#: of all pairs or counts of them.
Closenesses = Sequence[tuple[float, float]]

BACKGROUND_BINS = 200
SKETCH_WORD_BITS = 64


@cache
def background(unrelated_mean: float, related_share: float) -> Closenesses:
    """Where the pairs of a corpus lie when nothing is known of it, as shares of all pairs.

    Unrelated pairs fall off exponentially from 0; a small share, the related ones, is
    spread evenly up to 1.
    """
    edges = [i / BACKGROUND_BINS for i in range(BACKGROUND_BINS + 1)]
    falling = [math.exp(-edge / unrelated_mean) for edge in edges]
    unrelated = (1 - related_share) / (falling[0] - falling[-1])
    return tuple(
        (
            (edges[i] + edges[i + 1]) / 2,
            unrelated * (falling[i] - falling[i + 1]) + related_share / BACKGROUND_BINS,
        )
        for i in range(BACKGROUND_BINS)
    )


@dataclass(frozen=True, kw_only=True)
class Hashing:
    """The hash functions of a measure.

    `row`: two documents agree in one position of a signature. `sketch`: they agree in what a
    sketch keeps of a position, which is 1 or 2 `bits`. `pairs`: where the pairs of an unknown
    corpus lie.
    """

    row: Family
    sketch: Family
    bits: int
    pairs: Closenesses

    def sketch_words(self, positions: int) -> int:
        """64-bit words in the sketch of a signature of this length."""
        return -(-positions * self.bits // SKETCH_WORD_BITS)


#: Minhashes of sets, of which a sketch keeps two bits; strangers share a few shingles.
MINHASH = Hashing(row=MinHash(), sketch=Sketch(2), bits=2, pairs=background(0.07, 2e-4))
