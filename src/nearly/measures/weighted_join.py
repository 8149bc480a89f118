"""From weighted sets to every pair that reaches a threshold by weight, none missed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.pair import Joined
from nearly.measures.set_join import Rarities, SetBlock, looked_up, rarities_among
from nearly.measures.work import Workers

__all__ = ["WeightedBlock", "join", "join_across", "memory_of"]

Load = Callable[[], "WeightedBlock"]


@dataclass(frozen=True, kw_only=True)
class WeightedBlock(SetBlock):
    """The same, and what each member weighs."""

    weights: npt.NDArray[np.uint32]


def join(blocks: Sequence[Load], threshold: Fraction, workers: Workers) -> Iterator[Joined]:
    """Every pair in or between blocks, once, in parts as they are found."""
    rarities = rarities_among(blocks, workers)
    for i, load in enumerate(blocks):
        mine = load()
        sets = _prepare(mine, rarities, threshold, workers)
        yield from looked_up(
            _kernels.WeightedJoinIndex(sets, within=True), sets, mine, mine, workers
        )
        if i + 1 == len(blocks):
            continue
        index = _kernels.WeightedJoinIndex(sets, within=False)
        for load_other in blocks[i + 1 :]:
            theirs = load_other()
            others = _prepare(theirs, rarities, threshold, workers)
            yield from looked_up(index, others, mine, theirs, workers)


def join_across(
    mine: WeightedBlock, theirs: WeightedBlock, threshold: Fraction, workers: Workers
) -> Iterator[Joined]:
    """Every pair of a document of one block and one of the other."""
    rarities = rarities_among([lambda: mine, lambda: theirs], workers)
    index = _kernels.WeightedJoinIndex(_prepare(mine, rarities, threshold, workers), within=False)
    others = _prepare(theirs, rarities, threshold, workers)
    yield from looked_up(index, others, mine, theirs, workers)


def memory_of(documents: int, members: int, threads: int) -> int:
    """The most bytes that one block takes, its pairs not counted: members with their weights, the
    cells of prefixes, an index of these, and what each thread counts."""
    return 8 * members + 4 * members + 12 * members + (64 + 16 * threads) * documents


def _prepare(
    block: WeightedBlock, rarities: Rarities, threshold: Fraction, workers: Workers
) -> _kernels.WeightedJoinSets:
    sets = _kernels.WeightedJoinSets(
        block.offsets,
        block.hashes,
        block.weights,
        rarities,
        threshold.numerator,
        threshold.denominator,
    )
    for _ in workers.map(lambda part: sets.prepare(*part), workers.split(len(sets))):
        pass
    return sets
