"""The exact join across partitions: documents in groups, every two groups in some task.

Each group's texts go to every task that joins it, so what is sent grows with the number of groups:
the exact join is for corpora that need not be cut into many.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import numbers_of, take_strings
from nearly.documents.readable import Skips
from nearly.documents.side import Sides
from nearly.engines.spark.partition.copy import Sided
from nearly.engines.spark.partition.number import Numbers, by_target, numbered, places_of
from nearly.engines.spark.partition.placement import place_of, scattered
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.measures.base import Measure
from nearly.measures.pair import Block as JoinBlock
from nearly.measures.pair import Joined, split_pairs
from nearly.measures.work import ONE_THREAD
from nearly.stages.join import join_sides, join_sides_across

__all__ = [
    "Grouped",
    "JoinedHere",
    "count_groups",
    "effort",
    "join_here",
    "near_of",
    "texts_by_group",
]

#: The most bytes of text in a group, whose sets of shingles take eight times as much; and the
#: fewest, of groups that are only made to give every partition a task.
GROUP_TEXT, LEAST_GROUP_TEXT = 2**25, 2**20


class Grouped(NamedTuple):
    """Texts of one block that belong to one group."""

    group: int
    texts: Texts
    sides: Sides | None  # if there is a border


class JoinedHere(NamedTuple):
    """What the tasks of a partition found, and what it took."""

    near: Near
    meetings: int
    verified: int


def count_groups(text: int, tasks: int) -> int:
    """How many groups this many bytes of text are cut into: as many as they have to be, or so many
    that each task has two of them to join."""
    enough = (math.isqrt(8 * tasks) + 1) // 2
    return max(1, -(-text // GROUP_TEXT), min(enough, text // LEAST_GROUP_TEXT))


def _tasks(groups: int, partition: int, partitions: int) -> list[tuple[int, int]]:
    every = itertools.combinations_with_replacement(range(groups), 2)
    return list(itertools.islice(every, partition, None, partitions))


def texts_by_group(
    number: int,
    block: Block,
    chosen_here: Sided,
    *,
    skipped: Skips,
    groups: int,
    partitions: int,
) -> Iterator[tuple[int, Grouped]]:
    """The representatives' texts, sent to every partition with a task of their group."""
    askers = {
        partition: set(itertools.chain(*_tasks(groups, partition, partitions)))
        for partition in range(partitions)
    }
    for batch in block.documents(skipped):
        documents = numbered(number, numbers_of(batch.column("row")).astype(np.uint32))
        chosen = np.flatnonzero(np.isin(documents, chosen_here.documents)).astype(np.uint32)
        targets = place_of(scattered(documents[chosen]), groups)
        for group, (places,) in by_target(targets, chosen):
            texts = texts_of(documents[places], take_strings(batch.column("text"), places))
            sides = None
            if chosen_here.sides is not None:
                sides = chosen_here.sides[places_of(documents[places], chosen_here.documents)]
            for partition, wanted in askers.items():
                if group in wanted:
                    yield partition, Grouped(group, texts, sides)


def join_here(
    partition: int,
    received: Sequence[Grouped],
    *,
    partitions: int,
    groups: int,
    measure: Measure,
    threshold: Fraction,
) -> JoinedHere:
    """All pairs of the tasks that fall to a partition."""
    documents, texts = joined_texts([part.texts for part in received])
    group_of = place_of(scattered(documents), groups)
    sides = _sides(received)
    parts: list[Joined] = []
    for i, j in _tasks(groups, partition, partitions):
        mine = _blocks(texts, group_of == i, sides)
        if i == j:
            parts += join_sides(measure, mine, threshold, ONE_THREAD)
        else:
            theirs = _blocks(texts, group_of == j, sides)
            parts += join_sides_across(measure, mine, theirs, threshold, ONE_THREAD)
    return _gathered(parts, documents)


def _sides(received: Sequence[Grouped]) -> Sides | None:
    """Of all documents in ascending order, as their texts stand."""
    sides = [part.sides for part in received if part.sides is not None]
    if not sides:
        return None
    documents = np.concatenate([part.texts.documents for part in received])
    return np.concatenate(sides)[np.argsort(documents)]


def _blocks(
    texts: pa.LargeStringArray, is_here: npt.NDArray[np.bool_], sides: Sides | None
) -> list[list[Callable[[], JoinBlock]]]:
    """Documents of one group by their sides: all are of both where there is no border."""
    wanted = [is_here & (sides == side) for side in range(3)] if sides is not None else []
    nobody = np.zeros_like(is_here)
    blocks: list[list[Callable[[], JoinBlock]]] = []
    for some in wanted or [nobody, is_here, nobody]:
        places = np.flatnonzero(some).astype(np.uint32)
        blocks.append([partial(_itself, JoinBlock.of(places, take_strings(texts, places)))])
    return blocks


def _itself(block: JoinBlock) -> JoinBlock:
    return block


def effort(joined: JoinedHere) -> tuple[int, int]:
    """How many pairs met, and how many were verified."""
    return joined.meetings, joined.verified


def near_of(joined: JoinedHere) -> Near:
    """The pairs alone."""
    return joined.near


def _gathered(parts: Sequence[Joined], documents: Numbers) -> JoinedHere:
    pairs = np.concatenate([np.empty(0, np.uint64), *(part.pairs for part in parts)])
    nearness = np.concatenate([np.empty(0), *(part.nearness for part in parts)])
    first, second = split_pairs(pairs)
    return JoinedHere(
        Near(documents[first], documents[second], nearness),
        sum(part.meetings for part in parts),
        sum(part.verified for part in parts),
    )
