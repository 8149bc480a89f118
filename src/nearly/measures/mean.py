"""The mean of what two texts share and of what they mean: Jaccard similarity and cosine.

Contents are the vector of a text and behind it the text itself (`sources/embedding.py`). A pair
whose mean is s has a cosine of 2s - 1 or more, for no Jaccard similarity is above 1. So pairs are
hashed and joined by cosine at that, and then verified by both.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.measures.cosine import OF_COSINES, Direction
from nearly.measures.jaccard import Jaccard
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness
from nearly.measures.vector import Kernel, Shaped
from nearly.measures.vector_bound import Products
from nearly.settings import Settings
from nearly.tuning.family import MeanHyperplane
from nearly.tuning.hashing import Hashing, background
from nearly.tuning.method import Costs

__all__ = ["Mean"]

Bytes = npt.NDArray[np.uint8]
Whole = npt.NDArray[np.int64]

#: Strangers share few shingles, and are similar in meaning by 0.3 and more.
HASHING: Final = replace(
    OF_COSINES, row=MeanHyperplane(), sketch=MeanHyperplane(), pairs=background(0.2, 1e-3)
)


@dataclass(frozen=True, kw_only=True)
class Mean(Direction):
    """Half of both similarities; a cosine below 0 counts as 0."""

    name: ClassVar[str] = "mean"
    together: ClassVar[int] = 0  # sets are made of texts
    costs: ClassVar[Costs] = Costs(look_of_a_join=Direction.costs.look_of_a_join)
    joined_fast: ClassVar[int] = 2**13

    jaccard: Jaccard

    @classmethod
    def of(cls, settings: Settings, shape: Shaped) -> Self:
        """As settings say, for vectors of this shape."""
        return cls(
            length=shape.length or 0,
            number=shape.number,
            seed=settings.seed,
            jaccard=Jaccard.of(settings),
        )

    @property
    def hashing(self) -> Hashing:
        """By hyperplanes."""
        return HASHING

    @property
    def compared(self) -> str:
        """See `Measure`."""
        return f"{self.jaccard.compared} and {super().compared}"

    def vectors(self, contents: pa.Array) -> Any:
        """What stands before the texts."""
        data, _, is_vector = self._parts(contents)
        return data[is_vector].view(self.number).reshape(len(contents), self.length)

    def texts(self, contents: pa.Array) -> pa.LargeStringArray:
        """What stands behind the vectors."""
        data, offsets, is_vector = self._parts(contents)
        ends = offsets - self.width * np.arange(len(offsets))
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(data[~is_vector])]
        return pa.Array.from_buffers(pa.large_string(), len(contents), buffers)

    def _parts(self, contents: pa.Array) -> tuple[Bytes, Whole, npt.NDArray[np.bool_]]:
        """All bytes, where each document begins, and which bytes are those of vectors."""
        offsets, data = spans(contents)
        data, offsets = data[offsets[0] : offsets[-1]], offsets - offsets[0]
        begins = np.zeros(len(data) + 1, np.int8)
        begins[offsets[:-1]] = 1
        begins[offsets[:-1] + self.width] -= 1
        return data, offsets, np.cumsum(begins[:-1], dtype=np.int8).astype(bool)

    def compare(
        self, contents: pa.Array, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """Both in full: a pair that the cosine rules out is not compared by its shingles."""
        least = -np.inf if threshold is None else float(threshold)
        needed = 2 * least - 1
        meaning = self.kernel(
            self.vectors(contents), first, second, needed if needed > 0 else -np.inf
        )
        left = np.flatnonzero(~np.isnan(meaning))
        shared = self.jaccard.compare(self.texts(contents), first[left], second[left], None)
        means = np.full(len(first), np.nan)
        means[left] = (np.maximum(0.0, meaning[left]) + shared) / 2
        means[means < least] = np.nan
        return means

    def compare_sides(
        self,
        one: pa.Array,
        other: pa.Array,
        first: Documents,
        second: Documents,
        threshold: Fraction,
    ) -> Nearness:
        """Together."""
        place = (second + len(one)).astype(np.uint32)
        return self.compare(pa.concat_arrays([one, other]), first, place, threshold)

    @property
    def kernel(self) -> Kernel:
        """The cosine; all there is without the texts."""
        return _kernels.cosines

    def bound(self, drawn: Any, threshold: Fraction) -> Products:
        """By the least cosine of such pairs."""
        return Products.of(drawn, max(-1.0, 2 * float(threshold) - 1))

    # What the corpus decides: the length of shingles

    @property
    def is_settled(self) -> bool:
        """See `Jaccard`."""
        return self.jaccard.is_settled

    def extent(self, contents: pa.Array) -> int:
        """See `Jaccard`."""
        return self.jaccard.extent(self.texts(contents))

    def settled(self, mean_extent: float) -> Self:
        """See `Jaccard`."""
        return replace(self, jaccard=self.jaccard.settled(mean_extent))

    def decided(self, settings: Settings) -> Settings:
        """See `Jaccard`."""
        return self.jaccard.decided(settings)
