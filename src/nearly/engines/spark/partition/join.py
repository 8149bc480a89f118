"""The exact join across partitions: documents in groups, every two groups in some task.

Each group's texts go to every task that joins it, so what is sent grows with the number of groups:
the exact join is for corpora that need not be cut into many.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import numbers_of, take_strings
from nearly.engines.spark.partition.number import Numbers, by_target, numbered
from nearly.engines.spark.partition.placement import place_of, scattered
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.settings import Settings
from nearly.stages.join import Block, Joined, Workers, join, join_across
from nearly.stages.pair import split_pairs
from nearly.stages.verification import shingle_sets

__all__ = ["Grouped", "JoinedHere", "count_groups", "join_here", "texts_by_group"]

#: Bytes of text in a group; its sets of shingles take eight times as much.
GROUP_TEXT = 2**25

ONE_THREAD = Workers(map, 1)


class Grouped(NamedTuple):
    """Texts of one block that belong to one group."""

    group: int
    texts: Texts


class JoinedHere(NamedTuple):
    """What the tasks of a partition found, and what it took."""

    near: Near
    met: int
    verified: int


def count_groups(text: int) -> int:
    """How many groups so many bytes of text are cut into."""
    return max(1, -(-text // GROUP_TEXT))


def _tasks(groups: int, partition: int, partitions: int) -> list[tuple[int, int]]:
    every = itertools.combinations_with_replacement(range(groups), 2)
    return list(itertools.islice(every, partition, None, partitions))


def texts_by_group(
    number: int,
    batches: Iterable[pa.RecordBatch],
    representatives: Numbers,
    groups: int,
    partitions: int,
) -> Iterator[tuple[int, Grouped]]:
    """The representatives' texts, sent to every partition with a task of their group."""
    askers = {
        partition: set(itertools.chain(*_tasks(groups, partition, partitions)))
        for partition in range(partitions)
    }
    for batch in batches:
        documents = numbered(number, numbers_of(batch.column("row")).astype(np.uint32))
        chosen = np.flatnonzero(np.isin(documents, representatives)).astype(np.uint32)
        targets = place_of(scattered(documents[chosen]), groups)
        for group, (places,) in by_target(targets, chosen):
            texts = texts_of(documents[places], take_strings(batch.column("text"), places))
            for partition, wanted in askers.items():
                if group in wanted:
                    yield partition, Grouped(group, texts)


def join_here(
    partition: int,
    partitions: int,
    received: Sequence[Grouped],
    groups: int,
    settings: Settings,
    threshold: Fraction,
) -> JoinedHere:
    """All pairs of the tasks that fall to a partition."""
    documents, texts = joined_texts([part.texts for part in received])
    group_of = place_of(scattered(documents), groups)
    parts: list[Joined] = []
    for i, j in _tasks(groups, partition, partitions):
        mine = _block(texts, group_of, i, settings)
        if i == j:
            parts += join([partial(_itself, mine)], threshold, ONE_THREAD)
        else:
            theirs = _block(texts, group_of, j, settings)
            parts += join_across(mine, theirs, threshold, ONE_THREAD)
    return _gathered(parts, documents)


def _block(
    texts: pa.LargeStringArray,
    group_of: npt.NDArray[np.uint64],
    group: int,
    settings: Settings,
) -> Block:
    places = np.flatnonzero(group_of == group).astype(np.uint32)
    offsets, hashes = shingle_sets(take_strings(texts, places), settings, in_order=True)
    return Block(documents=places, offsets=offsets, hashes=hashes)


def _itself(block: Block) -> Block:
    return block


def _gathered(parts: Sequence[Joined], documents: Numbers) -> JoinedHere:
    pairs = np.concatenate([np.empty(0, np.uint64), *(part.pairs for part in parts)])
    similarity = np.concatenate([np.empty(0), *(part.similarities for part in parts)])
    first, second = split_pairs(pairs)
    return JoinedHere(
        Near(documents[first], documents[second], similarity),
        sum(part.met for part in parts),
        sum(part.verified for part in parts),
    )
