"""What a run on a cluster holds: one element a partition, and nothing of it on the driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nearly.documents.corpus import Counts
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.copy import Later
from nearly.engines.spark.partition.signed_block import Block, Plan, Signed
from nearly.engines.spark.partition.verification import Near
from nearly.settings import Settings
from nearly.tuning.method import Choice

if TYPE_CHECKING:
    from pyspark import RDD

__all__ = ["Held", "HeldNear", "SparkClusters", "SparkCorpus"]

State = TypeVar("State")


@dataclass(frozen=True, kw_only=True)
class SparkCorpus:
    """The documents of a run, block by block."""

    settings: Settings
    choice: Choice
    counts: Counts
    source: Any
    plan: Plan
    text: int  # bytes in all
    blocks: RDD[Block]
    signed: RDD[Signed]
    later: RDD[Later]  # documents whose id or text came before
    nothing_skipped: Skips  # for reading again

    @cached_property
    def partitions(self) -> int:
        """How many blocks, and so partitions, there are."""
        return self.blocks.getNumPartitions()


@dataclass(frozen=True)
class Held(Generic[State]):
    """Pairs, candidates or rows, and how many there are in all."""

    states: RDD[State]
    count: int
    stage: str = ""  # under which what becomes of it is kept in a checkpoint

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True)
class HeldNear(Held[Near]):
    """Verified pairs, and the most similar of them."""

    best: Near = field(kw_only=True)


@dataclass(frozen=True)
class SparkClusters:
    """Rows of members, numbered, and how many clusters there are."""

    rows: RDD[bytes]
    count: int
