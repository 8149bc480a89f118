"""What a run on a cluster holds: one element per partition, and nothing of it on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from nearly.documents.corpus import Counts, Repeat
from nearly.documents.readable import Skips
from nearly.documents.side import Sides
from nearly.engines.spark.exchange import apart, kept, send, together
from nearly.engines.spark.partition import copy, lookup, number
from nearly.engines.spark.partition.border import Border, sides_here
from nearly.engines.spark.partition.copy import Repeats
from nearly.engines.spark.partition.number import Numbers
from nearly.engines.spark.partition.signed_block import Block, Plan
from nearly.engines.spark.partition.verification import Near
from nearly.engines.spark.shelf import Room
from nearly.measures.base import Measure
from nearly.settings import Settings
from nearly.tuning.method import Choice

if TYPE_CHECKING:
    from pyspark import RDD

    from nearly.documents.block import SignedBlock

__all__ = ["MOST_TOGETHER", "Blocks", "SparkCorpus", "SparkPairs"]


#: Bytes of text up to which the blocks of a corpus are together: one task takes them through all
#: steps in less time than Spark needs to start some twenty steps on several.
MOST_TOGETHER = 2**25


class Blocks(NamedTuple):
    """A source, and what was signed of it, each block in a partition of its own."""

    blocks: RDD[Block]
    signed: RDD[SignedBlock]


@dataclass(frozen=True, kw_only=True)
class SparkCorpus:
    """The documents of a run, block by block.

    Blocks of a small corpus are together in one partition of Spark's; `read` are the same ones,
    each in its own.
    """

    settings: Settings
    choice: Choice
    counts: Counts
    source: Any
    plan: Plan
    text: int  # bytes in all
    links: int  # documents whose text came before, on both sides
    partitions: int  # how many blocks there are
    compared: Sequence[int]  # documents of each block whose text did not come before
    read: Blocks
    blocks: RDD[Block]
    signed: RDD[SignedBlock]
    repeats: RDD[Repeats]  # documents whose id or text came before
    room: Room | None  # where states of partitions lie, if not in Spark

    @property
    def measure(self) -> Measure:
        """How they are compared, with nothing left to decide."""
        return self.plan.measure

    @property
    def border(self) -> Border | None:
        """Between old documents and new ones, if these are two sides."""
        return self.plan.border

    def sides_of(self, documents: Numbers) -> Sides | None:
        """The sides of a few documents, if there is a border."""
        if self.border is None:
            return None
        both = self.repeats.map(partial(copy.both_of, documents=documents)).collect()
        return sides_here(documents, np.concatenate(both), self.border)

    @property
    def nothing_skipped(self) -> Skips:
        """A list for reading again."""
        return self.plan.skipped.another()

    @property
    def is_together(self) -> bool:
        """Whether all blocks are in one partition of Spark's."""
        return self.blocks is not self.read.blocks

    def taken_apart(self) -> Self:
        """The same, with each block in a partition of its own."""
        if not self.is_together:
            return self
        repeats = kept(apart(self.repeats, self.partitions))
        return replace(self, blocks=self.read.blocks, signed=self.read.signed, repeats=repeats)

    def look_up(self, documents: Numbers) -> lookup.Few:
        """Ids and texts of a few documents; only their blocks are read."""
        wanted = [0] if self.is_together else np.unique(number.blocks_of(documents)).tolist()
        step = partial(lookup.look_up, skipped=self.nothing_skipped, sought=documents)
        there = send(step, self.blocks, self.signed, self.repeats, numbered=True)
        return lookup.few(there.context.runJob(there, list, wanted), self.plan)

    def first_repeat(self) -> Repeat:
        """The first id that came before, of those that repeat."""
        firsts = self.repeats.map(copy.first_repeat).collect()
        then, first = min(found for found in firsts if found is not None)
        shown = self.look_up(np.array([first, then]))
        both = np.arange(2, dtype=np.uint32)
        return Repeat(shown.ids(both)[0].as_py(), *shown.places(both).to_list())


@dataclass(frozen=True, kw_only=True)
class SparkPairs:
    """Verified pairs, and what it took to find them."""

    states: RDD[Near]
    count: int
    meetings: int
    verified: int
    choice: Choice
    largest_bucket: int | None

    def __len__(self) -> int:
        return self.count

    def beside(self, corpus: SparkCorpus) -> Self:
        """The same, together or apart as the blocks of a corpus are."""
        is_together = self.states.getNumPartitions() == 1 < corpus.partitions
        if corpus.is_together == is_together:
            return self
        if corpus.is_together:
            return replace(self, states=together(self.states))
        return replace(self, states=apart(self.states, corpus.partitions))
