"""Parts of a corpus in the partitions of a cluster, for work that is no search for near pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from nearly.documents.lookup import TextReader
from nearly.documents.place import Stretch
from nearly.documents.readable import Skips
from nearly.engines.spark.block import blocks_of, first_rows, narrowed
from nearly.engines.spark.exchange import deliver, each, kept, send, whole
from nearly.engines.spark.text import BlockTexts

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

__all__ = ["SparkParts"]


class Stretched(NamedTuple):
    """What the rows of a block belong to."""

    stretches: Sequence[Stretch]


class SparkParts:
    """See `Parts` in `nearly.engines.base`: the blocks of some sources, one after the other."""

    def __init__(self, session: SparkSession, sources: Sequence[Any], also: str | None) -> None:
        self._context = session.sparkContext
        self._sides = [self._located(session, narrowed(source, also)) for source in sources]
        first, *others = self._sides
        self.blocks: RDD[Any] = whole(first.union(others[0])) if others else first
        self.sizes: Sequence[int] = [side.getNumPartitions() for side in self._sides]

    def _located(self, session: SparkSession, source: Any) -> RDD[Any]:
        """Every block with what its rows belong to; blocks of a frame count through all of it."""
        blocks = blocks_of(session, source)
        starts = first_rows(blocks) if hasattr(source, "frame") else []
        return kept(each(partial(_with_stretches, starts), blocks, numbered=True))

    def share(self, value: Any) -> Any:
        """See `Parts`."""
        return self._context.broadcast(value)

    def each(
        self, step: Callable[..., Any], *states: RDD[Any], numbered: bool = False, **shared: Any
    ) -> RDD[Any]:
        """See `Parts`."""
        return kept(each(partial(_with_shared, step, shared), *states, numbered=numbered))

    def exchange(
        self, step: Callable[..., Any], *states: RDD[Any], numbered: bool = False, **shared: Any
    ) -> RDD[Any]:
        """See `Parts`."""
        sent = send(partial(_with_shared, step, shared), *states, numbered=numbered)
        return kept(deliver(sent, sum(self.sizes)))

    def collect(self, states: RDD[Any]) -> list[Any]:
        """See `Parts`."""
        return states.collect()

    def text_reader(self, side: int, skipped: Skips) -> TextReader:
        """See `Parts`."""
        return BlockTexts(self._sides[side], skipped)


def _with_stretches(starts: Sequence[int], number: int, block: Any) -> tuple[Any, Stretched]:
    shift = starts[number] if starts else 0
    shifted = [part._replace(first=part.first + shift) for part in block.stretches()]
    return block, Stretched(shifted)


def _with_shared(step: Callable[..., Any], shared: dict[str, Any], *given: Any) -> Any:
    return step(*given, **{name: each.value for name, each in shared.items()})
