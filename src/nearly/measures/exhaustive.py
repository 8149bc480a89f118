"""Everything compared with everything: exact, and enough for measures without a better way."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness, join_pairs
from nearly.measures.work import ONE_THREAD, Workers

__all__ = ["ExhaustiveIndex", "join_exhaustively"]

#: Documents on each side of one step: their pairs are held together.
STEP = 512


class Comparable(Protocol):
    """What is needed of a measure."""

    def compare(
        self, contents: pa.Array, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """See `Measure`."""

    def closenesses(self, nearness: Nearness) -> Nearness:
        """See `Measure`."""


def join_exhaustively(
    measure: Comparable,
    blocks: Sequence[Callable[[], Block]],
    threshold: Fraction,
    workers: Workers = ONE_THREAD,
    *,
    others: Block | None = None,
) -> Iterator[Joined]:
    """Every pair in or between blocks; or between each block and `others` only."""
    for i, load in enumerate(blocks):
        mine = load()
        if others is not None:
            yield from _between(measure, mine, others, threshold, workers)
            continue
        yield from _between(measure, mine, mine, threshold, workers)
        for load_other in blocks[i + 1 :]:
            yield from _between(measure, mine, load_other(), threshold, workers)


def _between(
    measure: Comparable, one: Block, other: Block, threshold: Fraction, workers: Workers
) -> Iterable[Joined]:
    def of_step(starts: tuple[int, int]) -> Joined:
        i, j = starts
        a, b = _pairs(_step(one, i), _step(other, j), within=one is other and i == j)
        contents = pa.concat_arrays([one.read(i, i + STEP), other.read(j, j + STEP)])
        nearness = measure.compare(contents, a, b, threshold)
        near = ~np.isnan(nearness)
        first = one.documents[i + a[near]]
        second = other.documents[j + b[near] - len(_step(one, i))]
        return Joined(
            pairs=join_pairs(first, second),
            nearness=nearness[near],
            meetings=len(a),
            verified=len(a),
        )

    starts = itertools.product(
        range(0, len(one.documents), STEP), range(0, len(other.documents), STEP)
    )
    return workers.map(of_step, [(i, j) for i, j in starts if one is not other or i <= j])


def _step(block: Block, start: int) -> Documents:
    return block.documents[start : start + STEP]


def _pairs(mine: Documents, theirs: Documents, *, within: bool) -> tuple[Documents, Documents]:
    """All pairs by place, those of the second side after those of the first."""
    count = len(mine)
    if within:
        first, second = np.triu_indices(count, 1)
        return first.astype(np.uint32), (second + count).astype(np.uint32)
    first, second = np.divmod(np.arange(count * len(theirs)), max(1, len(theirs)))
    return first.astype(np.uint32), (second + count).astype(np.uint32)


class ExhaustiveIndex:
    """See `Index`."""

    def __init__(
        self,
        measure: Comparable,
        documents: Documents,
        contents: pa.Array,
        threshold: Fraction | None,
    ):
        self._measure, self._threshold = measure, threshold
        self._documents, self._contents = documents, contents

    def search(
        self, documents: Documents, contents: pa.Array
    ) -> tuple[Documents, Documents, Nearness]:
        """See `Index`."""
        sought, found, nearness = self._compare(documents, contents, self._threshold)
        near = ~np.isnan(nearness)
        return self._documents[sought[near]], documents[found[near]], nearness[near]

    def count(self, documents: Documents, contents: pa.Array, bins: int) -> npt.NDArray[np.uint32]:
        """See `Index`; a pair that lies on the border of a bin is in the upper one."""
        sought, _, nearness = self._compare(documents, contents, None)
        closeness = self._measure.closenesses(nearness)
        bin_of = np.ceil(np.round(closeness * bins, 9)).astype(np.int64)
        counts = np.zeros((len(self._documents), bins + 1), np.uint32)
        np.add.at(counts, (sought[closeness > 0], bin_of[closeness > 0]), 1)
        return counts

    def _compare(
        self, documents: Documents, contents: pa.Array, threshold: Fraction | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Nearness]:
        """Places of both sides of every pair of two documents, and how near they are."""
        count = len(self._documents)
        sought, found = np.divmod(np.arange(count * len(documents)), max(1, len(documents)))
        other = self._documents[sought] != documents[found]
        sought, found = sought[other], found[other]
        both = pa.concat_arrays([self._contents, contents])
        a, b = sought.astype(np.uint32), (found + count).astype(np.uint32)
        return sought, found, self._measure.compare(both, a, b, threshold)
