"""Families of hash functions, and what AND and OR make of them.

A family is known by one curve: the chance that two documents of a given similarity agree.
Constructions take families and give families, and compose freely: AND then OR is the band
scheme, OR then AND its mirror, at least k of n the test of agreement of two signatures
(azgomi, section 5, leaves these as future work; kth defines sensitivity).
"""

import math
from typing import NamedTuple

from nearly.errors import SettingsError
from nearly.frozen import dataclass

__all__ = [
    "And",
    "AtLeast",
    "Cascade",
    "Chance",
    "Family",
    "Hyperplane",
    "Linear",
    "MeanHyperplane",
    "MinHash",
    "Or",
    "Place",
    "Sensitivity",
    "Side",
    "Sketch",
]


class Chance(NamedTuple):
    """The probabilities that a pair is found and that it is missed.

    They add up to 1, and both are kept: the smaller does not survive being taken from 1.
    """

    found: float
    missed: float


class Sensitivity(NamedTuple):
    """A (d1, d2, p1, p2)-sensitive family (kth): p1 at least up to d1, p2 at most from d2."""

    d1: float
    d2: float
    p1: float
    p2: float


class Family:
    """A family of hash functions, known by the chance that two documents agree.

    Every chance rises with similarity, and so every construction of them does.
    """

    def chance(self, similarity: float) -> Chance:
        """What becomes of a pair of this similarity."""
        raise NotImplementedError

    def probability(self, similarity: float) -> float:
        """The probability that a pair of this similarity is found."""
        return self.chance(similarity).found

    def closeness(self, probability: float) -> float:
        """The inverse: how close two documents are that agree with this probability."""
        low, high = 0.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            below = self.probability(middle) < probability
            low, high = (middle, high) if below else (low, middle)
        return high

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """What the family promises up to distance d1 and from d2; distance is 1 - similarity."""
        if not 0 <= d1 < d2 <= 1:
            raise SettingsError(f"d1 is {d1!r} and d2 is {d2!r}; distances need 0 <= d1 < d2 <= 1")
        return Sensitivity(d1, d2, self.probability(1 - d1), self.probability(1 - d2))

    def and_(self, times: int) -> "And":
        """All of `times` independent functions agree."""
        return And(self, times)

    def or_(self, times: int) -> "Or":
        """At least one of `times` independent functions agrees."""
        return Or(self, times)

    def at_least(self, cutoff: int, times: int) -> "AtLeast":
        """At least `cutoff` of `times` independent functions agree."""
        return AtLeast(self, cutoff, times)

    def then(self, *others: "Family") -> "Cascade":
        """Found by this family, and by each of the others after it."""
        return Cascade((self, *others))


@dataclass(frozen=True)
class Linear(Family):
    """One function that agrees with a probability that is the closeness itself."""

    def chance(self, similarity: float) -> Chance:
        return Chance(similarity, 1 - similarity)

    def closeness(self, probability: float) -> float:
        return probability


@dataclass(frozen=True)
class MinHash(Linear):
    """One minhash: two sets agree with a probability that is their similarity (upc 4.2.1)."""


@dataclass(frozen=True)
class Place(Linear):
    """One random place: two vectors agree in it with the share of places that are equal (kth)."""


@dataclass(frozen=True)
class Side(Linear):
    """One random hyperplane: two vectors lie on one side of it with a chance of 1 - angle / 180°.

    The closeness is just that; `Hyperplane` is the same for one that is the cosine.
    """


@dataclass(frozen=True)
class Sketch(Family):
    """One minhash of which only some bits are kept: strangers agree by chance, once in 2^bits."""

    bits: int

    def chance(self, similarity: float) -> Chance:
        by_chance = 0.5**self.bits
        differ = 1 - similarity
        return Chance(similarity + differ * by_chance, differ * (1 - by_chance))


@dataclass(frozen=True)
class Hyperplane(Family):
    """One random hyperplane: two vectors lie on one side of it with a chance of 1 - angle / 180°.

    The similarity is the cosine of the angle (kth; Charikar 2002).
    """

    def chance(self, similarity: float) -> Chance:
        apart = math.acos(max(-1.0, min(1.0, similarity))) / math.pi
        return Chance(1 - apart, apart)


@dataclass(frozen=True)
class MeanHyperplane(Hyperplane):
    """The same at worst, where the similarity is the mean of the cosine and of another one, which
    is 1 at most: a mean of s needs a cosine of 2s - 1."""

    def chance(self, similarity: float) -> Chance:
        return super().chance(2 * similarity - 1)


@dataclass(frozen=True)
class And(Family):
    """p^r: all of r functions agree."""

    family: Family
    times: int

    def __post_init__(self) -> None:
        _check_times(self.times)

    def chance(self, similarity: float) -> Chance:
        one = self.family.chance(similarity)
        return Chance(*_power(one.found, one.missed, self.times))


@dataclass(frozen=True)
class Or(Family):
    """1 - (1 - p)^b: at least one of b functions agrees."""

    family: Family
    times: int

    def __post_init__(self) -> None:
        _check_times(self.times)

    def chance(self, similarity: float) -> Chance:
        one = self.family.chance(similarity)
        missed, found = _power(one.missed, one.found, self.times)
        return Chance(found, missed)


@dataclass(frozen=True)
class AtLeast(Family):
    """The binomial tail: at least `cutoff` of n functions agree. AND is n of n, OR is 1 of n."""

    family: Family
    cutoff: int
    times: int

    def __post_init__(self) -> None:
        _check_times(self.times)

    def chance(self, similarity: float) -> Chance:
        p, q = self.family.chance(similarity)
        n, cutoff = self.times, self.cutoff
        # The tail away from the mean is summed, and the other one taken from 1, where it is safe.
        if cutoff <= n * p:
            below = _binomial_tail(n, n - cutoff + 1, q, p)
            return Chance(1 - below, below)
        above = _binomial_tail(n, cutoff, p, q)
        return Chance(above, 1 - above)


@dataclass(frozen=True)
class Cascade(Family):
    """The product of independent families: a pair has to pass them all."""

    families: tuple[Family, ...]

    def chance(self, similarity: float) -> Chance:
        found, missed = 1.0, 0.0
        for family in self.families:
            p, q = family.chance(similarity)
            missed += found * q
            found *= p
        return Chance(found, missed)


def _power(p: float, q: float, n: int) -> tuple[float, float]:
    """p^n and 1 - p^n, given q = 1 - p, neither of them by subtraction."""
    if p == 0:
        return 0.0, 1.0
    logarithm = n * (math.log(p) if p < 0.5 else math.log1p(-q))
    return math.exp(logarithm), -math.expm1(logarithm)


def _binomial_tail(n: int, least: int, p: float, q: float) -> float:
    """The probability of `least` or more successes in n, where `least` is above the mean n p."""
    if p == 0 or least > n:
        return 0.0
    logarithm = math.log(math.comb(n, least)) + least * math.log(p) + (n - least) * math.log(q)
    term = total = math.exp(logarithm)
    for i in range(least, n):
        term *= (n - i) / (i + 1) * (p / q)
        total += term
        if term < total * 1e-18:
            break
    return total


def _check_times(times: int) -> None:
    if times < 1:
        raise SettingsError(f"a construction of {times!r} functions; give at least 1")
