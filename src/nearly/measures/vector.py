"""What measures of vectors share: contents are the numbers of a vector, as they lie in memory.

All vectors of a corpus have one length (`sources/vector.py` sees to it) and are compared in double
precision, with sums in one order: the same bits wherever they are compared.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import BITS, spans
from nearly.errors import SettingsError
from nearly.measures import vector_join
from nearly.measures.base import Measure, Weighed
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness
from nearly.measures.work import ONE_THREAD, Workers
from nearly.settings import Settings
from nearly.tuning.method import Costs

__all__ = ["COSTS", "Kernel", "VectorDistance", "VectorMeasure"]

#: A pair of vectors takes a join some two nanoseconds.
COSTS: Final = Costs(look_of_a_join=0.1, bytes_verified_in_a_look=256, bytes_joined_in_a_look=8)


class Shaped(Protocol):
    """How many numbers vectors have, and of what kind these are."""

    @property
    def length(self) -> int | None: ...
    @property
    def number(self) -> str: ...


class Kernel(Protocol):
    """How near the vectors of pairs are, in double precision; NaN below the least."""

    def __call__(
        self,
        vectors: Any,
        first: Documents,
        second: Documents,
        least: float,
        /,
        *,
        others: Any = None,
    ) -> Nearness:
        """The second of a pair is one of the others, where there are any."""


@dataclass(frozen=True, kw_only=True)
class VectorMeasure(Measure):
    """Vectors of one length, whatever is made of their numbers."""

    together: ClassVar[int] = 2**27  # they are compared as they lie
    costs: ClassVar[Costs] = COSTS

    #: Vectors that are joined about as fast as they are hashed.
    joined_fast: ClassVar[int] = 2**13

    length: int
    number: str  # as numpy writes the type of a number, <f4 or <f8; or bits
    seed: int

    @classmethod
    def of(cls, settings: Settings, shape: Shaped) -> Self:
        """As settings say, for vectors of this shape."""
        return cls(length=shape.length or 0, number=shape.number, seed=settings.seed)

    @property
    def compared(self) -> str:
        """See `Measure`."""
        return f"vectors of {self.length} {'bits' if self.number == BITS else 'numbers'}"

    @property
    def width(self) -> int:
        """Bytes of a vector."""
        if self.number == BITS:
            return self.length // 8
        return self.length * np.dtype(self.number).itemsize

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """What compares the vectors of pairs."""

    def vectors(self, contents: pa.Array) -> Any:
        """One row per document."""
        return rows_of(contents, self.length, self.number)

    def weigh(self, contents: pa.Array) -> Weighed:
        """The size of a document is its length: 0 where it has nothing to compare."""
        sizes = np.where(self.is_empty(contents), 0, self.length).astype(np.uint32)
        return Weighed(sizes=sizes, digests=_kernels.contents(*spans(contents)))

    def is_empty(self, contents: pa.Array) -> npt.NDArray[np.bool_]:
        """Which documents have nothing to compare; by default none."""
        return np.zeros(len(contents), bool)

    def compare(
        self, contents: pa.Array, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """In double precision."""
        least = -np.inf if threshold is None else float(threshold)
        return self.kernel(self.vectors(contents), first, second, least)

    def compare_sides(
        self,
        one: pa.Array,
        other: pa.Array,
        first: Documents,
        second: Documents,
        threshold: Fraction,
    ) -> Nearness:
        """The same of pairs of one side and the other, without copying these together."""
        vectors, others = self.vectors(one), self.vectors(other)
        return self.kernel(vectors, first, second, float(threshold), others=others)

    # The exact join: see `vector_join`

    @abstractmethod
    def bound(self, drawn: Any, threshold: Fraction) -> vector_join.Bound:
        """What rules pairs out, from some vectors that were drawn."""

    @property
    def head(self) -> int:
        """The most bytes of a vector's head."""
        return self.width

    @property
    def most_to_join(self) -> int | None:
        """None where nothing is hashed."""
        return None if self.hashing is None else self.joined_fast * self.width

    def join(
        self, blocks: Sequence[Callable[[], Block]], threshold: Fraction, workers: Workers
    ) -> Iterator[Joined]:
        """By a bound from a few numbers."""
        return vector_join.join(self, blocks, threshold, workers)

    def join_across(
        self, one: Block, other: Block, threshold: Fraction, workers: Workers = ONE_THREAD
    ) -> Iterator[Joined]:
        """By the same bound."""
        return vector_join.join_across(self, one, other, threshold, workers)

    def join_memory(self, documents: int, size: int, threshold: Fraction, threads: int) -> int:  # noqa: ARG002
        """See `vector_join`."""
        return vector_join.memory_of(documents, self.head, self.width, threads)


class VectorDistance(VectorMeasure):
    """A distance: vectors that are `far` apart, or farther, have nothing in common."""

    is_distance: ClassVar[bool] = True

    @property
    @abstractmethod
    def far(self) -> float:
        """A closeness of 0."""

    def threshold(self, settings: Settings) -> Fraction:
        """Refuses one that every pair would reach."""
        found = super().threshold(settings)
        if -found >= self.far:
            raise SettingsError(
                f"within is {settings.within!r}, and every two {self.compared} are as near as "
                f"that; give a distance below {self.far:g}"
            )
        return found

    def closeness(self, nearness: Fraction) -> Fraction:
        """Falls evenly with the distance."""
        return max(Fraction(0), 1 + nearness / Fraction(self.far))

    def closenesses(self, nearness: Nearness) -> Nearness:
        """See `closeness`."""
        return np.maximum(0.0, 1 + nearness / self.far)


def rows_of(contents: pa.Array, length: int, number: str) -> npt.NDArray[Any]:
    """The numbers of each document as a row, without copying where they lie in order."""
    offsets, data = spans(contents)
    numbers = data[offsets[0] : offsets[-1]]
    if numbers.ctypes.data % np.dtype(number).itemsize:
        numbers = numbers.copy()
    return numbers.view(number).reshape(len(contents), length)
