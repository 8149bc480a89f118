"""Documents looked up in an index of others, or of themselves, by threads that take parts."""

from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy.typing as npt

from nearly.measures.pair import Packed
from nearly.measures.work import Workers

__all__ = ["Held", "Probed", "ProbedIndex", "probe"]

MOST_PAIRS = 2**18  # in one step; those of a document more may come with them


class Sized(Protocol):
    """Documents as a kernel holds them."""

    def __len__(self) -> int: ...


Held = TypeVar("Held", bound=Sized)
HeldThere = TypeVar("HeldThere", bound=Sized, contravariant=True)
Values = TypeVar("Values", bound=npt.NDArray[Any])
ValuesThere = TypeVar("ValuesThere", bound=npt.NDArray[Any], covariant=True)


class ProbedIndex(Protocol[HeldThere, ValuesThere]):
    """What a kernel has to do: find the pairs of a part, and say how far it came."""

    def probe(
        self, sets: HeldThere, start: int, stop: int, most: int, /
    ) -> tuple[Packed, ValuesThere, int, int, int]: ...


class Probed(NamedTuple, Generic[Values]):
    """Pairs by their places on both sides, a value for each, and what it took to find them."""

    pairs: Packed
    values: Values
    met: int
    verified: int


def probe(
    index: ProbedIndex[Held, Values], documents: Held, workers: Workers
) -> Iterator[Probed[Values]]:
    """Looks up all documents; the last come first, for they are the largest and take the longest.

    A part that has many pairs is done in several steps.
    """
    parts = deque(reversed(workers.split(len(documents))))

    def of_part(part: tuple[int, int]) -> tuple[Probed[Values], tuple[int, int]]:
        pairs, values, met, verified, reached = index.probe(documents, *part, MOST_PAIRS)
        return Probed(pairs, values, met, verified), (reached, part[1])

    for found, rest in workers.map_growing(of_part, parts):
        # There are many pairs: another thread may take half of what is left.
        middle = (rest[0] + rest[1]) // 2
        parts.extend(half for half in ((rest[0], middle), (middle, rest[1])) if half[0] < half[1])
        yield found
