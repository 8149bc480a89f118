"""Directions of vectors, by random hyperplanes (kth; Charikar 2002): their cosine, or their angle.

On which side of a random hyperplane a vector lies is one bit, and two vectors agree in it with a
chance of 1 - angle/180°. A row of a signature is such a bit.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.measures.base import Signed
from nearly.measures.pair import Nearness
from nearly.measures.vector import COSTS, Kernel, VectorDistance, VectorMeasure
from nearly.measures.vector_bound import MOST_COORDINATES, Products
from nearly.tuning.banding import Banding
from nearly.tuning.family import Hyperplane, Side
from nearly.tuning.hashing import Hashing, background
from nearly.tuning.method import Costs

__all__ = ["Angle", "Cosine"]

#: Embeddings of texts have a direction in common: strangers are similar by 0.3 and more.
OF_COSINES: Final = Hashing(
    row=Hyperplane(),
    sketch=Hyperplane(),
    bits=1,
    pairs=background(0.3, 1e-3),
    rows_a_permutation=16,
    most_sketched=512,
)
HALF_TURN: Final = 180.0
#: The same in degrees: strangers are at a right angle, or a little less.
OF_ANGLES: Final = Hashing(
    row=Side(),
    sketch=Side(),
    bits=1,
    pairs=background(0.5, 1e-3),
    rows_a_permutation=16,
    most_sketched=512,
    far=HALF_TURN,
)


class Direction(VectorMeasure):
    """What is compared is where vectors point, however long they are."""

    # A join multiplies bytes: half a nanosecond for a pair, or less.
    costs: ClassVar[Costs] = replace(COSTS, look_of_a_join=0.02)
    joined_fast: ClassVar[int] = 2**15

    def is_empty(self, contents: pa.Array) -> npt.NDArray[np.bool_]:
        """A vector of zeros has no direction."""
        has_none: npt.NDArray[np.bool_] = ~self.vectors(contents).any(axis=1)
        return has_none

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """Keys of the bits of each band; a sketch keeps the first bits."""
        weighed = self.weigh(contents)
        keys, sketches = _kernels.sign_vectors(
            self.vectors(contents), self.seed, banding.bands, banding.rows, banding.sketched
        )
        return Signed(sizes=weighed.sizes, digests=weighed.digests, keys=keys, sketches=sketches)

    @property
    def head(self) -> int:
        """A byte per coordinate, and what is added."""
        return MOST_COORDINATES + 4


@dataclass(frozen=True, kw_only=True)
class Cosine(Direction):
    """The cosine of the angle between two vectors: 1 where they point the same way."""

    name: ClassVar[str] = "cosine"

    @property
    def hashing(self) -> Hashing:
        """A bit for each hyperplane."""
        return OF_COSINES

    def closeness(self, nearness: Fraction) -> Fraction:
        """Vectors at a right angle have nothing in common, and beyond it no less."""
        return max(Fraction(0), nearness)

    def closenesses(self, nearness: Nearness) -> Nearness:
        """See `closeness`."""
        return np.maximum(nearness, 0.0)

    @property
    def kernel(self) -> Kernel:
        """The cosine itself."""
        return _kernels.cosines

    def bound(self, drawn: Any, threshold: Fraction) -> Products:
        """By products."""
        return Products.of(drawn, float(threshold))


@dataclass(frozen=True, kw_only=True)
class Angle(Direction, VectorDistance):
    """The angle between two vectors in degrees, from 0 to 180."""

    name: ClassVar[str] = "angle"

    @property
    def hashing(self) -> Hashing:
        """A bit for each hyperplane."""
        return OF_ANGLES

    @property
    def far(self) -> float:
        """Opposite directions."""
        return HALF_TURN

    @property
    def kernel(self) -> Kernel:
        """The negative of the angle."""
        return _kernels.angles

    def bound(self, drawn: Any, threshold: Fraction) -> Products:
        """By products: the greater the angle, the smaller the cosine."""
        return Products.of(drawn, math.cos(math.radians(float(threshold))))
