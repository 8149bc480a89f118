"""Every pair of vectors that reaches a threshold, none missed: most are ruled out by a few numbers.

Each vector has a *head*, a row of numbers that is cheap to compare. A bound on how near two vectors
can be follows from their heads; what it does not rule out is compared in double precision. So no
rounding here can change what is found.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness, join_pairs
from nearly.measures.work import Workers

__all__ = ["Bound", "join", "join_across", "memory_of"]

#: Vectors on each side of one step: their numbers are held together.
STEP: Final = 2**14
#: Runs of vectors, and vectors in each of them, that a bound is made from.
RUNS, RUN = 64, 64

Heads = npt.NDArray[Any]


class Bound(Protocol):
    """What rules pairs out."""

    def heads(self, vectors: npt.NDArray[Any]) -> Heads:
        """One row per vector."""

    def near(self, mine: Heads, theirs: Heads, *, same: bool) -> tuple[Documents, Documents]:
        """Places of pairs that may reach the threshold; `same`: both sides are one, and a pair's
        first stands before its second."""


class Bounded(Protocol):
    """What is needed of a measure."""

    def vectors(self, contents: pa.Array) -> Any:
        """One row per document."""

    def bound(self, drawn: Any, threshold: Fraction) -> Bound:
        """From some vectors that were drawn."""

    def compare(
        self, contents: pa.Array, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """See `Measure`."""


def join(
    measure: Bounded,
    blocks: Sequence[Callable[[], Block]],
    threshold: Fraction,
    workers: Workers,
) -> Iterator[Joined]:
    """Every pair in or between blocks."""
    bound = None
    for i, load in enumerate(blocks):
        mine = load()
        bound = bound or measure.bound(_some(measure, mine), threshold)
        heads = _heads(measure, bound, mine, workers)
        yield from _between(measure, bound, (mine, heads), (mine, heads), threshold, workers)
        for load_other in blocks[i + 1 :]:
            other = load_other()
            theirs = _heads(measure, bound, other, workers)
            yield from _between(measure, bound, (mine, heads), (other, theirs), threshold, workers)


def join_across(
    measure: Bounded, one: Block, other: Block, threshold: Fraction, workers: Workers
) -> Iterator[Joined]:
    """Every pair of a document of one block and one of the other."""
    drawn = np.concatenate([_some(measure, block) for block in (one, other)])
    bound = measure.bound(drawn, threshold)
    mine, theirs = (_heads(measure, bound, block, workers) for block in (one, other))
    yield from _between(measure, bound, (one, mine), (other, theirs), threshold, workers)


def memory_of(documents: int, head: int, width: int, threads: int) -> int:
    """The most bytes that one block takes: heads of all, and the vectors of two steps a thread."""
    return documents * head + threads * 2 * STEP * width * 4


def _some(measure: Bounded, block: Block) -> npt.NDArray[Any]:
    """A few runs of vectors from all over a block."""
    count = len(block.documents)
    starts = np.unique(np.linspace(0, max(0, count - RUN), RUNS).astype(np.int64)).tolist()
    runs = [measure.vectors(block.read(s, min(s + RUN, count))) for s in starts]
    return np.concatenate(runs)


def _heads(measure: Bounded, bound: Bound, block: Block, workers: Workers) -> Heads:
    count = len(block.documents)
    steps = [(start, min(start + STEP, count)) for start in range(0, max(1, count), STEP)]
    made = workers.map(lambda step: bound.heads(measure.vectors(block.read(*step))), steps)
    return np.concatenate(list(made))


def _between(
    measure: Bounded,
    bound: Bound,
    one: tuple[Block, Heads],
    other: tuple[Block, Heads],
    threshold: Fraction,
    workers: Workers,
) -> Iterator[Joined]:
    of_step = partial(_join_step, measure, bound, one, other, threshold)
    within = one[0] is other[0]
    starts = itertools.product(range(0, len(one[1]), STEP), range(0, len(other[1]), STEP))
    yield from workers.map(of_step, [(i, j) for i, j in starts if not within or i <= j])


def _join_step(
    measure: Bounded,
    bound: Bound,
    one: tuple[Block, Heads],
    other: tuple[Block, Heads],
    threshold: Fraction,
    starts: tuple[int, int],
) -> Joined:
    """The pairs of two runs of vectors: those that the bound leaves over are compared."""
    i, j = starts
    mine, theirs = one[1][i : i + STEP], other[1][j : j + STEP]
    same = one[0] is other[0] and i == j
    a, b = bound.near(mine, theirs, same=same)
    nearness = np.empty(0)
    if len(a):
        contents = [one[0].read(i, i + len(mine)), other[0].read(j, j + len(theirs))]
        place = (b + len(mine)).astype(np.uint32)
        nearness = measure.compare(pa.concat_arrays(contents), a, place, threshold)
    near = ~np.isnan(nearness)
    return Joined(
        pairs=join_pairs(one[0].documents[i + a[near]], other[0].documents[j + b[near]]),
        nearness=nearness[near],
        meetings=len(mine) * (len(mine) - 1) // 2 if same else len(mine) * len(theirs),
        verified=len(a),
    )
