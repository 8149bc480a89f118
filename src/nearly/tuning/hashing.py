"""What the mathematics knows of a measure: how likely documents agree, by how close they are.

Closeness runs from 0 (nothing in common) to 1 (the same). A similarity is its own closeness; a
distance is turned into one by its measure.
"""

import math
from collections.abc import Sequence
from functools import cache

from nearly.frozen import dataclass
from nearly.tuning.family import Family, MinHash, Sensitivity, Sketch

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
    corpus lie. Where a row is a single bit, it is cheap: a permutation of the settings stands for
    several of them, and a sketch keeps those of the first positions, `most_sketched` of them.

    `least_drawn`, if it is not 0: keys are not compared with keys. Each is drawn from one document,
    at least that many of them, and looked for in the other one as a whole. So a band has one row,
    and the agreement counts keys that were found.

    `far`: what is compared is a distance, and two documents that are so far apart have a closeness
    of 0, from where it rises evenly to 1.
    """

    row: Family
    sketch: Family
    bits: int
    pairs: Closenesses
    rows_a_permutation: int = 1
    most_sketched: int | None = None
    least_drawn: int = 0
    far: float | None = None

    @property
    def most_rows(self) -> int | None:
        """Rows that a band can have; None: any number."""
        return 1 if self.least_drawn else None

    def sensitivity(self, closeness: float) -> Sensitivity:
        """What a row promises of pairs at a threshold, and of those that are half as similar, or
        twice as far apart."""
        near = 1 - closeness
        if self.far is None:
            return self.row.sensitivity(near, 1 - closeness / 2)
        d1, d2, p1, p2 = self.row.sensitivity(near, min(1.0, 2 * near or 1.0))
        return Sensitivity(d1 * self.far, d2 * self.far, p1, p2)

    def distance(self, closeness: float) -> float:
        """How far apart two documents are, where it is a distance that is compared."""
        return (1 - closeness) * (1.0 if self.far is None else self.far)

    def sketched(self, positions: int) -> int:
        """How many positions of a signature of this length are in its sketch."""
        return min(positions, self.most_sketched or positions)

    def sketch_words(self, positions: int) -> int:
        """64-bit words in the sketch of a signature of this length."""
        return -(-self.sketched(positions) * self.bits // SKETCH_WORD_BITS)


#: Minhashes of sets, of which a sketch keeps two bits; strangers share a few shingles.
MINHASH = Hashing(row=MinHash(), sketch=Sketch(2), bits=2, pairs=background(0.07, 2e-4))
