"""The exact join of documents that stand on sides: those of one side only are not joined."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from nearly.measures.base import Measure
from nearly.measures.pair import Block, Joined
from nearly.measures.work import Workers

__all__ = ["join_sides", "join_sides_across"]

Blocks = Sequence[Callable[[], Block]]


def join_sides(
    measure: Measure, sides: Sequence[Blocks], threshold: Fraction, workers: Workers
) -> Iterator[Joined]:
    """Every pair that reaches the threshold of documents that may meet, once.

    `sides` are the blocks of the old side, of both and of the new side.
    """
    old, both, new = sides
    yield from measure.join(both, threshold, workers)
    yield from _across(measure, old, [*both, *new], threshold, workers)
    yield from _across(measure, both, new, threshold, workers)


def join_sides_across(
    measure: Measure,
    mine: Sequence[Blocks],
    theirs: Sequence[Blocks],
    threshold: Fraction,
    workers: Workers,
) -> Iterator[Joined]:
    """The same, of one document of mine and one of theirs each."""
    (old, both, new), (their_old, their_both, their_new) = mine, theirs
    for some, others in (
        (old, [*their_both, *their_new]),
        (both, [*their_old, *their_both, *their_new]),
        (new, [*their_old, *their_both]),
    ):
        yield from _across(measure, some, others, threshold, workers)


def _across(
    measure: Measure, some: Blocks, others: Blocks, threshold: Fraction, workers: Workers
) -> Iterator[Joined]:
    for load in some:
        mine = load()
        for load_other in others if len(mine.documents) else ():
            theirs = load_other()
            if len(theirs.documents):
                yield from measure.join_across(mine, theirs, threshold, workers)
