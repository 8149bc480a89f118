"""The exact join across partitions: documents in groups, every two groups in some task.

Each group's texts go to every task that joins it, so what is sent grows with the number of groups:
the exact join is for corpora that need not be cut into many.
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import numbers_of, take_strings
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.number import Numbers, by_target, numbered
from nearly.engines.spark.partition.placement import place_of, scattered
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.measures.base import Measure
from nearly.measures.pair import Block as JoinBlock
from nearly.measures.pair import Joined, split_pairs
from nearly.measures.work import ONE_THREAD

__all__ = [
    "Grouped",
    "JoinedHere",
    "count_groups",
    "counts",
    "join_here",
    "near_of",
    "texts_by_group",
]

#: Bytes of text in a group; its sets of shingles take eight times as much.
GROUP_TEXT = 2**25


class Grouped(NamedTuple):
    """Texts of one block that belong to one group."""

    group: int
    texts: Texts


class JoinedHere(NamedTuple):
    """What the tasks of a partition found, and what it took."""

    near: Near
    meetings: int
    verified: int


def count_groups(text: int) -> int:
    """How many groups this many bytes of text are cut into."""
    return max(1, -(-text // GROUP_TEXT))


def _tasks(groups: int, partition: int, partitions: int) -> list[tuple[int, int]]:
    every = itertools.combinations_with_replacement(range(groups), 2)
    return list(itertools.islice(every, partition, None, partitions))


def texts_by_group(
    number: int,
    block: Block,
    chosen_here: Numbers,
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
        chosen = np.flatnonzero(np.isin(documents, chosen_here)).astype(np.uint32)
        targets = place_of(scattered(documents[chosen]), groups)
        for group, (places,) in by_target(targets, chosen):
            texts = texts_of(documents[places], take_strings(batch.column("text"), places))
            for partition, wanted in askers.items():
                if group in wanted:
                    yield partition, Grouped(group, texts)


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
    parts: list[Joined] = []
    for i, j in _tasks(groups, partition, partitions):
        mine = _block(texts, group_of, i)
        if i == j:
            parts += measure.join([partial(_itself, mine)], threshold, ONE_THREAD)
        else:
            parts += measure.join_across(mine, _block(texts, group_of, j), threshold)
    return _gathered(parts, documents)


def _block(texts: pa.LargeStringArray, group_of: npt.NDArray[np.uint64], group: int) -> JoinBlock:
    places = np.flatnonzero(group_of == group).astype(np.uint32)
    return JoinBlock.of(places, take_strings(texts, places))


def _itself(block: JoinBlock) -> JoinBlock:
    return block


def counts(joined: JoinedHere) -> tuple[int, int]:
    """Pairs that met, and pairs that were compared."""
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
