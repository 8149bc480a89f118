"""Edit distance: how many insertions and deletions of characters make one text into another.

Texts are normalised first, and characters are code points. There are no substitutions: to write
another character is to delete one and to insert one. As a distance it counts edits; as a share it
is 1 - d / (|a| + |b|). There are no hash functions for it, so pairs are always joined exactly, by
segments that two texts must share (`src/kernels/edit_index.hpp`).
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.errors import SourceError
from nearly.frozen import dataclass
from nearly.measures.base import Index, Measure, Weighed
from nearly.measures.exhaustive import ExhaustiveIndex
from nearly.measures.normalisation import normalise
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness, join_pairs, split_pairs
from nearly.measures.probe import Probed, probe
from nearly.measures.work import ONE_THREAD, Workers
from nearly.settings import Settings, TextSettings

__all__ = ["Edit", "EditDistance", "EditShare"]

Numbers = npt.NDArray[np.uint32]

#: Code points of a text. Two longer ones would take hours.
LONGEST: Final = 2**24
#: What a kernel says of a pair that is further apart than is allowed.
TOO_FAR: Final = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Edit(Measure):
    """What both ways to read an edit distance share."""

    name: ClassVar[str] = "edit"

    text: TextSettings

    @staticmethod
    def of(settings: Settings) -> "Edit":
        """A distance where `within` says how great it may be, else a share."""
        kind = EditShare if settings.within is None else EditDistance
        return kind(text=settings.text)

    @abstractmethod
    def spare(self, threshold: Fraction) -> tuple[int, Fraction]:
        """How many edits reach the threshold: so many, and so many more for each character."""

    @abstractmethod
    def nearness(self, distances: Numbers, lengths: npt.NDArray[np.int64]) -> Nearness:
        """From distances, and the sums of both lengths."""

    @property
    def compared(self) -> str:
        """Texts as they are after they were normalised."""
        return "texts by insertions and deletions"

    def weigh(self, contents: pa.LargeStringArray) -> Weighed:
        """The size of a document is its number of characters."""
        normal = normalise(contents, self.text)
        sizes = _code_points(normal).lengths
        return Weighed(sizes=sizes, digests=_kernels.contents(*spans(normal)))

    def compare(
        self,
        contents: pa.LargeStringArray,
        first: Documents,
        second: Documents,
        threshold: Fraction | None,
    ) -> Nearness:
        """In whole numbers."""
        texts = _code_points(normalise(contents, self.text))
        allowed = self._allowance(threshold)
        distances = _kernels.edit_distances(texts, first, second, *allowed)
        lengths = texts.lengths.astype(np.int64)
        found = self.nearness(distances, lengths[first] + lengths[second])
        found[distances == TOO_FAR] = np.nan
        return found

    def join(
        self, blocks: Sequence[Callable[[], Block]], threshold: Fraction, workers: Workers
    ) -> Iterator[Joined]:
        """By segments; a block is not loaded again for one whose lengths are too far away."""
        extremes: dict[int, tuple[int, int]] = {}
        for i, load in enumerate(blocks):
            mine = self.held(load(), workers)
            index = self.segments(mine, threshold)
            yield from self._joined(index, mine, mine, workers)
            for j in range(i + 1, len(blocks)):
                if j in extremes and not self._can_pair(mine.extremes, extremes[j], threshold):
                    continue
                theirs = self.held(blocks[j](), workers)
                extremes[j] = theirs.extremes
                yield from self._joined(index, mine, theirs, workers)

    def join_across(
        self, one: Block, other: Block, threshold: Fraction, workers: Workers = ONE_THREAD
    ) -> Iterator[Joined]:
        """By segments, too."""
        mine, theirs = self.held(one, workers), self.held(other, workers)
        return self._joined(self.segments(mine, threshold), mine, theirs, workers)

    def join_memory(self, documents: int, size: int, threshold: Fraction, threads: int) -> int:
        """Code points, segments with their keys, and by thread who was met."""
        edits, rate = self.spare(threshold)
        segments = min(size, floor((1 + edits) * documents + 2 * size * rate / (1 - rate)))
        return 8 * size + 28 * segments + (48 + 4 * threads) * documents

    def index(self, documents: Documents, contents: pa.Array, threshold: Fraction | None) -> Index:
        """By segments where there is a threshold."""
        if threshold is None:
            return super().index(documents, contents, None)
        return _EditIndex(self, documents, contents, threshold)

    def _allowance(self, threshold: Fraction | None) -> tuple[int, int, int]:
        """`spare` as a kernel takes it, in small numbers."""
        edits, rate = (0, Fraction(1)) if threshold is None else self.spare(threshold)
        small = _next_below(rate, 2 * LONGEST)
        return min(edits, 2 * LONGEST), small.numerator, small.denominator

    def _can_pair(
        self, mine: tuple[int, int], theirs: tuple[int, int], threshold: Fraction
    ) -> bool:
        """Whether any length in one range is near enough to one in the other."""
        edits, rate = self.spare(threshold)
        near = max(mine[0], theirs[0]), min(mine[1], theirs[1])  # the wrong way round if apart
        return near[0] - near[1] <= edits + rate * sum(near)

    def held(self, block: Block, workers: Workers) -> "_Held":
        """Documents as a kernel takes them."""
        parts = workers.split(len(block.documents), per_thread=4)
        normal = list(workers.map(lambda part: normalise(block.read(*part), self.text), parts))
        return _Held(block.documents, _code_points(pa.concat_arrays(normal)))

    def segments(self, held: "_Held", threshold: Fraction) -> _kernels.EditIndex:
        """An index of what others must share with these documents."""
        return _kernels.EditIndex(held.texts, *self._allowance(threshold))

    def probed(
        self, index: _kernels.EditIndex, indexed: "_Held", others: "_Held", workers: Workers
    ) -> Iterator["_Met"]:
        """The pairs of indexed documents and others, in parts."""
        for found in probe(index, others.texts, workers):
            first, second = split_pairs(found.pairs)
            lengths = indexed.lengths[first] + others.lengths[second]
            yield _Met(
                indexed.documents[first],
                others.documents[second],
                self.nearness(found.values, lengths),
                found,
            )

    def _joined(
        self, index: _kernels.EditIndex, indexed: "_Held", others: "_Held", workers: Workers
    ) -> Iterator[Joined]:
        for part in self.probed(index, indexed, others, workers):
            yield Joined(
                pairs=join_pairs(part.first, part.second),
                nearness=part.nearness,
                meetings=part.found.met,
                verified=part.found.verified,
            )


@dataclass(frozen=True, kw_only=True)
class EditDistance(Edit):
    """Insertions and deletions, counted."""

    is_distance: ClassVar[bool] = True
    counts: ClassVar[bool] = True

    def spare(self, threshold: Fraction) -> tuple[int, Fraction]:
        """As many for long texts as for short ones."""
        return floor(-threshold), Fraction(0)

    def nearness(self, distances: Numbers, lengths: npt.NDArray[np.int64]) -> Nearness:  # noqa: ARG002
        """The negative of the distance."""
        return -distances.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class EditShare(Edit):
    """The share of both texts' characters that stays."""

    def spare(self, threshold: Fraction) -> tuple[int, Fraction]:
        """What need not stay."""
        return 0, 1 - threshold

    def nearness(self, distances: Numbers, lengths: npt.NDArray[np.int64]) -> Nearness:
        """1 - d / (|a| + |b|), as one division; texts without a character are the same."""
        stay = lengths - np.minimum(distances, lengths)
        return np.divide(stay, lengths, out=np.ones(len(lengths)), where=lengths > 0)


