"""Connected components of a whole run: in one task where that is enough, in rounds where not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from nearly.engines.spark.exchange import deliver, each, kept, send
from nearly.engines.spark.partition.component import (
    Edges,
    contracted,
    edges_by_document,
    large_star,
    small_star,
    united,
)
from nearly.engines.spark.partition.placement import scattered

if TYPE_CHECKING:
    from pyspark import RDD

__all__ = ["connect"]

#: Edges that one task connects in some ten seconds, with some hundred megabytes.
MOST_EDGES = 4_000_000


def connect(
    edges: RDD[Edges],
    count: int,
    partitions: int,
    *,
    folder: str | None = None,
    most_edges: int = MOST_EDGES,
) -> RDD[Edges]:
    """For every document but the first of its component, the first; each once.

    There are `count` edges, before each partition has connected its own. Rounds are kept in
    `folder`, or in the session's own, so that what is lost is not computed from the first one on.
    """
    edges = each(contracted, edges)
    if count > most_edges:
        edges = kept(edges)
        count = sum(edges.map(_count).collect())
    if count <= most_edges:
        gathered = deliver(send(_to_one, edges), partitions)
        return each(contracted, each(united, gathered))
    if folder is not None and edges.context.getCheckpointDir() is None:
        edges.context.setCheckpointDir(folder)
    state = None
    while True:
        grown = _round(edges, partitions)
        reached = _state(grown)
        edges.unpersist()
        edges = grown
        if reached == state:
            return edges
        state = reached


def _round(edges: RDD[Edges], partitions: int) -> RDD[Edges]:
    large = each(large_star, _exchanged(edges, partitions, both_ways=True))
    small = kept(each(small_star, _exchanged(large, partitions, both_ways=False)))
    if edges.context.getCheckpointDir() is not None:
        small.checkpoint()
    return small


def _exchanged(edges: RDD[Edges], partitions: int, *, both_ways: bool) -> RDD[Edges]:
    step = partial(edges_by_document, partitions=partitions, both_ways=both_ways)
    return each(united, deliver(send(step, edges), partitions))


def _state(edges: RDD[Edges]) -> tuple[int, int]:
    """Stars that no round changes any more have the same edges, and so the same sum of hashes."""
    sums = edges.map(_sums).collect()
    return sum(count for count, _ in sums), sum(total for _, total in sums) % 2**64


def _sums(edges: Edges) -> tuple[int, int]:
    return len(edges.documents), int(scattered(*edges).sum())


def _count(edges: Edges) -> int:
    return len(edges.documents)


def _to_one(edges: Edges) -> Iterator[tuple[int, Edges]]:
    yield 0, edges
