"""Every pair of vectors that reaches a threshold, none missed: most are ruled out by a few numbers.

Each vector has a *head*, a row of numbers that is cheap to compare. A bound on how near two vectors
can be follows from their heads; what it does not rule out is compared in double precision. So no
rounding here can change what is found.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import take_strings
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness, join_pairs
from nearly.measures.work import Workers

__all__ = ["Bound", "join", "join_across", "memory_of"]

#: Vectors on each side of one step: their numbers are held together.
STEP: Final = 2**14
#: Vectors that others are put next to.
PIVOTS: Final = 256
#: Runs of vectors, and vectors in each of them, that a bound is made from.
RUNS, RUN = 64, 64

Heads = npt.NDArray[Any]


class Bound(Protocol):
    """What rules pairs out."""

    def heads(self, vectors: npt.NDArray[Any]) -> Heads:
        """One row per vector."""

    def places(self, heads: Heads) -> npt.NDArray[np.float32]:
        """Where vectors lie, as far as their heads tell."""

    def near(self, mine: Heads, theirs: Heads, *, same: bool) -> tuple[Documents, Documents]:
        """Places of pairs that may reach the threshold; `same`: both sides are one, and a pair's
        first stands before its second."""


class Bounded(Protocol):
    """What is needed of a measure."""

    def vectors(self, contents: pa.Array) -> Any:
        """One row per document."""

    def bound(self, drawn: Any, threshold: Fraction) -> Bound:
        """From some vectors that were drawn."""

    def compare_sides(
        self,
        one: pa.Array,
        other: pa.Array,
        first: Documents,
        second: Documents,
        threshold: Fraction,
    ) -> Nearness:
        """How near pairs are of which the first is of one side and the second of the other; NaN
        below the threshold."""


class _Read(NamedTuple):
    """A block that was read."""

    documents: Documents
    contents: pa.Array

    @classmethod
    def of(cls, block: Block) -> "_Read":
        return cls(block.documents, block.read(0, len(block.documents)))


class _Side(NamedTuple):
    """The same with the heads of all, in an order in which near ones stand together."""

    documents: Documents
    contents: pa.Array
    heads: Heads

    @classmethod
    def of(cls, measure: Bounded, bound: Bound, read: _Read, workers: Workers) -> "_Side":
        pivots = bound.places(bound.heads(_few(measure, read)))

        def of_step(start: int) -> tuple[Heads, npt.NDArray[np.uint16]]:
            heads = bound.heads(measure.vectors(read.contents[start : start + STEP]))
            return heads, _nearest(bound.places(heads), pivots)

        made = list(workers.map(of_step, range(0, max(1, len(read.documents)), STEP)))
        heads, nearest = (np.concatenate(parts) for parts in zip(*made, strict=True))
        order = np.argsort(nearest, kind="stable")
        contents = take_strings(read.contents, order.astype(np.uint32))
        return cls(read.documents[order], contents, heads[order])


def _few(measure: Bounded, read: _Read) -> npt.NDArray[Any]:
    count = len(read.documents)
    places = np.linspace(0, max(0, count - 1), min(count, PIVOTS)).astype(np.uint32)
    vectors: npt.NDArray[Any] = measure.vectors(take_strings(read.contents, places))
    return vectors


def _nearest(
    places: npt.NDArray[np.float32], pivots: npt.NDArray[np.float32]
) -> npt.NDArray[np.uint16]:
    """Which pivot each lies nearest to."""
    if not len(pivots):
        return np.empty(0, np.uint16)
    squares = np.einsum("ij,ij->i", pivots, pivots)
    nearest: npt.NDArray[np.intp] = (places @ pivots.T - squares / 2).argmax(axis=1)
    return nearest.astype(np.uint16)


def join(
    measure: Bounded,
    blocks: Sequence[Callable[[], Block]],
    threshold: Fraction,
    workers: Workers,
) -> Iterator[Joined]:
    """Every pair in or between blocks."""
    bound = None
    for i, load in enumerate(blocks):
        read = _Read.of(load())
        bound = bound or measure.bound(_some(measure, read), threshold)
        mine = _Side.of(measure, bound, read, workers)
        yield from _between(measure, bound, mine, mine, threshold, workers)
        for load_other in blocks[i + 1 :]:
            theirs = _Side.of(measure, bound, _Read.of(load_other()), workers)
            yield from _between(measure, bound, mine, theirs, threshold, workers)


def join_across(
    measure: Bounded, one: Block, other: Block, threshold: Fraction, workers: Workers
) -> Iterator[Joined]:
    """Every pair of a document of one block and one of the other."""
    both = [_Read.of(block) for block in (one, other)]
    bound = measure.bound(np.concatenate([_some(measure, read) for read in both]), threshold)
    mine, theirs = (_Side.of(measure, bound, read, workers) for read in both)
    yield from _between(measure, bound, mine, theirs, threshold, workers)


def memory_of(documents: int, head: int, width: int, threads: int) -> int:
    """The most bytes that one block takes: heads and vectors of all, twice while they are put in
    order, and what is worked out of the vectors of two steps a thread."""
    return documents * 2 * (head + width) + threads * 2 * STEP * width * 2


def _some(measure: Bounded, read: _Read) -> npt.NDArray[Any]:
    """A few runs of vectors from all over a block."""
    count = len(read.documents)
    starts = np.unique(np.linspace(0, max(0, count - RUN), RUNS).astype(np.int64)).tolist()
    return np.concatenate([measure.vectors(read.contents[s : s + RUN]) for s in starts])


def _between(
    measure: Bounded,
    bound: Bound,
    one: _Side,
    other: _Side,
    threshold: Fraction,
    workers: Workers,
) -> Iterator[Joined]:
    of_step = partial(_join_step, measure, bound, one, other, threshold)
    starts = itertools.product(range(0, len(one.heads), STEP), range(0, len(other.heads), STEP))
    yield from workers.map(of_step, [(i, j) for i, j in starts if one is not other or i <= j])


def _join_step(
    measure: Bounded,
    bound: Bound,
    one: _Side,
    other: _Side,
    threshold: Fraction,
    starts: tuple[int, int],
) -> Joined:
    """The pairs of two runs of vectors: those that the bound leaves over are compared."""
    here, there = (slice(start, start + STEP) for start in starts)
    mine, theirs = one.heads[here], other.heads[there]
    same = one is other and here == there
    a, b = bound.near(mine, theirs, same=same)
    contents = one.contents[here], other.contents[there]
    nearness = measure.compare_sides(*contents, a, b, threshold) if len(a) else np.empty(0)
    near = ~np.isnan(nearness)
    return Joined(
        pairs=join_pairs(one.documents[here][a[near]], other.documents[there][b[near]]),
        nearness=nearness[near],
        meetings=len(mine) * (len(mine) - 1) // 2 if same else len(mine) * len(theirs),
        verified=len(a),
    )
