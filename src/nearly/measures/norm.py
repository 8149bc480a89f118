"""Distances L_r of vectors: Euclid's, Manhattan's, and those of other powers.

They are hashed by p-stable projections (kth; Datar 2004). A vector is laid on a random line that
is cut into cells. The line's numbers are drawn from a distribution that makes two vectors as far
apart on it, by chance, as they are: Gauss's for Euclid's distance, Cauchy's for Manhattan's, and
one for each power between. A row of a signature is a cell. Above 2 there is no such distribution.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.errors import SettingsError
from nearly.measures.base import Signed
from nearly.measures.vector import Kernel, Shaped, VectorDistance
from nearly.measures.vector_bound import MOST_COORDINATES, Apart
from nearly.settings import Settings
from nearly.tuning.banding import Banding
from nearly.tuning.hashing import Hashing, background
from nearly.tuning.projection import (
    Cauchy,
    CauchyParity,
    Gauss,
    GaussParity,
    Parity,
    Projection,
    Stable,
    StableParity,
)

__all__ = ["Euclidean", "Manhattan", "Minkowski"]

Doubles = npt.NDArray[np.float64]

#: In thresholds: vectors that are farther apart have nothing in common.
FAR: Final = 10.0
#: Numbers of all lines together: 1 GiB.
MOST_NUMBERS: Final = 2**27
#: More than a power of a whole number can be off by.
SLACK: Final = 1 + 1e-9


class Law(NamedTuple):
    """A distribution of the numbers of lines.

    How likely two vectors lie in one cell, how likely their cells are both even or both odd, and
    what makes numbers of two rows of others that are spread evenly from 0 to 1.
    """

    row: Projection
    parity: Parity
    drawn: Callable[[Doubles], Doubles]


def _normal(chances: Doubles) -> Doubles:
    """By Box and Muller."""
    normal: Doubles = np.sqrt(-2 * np.log(chances[0])) * np.cos(2 * np.pi * chances[1])
    return normal


def _tangent(chances: Doubles) -> Doubles:
    """Of a random angle."""
    tangents: Doubles = np.tan(np.pi * (chances[0] - 0.5))
    return tangents


def _stable(power: float, chances: Doubles) -> Doubles:
    """By Chambers, Mallows and Stuck (1976)."""
    angle, wait = np.pi * (chances[0] - 0.5), -np.log(chances[1])
    bent: Doubles = np.sin(power * angle) / np.cos(angle) ** (1 / power)
    bent *= (np.cos((1 - power) * angle) / wait) ** ((1 - power) / power)
    return bent


GAUSS: Final = Law(Gauss(4.0, FAR), GaussParity(4.0, FAR), _normal)
CAUCHY: Final = Law(Cauchy(8.0, FAR), CauchyParity(8.0, FAR), _tangent)


@cache
def _law(power: float) -> Law:
    """Cells are 8 thresholds wide for a power of 1, as Cauchy's, and narrower from there."""
    width = 2.0 ** (3.5 - power / 2)
    kind = (width, FAR, power)
    return Law(Stable(*kind), StableParity(*kind), partial(_stable, power))


@dataclass(frozen=True, kw_only=True)
class Norm(VectorDistance):
    """The length of the difference of two vectors, whichever length that is."""

    scale: float  # the threshold, in whose measure lines are cut

    @classmethod
    def of(cls, settings: Settings, shape: Shaped) -> Self:
        """As settings say, for vectors of this shape."""
        return cls(
            length=shape.length or 0,
            number=shape.number,
            seed=settings.seed,
            scale=float(settings.within or 1.0),
            **cls.more_of(settings),
        )

    @classmethod
    def more_of(cls, settings: Settings) -> dict[str, Any]:  # noqa: ARG003
        """What else a kind of length is told."""
        return {}

    @property
    @abstractmethod
    def law(self) -> Law | None:
        """How lines are drawn; None: there are no lines for this length."""

    @property
    def far(self) -> float:
        """See `VectorDistance`."""
        return FAR * self.scale

    @property
    def hashing(self) -> Hashing | None:
        """A cell for each line, of which a sketch keeps the parity."""
        if self.law is None:
            return None
        return Hashing(
            row=self.law.row,
            sketch=self.law.parity,
            bits=1,
            pairs=background(0.1, 1e-3),
            rows_a_permutation=2,
            most_sketched=512,
            far=self.far,
        )

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """Keys of the cells of each band."""
        if self.law is None:
            return super().sign(contents, banding)
        weighed = self.weigh(contents)
        bands, rows = banding.bands, banding.rows
        lines = _lines(self.law, self.length, self.seed, bands * rows)
        keys, sketches = _kernels.project_vectors(
            self.vectors(contents),
            lines.directions,
            lines.shifts,
            self.law.row.width * self.scale,
            bands,
            rows,
            banding.sketched,
        )
        return Signed(sizes=weighed.sizes, digests=weighed.digests, keys=keys, sketches=sketches)

    def bound(self, drawn: Any, threshold: Fraction) -> Apart:
        """By squares."""
        return Apart.by_squares(drawn, -float(threshold))

    @property
    def head(self) -> int:
        """Four bytes a coordinate."""
        return 4 * (MOST_COORDINATES + 1)


