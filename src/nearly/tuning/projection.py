"""Families of random projections, for distances between vectors (Datar and others, 2004).

A vector is laid on a random line, which is cut into cells; two vectors agree if they lie in one
cell. Where the numbers of the line are drawn from a p-stable distribution, how far apart two
vectors come to lie on it is distributed as the distance between them: Gauss's for Euclid's
distance, Cauchy's for Manhattan's, and one for each power between.

Distances are counted in thresholds: 1 is as far apart as a pair may be. `width` is that of a cell,
and documents that are `far` apart have a closeness of 0.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from nearly.tuning.family import Chance, Family
from nearly.tuning.quadrature import gauss

__all__ = [
    "Cauchy",
    "CauchyParity",
    "Gauss",
    "GaussParity",
    "Parity",
    "Projection",
    "Stable",
    "StableParity",
]

#: Terms of a series; those left out make a chance of missing greater by 2e-4 at most.
TERMS: Final = 500
#: Periods of a wave that are summed up; what is beyond them is smooth.
PERIODS: Final = 32


@dataclass(frozen=True)
class Projection(Family):
    """One random line."""

    width: float
    far: float

    def apart(self, similarity: float) -> float:
        """How many cells wide the distance is."""
        return max(0.0, 1 - similarity) * self.far / self.width


@dataclass(frozen=True)
class Gauss(Projection):
    """The same cell on a line of normally distributed numbers."""

    def chance(self, similarity: float) -> Chance:
        apart = self.apart(similarity)
        if apart == 0:
            return Chance(1.0, 0.0)
        over = math.sqrt(2 / math.pi) * apart * -math.expm1(-0.5 / apart**2)
        beyond = 1 / (apart * math.sqrt(2))
        return Chance(math.erf(beyond) - over, math.erfc(beyond) + over)


@dataclass(frozen=True)
class Cauchy(Projection):
    """The same cell on a line of numbers with Cauchy's distribution."""

    def chance(self, similarity: float) -> Chance:
        apart = self.apart(similarity)
        if apart == 0:
            return Chance(1.0, 0.0)
        over = apart * math.log1p(apart**-2) / math.pi
        return Chance(
            2 * math.atan(1 / apart) / math.pi - over, 2 * math.atan(apart) / math.pi + over
        )


@dataclass(frozen=True)
class Stable(Projection):
    """The same cell on a line of numbers with the stable distribution of a power, 1 to 2.

    It has no formula but its characteristic function, exp(-|t|^power): Cauchy's for 1, and for 2
    that of normally distributed numbers whose variance is 2.
    """

    power: float

    def chance(self, similarity: float) -> Chance:
        apart = self.apart(similarity)
        if apart == 0:
            return Chance(1.0, 0.0)
        missed = _parted(apart, self.power)
        return Chance(1 - missed, missed)


@dataclass(frozen=True)
class Parity(Projection):
    """Cells that are both even, or both odd.

    The chance by how far apart two places on the line are is a triangular wave; as a Fourier
    series, it needs only the characteristic function of the line's distribution.
    """

    def characteristic(self, frequency: float) -> float:
        """Of the distribution, for a distance of 1."""
        raise NotImplementedError

    def chance(self, similarity: float) -> Chance:
        apart = self.apart(similarity)
        if apart == 0:
            return Chance(1.0, 0.0)
        above = 4 / math.pi**2 * _waves(self.characteristic, apart)
        return Chance(0.5 + above, 0.5 - above)


@dataclass(frozen=True)
class GaussParity(Parity):
    """Of a line of normally distributed numbers."""

    def characteristic(self, frequency: float) -> float:
        return math.exp(-(frequency**2) / 2)


@dataclass(frozen=True)
class CauchyParity(Parity):
    """Of a line of numbers with Cauchy's distribution."""

    def characteristic(self, frequency: float) -> float:
        return math.exp(-frequency)


@dataclass(frozen=True)
class StableParity(Parity):
    """Of a line of numbers with the stable distribution of a power."""

    power: float

    def characteristic(self, frequency: float) -> float:
        return math.exp(-(frequency**self.power))


@cache
def _parted(apart: float, power: float) -> float:
    """How likely two places lie in different cells, by the characteristic function.

    They share a cell with the chance max(0, 1 - distance), whose Fourier transform is a squared
    sine over a square. Far out its mean, a half, stands for the sine's square.
    """

    def lost(t: float) -> float:
        return -math.expm1(-((apart * t) ** power))

    def wave(t: float) -> float:
        return lost(t) * (math.sin(t / 2) / (t / 2)) ** 2

    end = 2 * math.pi * PERIODS
    first = [2 * math.pi * 0.5**i for i in range(12)]
    cuts = [0.0, *reversed(first), *(2 * math.pi * i for i in range(2, PERIODS + 1))]
    near = math.fsum(gauss(wave, *ends) for ends in itertools.pairwise(cuts))
    tails = [0.0, *(0.5**i / end for i in range(11, -1, -1))]
    beyond = math.fsum(gauss(lambda u: lost(1 / u), *ends) for ends in itertools.pairwise(tails))
    return min(1.0, (near + 2 * beyond) / math.pi)


@cache
def _waves(characteristic: Callable[[float], float], apart: float) -> float:
    """The sum of the series, which is asked for again and again."""
    total = 0.0
    for k in range(1, 2 * TERMS, 2):
        total += (term := characteristic(math.pi * k * apart) / k**2)
        if term < total * 1e-18:
            break
    return total