@dataclass(frozen=True)
class _Held:
    """Documents as code points."""

    documents: Documents
    texts: _kernels.EditTexts

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        return self.texts.lengths.astype(np.int64)

    @property
    def extremes(self) -> tuple[int, int]:
        if not len(self.lengths):
            return 0, 0
        return int(self.lengths.min()), int(self.lengths.max())


class _Met(NamedTuple):
    """Pairs of an indexed document and another, and what it took to find them."""

    first: Documents
    second: Documents
    nearness: Nearness
    found: Probed[Numbers]


class _EditIndex(ExhaustiveIndex):
    """See `Index`; by segments."""

    def __init__(
        self, measure: Edit, documents: Documents, contents: pa.Array, threshold: Fraction
    ):
        super().__init__(measure, documents, contents, threshold)
        self._edit = measure
        self._sought = measure.held(Block.of(documents, contents), ONE_THREAD)
        self._index = measure.segments(self._sought, threshold)

    def search(
        self, documents: Documents, contents: pa.Array
    ) -> tuple[Documents, Documents, Nearness]:
        """See `Index`."""
        others = self._edit.held(Block.of(documents, contents), ONE_THREAD)
        parts = list(self._edit.probed(self._index, self._sought, others, ONE_THREAD))
        sought, found, nearness = (
            np.concatenate(column)
            for column in zip(
                *((part.first, part.second, part.nearness) for part in parts), strict=True
            )
        )
        other = sought != found
        return sought[other], found[other], nearness[other]


def _next_below(rate: Fraction, most: int) -> Fraction:
    """The greatest fraction up to `rate` with a denominator of `most` or less.

    For whole numbers n up to `most`, floor(n * rate) is the same with it: k <= n * rate says that
    k / n is such a fraction.
    """
    near = rate.limit_denominator(most)
    if near <= rate:
        return near
    # The one before it in the Farey sequence: p * b - a * q = 1, with the greatest b.
    p, q = near.numerator, near.denominator
    least = pow(p, -1, q)
    b = least + (most - least) // q * q
    return Fraction((p * b - 1) // q, b)


def _code_points(texts: pa.LargeStringArray) -> _kernels.EditTexts:
    try:
        return _kernels.EditTexts(*spans(texts))
    except ValueError as error:
        raise SourceError(
            f"a text has more than {LONGEST:,} characters, and an edit distance compares each with "
            f"each; skip such documents with longest={LONGEST}, or leave measure out"
        ) from error