@dataclass(frozen=True, kw_only=True)
class Euclidean(Norm):
    """The root of the sum of squares."""

    name: ClassVar[str] = "euclidean"
    law: ClassVar[Law] = GAUSS

    @property
    def kernel(self) -> Kernel:
        """The negative of the distance."""
        return _kernels.euclidean


@dataclass(frozen=True, kw_only=True)
class Manhattan(Norm):
    """The sum of steps."""

    name: ClassVar[str] = "manhattan"
    law: ClassVar[Law] = CAUCHY

    @property
    def kernel(self) -> Kernel:
        """The negative of the distance."""
        return _kernels.manhattan

    def bound(self, drawn: Any, threshold: Fraction) -> Apart:
        """By steps."""
        return Apart.by_steps(drawn, -float(threshold))

    @property
    def head(self) -> int:
        """Four bytes a number."""
        return 4 * self.length


@dataclass(frozen=True, kw_only=True)
class Minkowski(Norm):
    """The root of the sum of powers, the root being that of the power."""

    name: ClassVar[str] = "minkowski"

    power: float  # 1 or more, in quarters

    @classmethod
    def more_of(cls, settings: Settings) -> dict[str, Any]:
        """The power, which has to be given."""
        if settings.power is None:
            raise SettingsError(
                "minkowski is the distance L_r and power is not given; say which r is meant, for "
                "example power=1.5"
            )
        return {"power": float(settings.power)}

    @property
    def law(self) -> Law | None:
        """Up to 2."""
        return _law(self.power) if self.power <= 2 else None

    @property
    def kernel(self) -> Kernel:
        """The negative of the distance."""
        return partial(_kernels.minkowski, quarters=round(4 * self.power))

    def bound(self, drawn: Any, threshold: Fraction) -> Apart:
        """By squares: Euclid's distance is no greater up to a power of 2, and no greater than
        n^(1/2 - 1/r) times as great beyond it."""
        more = self.length ** max(0.0, 0.5 - 1 / self.power) * SLACK
        return Apart.by_squares(drawn, -float(threshold) * more)


class _Lines(NamedTuple):
    """One for each position of a signature: its direction, and the part of a cell that it is
    shifted by."""

    directions: Doubles
    shifts: Doubles


@lru_cache(maxsize=4)
def _lines(law: Law, length: int, seed: int, positions: int) -> _Lines:
    """From a stream of bits that every version of numpy makes alike.

    Numbers are rounded to single precision: the logarithms and tangents of machines differ in their
    last bits.
    """
    if length * positions > MOST_NUMBERS:
        raise SettingsError(
            f"vectors of {length:,} numbers are too long for {positions:,} projections; find every "
            "pair with --method exact, or give fewer permutations"
        )
    stream = np.random.PCG64(seed)
    shifts = _chances(stream, positions)
    chances = _chances(stream, 2 * positions * length).reshape(2, positions, length)
    return _Lines(law.drawn(chances).astype(np.float32).astype(np.float64), shifts)


def _chances(stream: np.random.PCG64, count: int) -> Doubles:
    """Above 0, below 1."""
    raw: npt.NDArray[np.uint64] = stream.random_raw(count)
    return ((raw >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
