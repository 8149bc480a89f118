"""What a source becomes on a cluster: one block a partition, read where its partition is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearly.arrays import count_characters
from nearly.engines.base import Skips
from nearly.engines.spark.exchange import each, whole
from nearly.engines.spark.packing import pack, unpack
from nearly.engines.spark.signing import Block

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

__all__ = ["blocks_of", "peek"]

#: Bytes of a file in a block: some tens of thousands of documents, signed in about a second.
LEAST_BLOCK = 2**24
#: Every partition may send to every other one, so there are not more of them than this.
MOST_PARTITIONS = 4_096


def blocks_of(session: SparkSession, source: Any) -> RDD[Block]:
    """The blocks of a source, in its order."""
    if hasattr(source, "frame"):
        return _blocks_of_frame(source)
    blocks = source.blocks(LEAST_BLOCK)
    if len(blocks) > MOST_PARTITIONS:
        blocks = source.blocks(LEAST_BLOCK * -(-len(blocks) // MOST_PARTITIONS))
    there = whole(session.sparkContext.parallelize(blocks, len(blocks)))
    return _with_first_rows(there) if source.needs_row_counts else there


def _blocks_of_frame(source: Any) -> RDD[Block]:
    """Each partition's rows as one block: packed by Spark's Arrow, so that no row is seen."""
    packed = source.frame.mapInArrow(_pack_all, "packed binary").rdd
    there = whole(packed.mapPartitionsWithIndex(partial(_block_of_rows, source.partitions)))
    return _with_first_rows(there) if source.needs_row_counts else there


def _pack_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch([pa.array([pack(batch)], pa.binary())], names=["packed"])


def _block_of_rows(partitions: Any, number: int, rows: Iterable[Any]) -> Iterator[Block]:
    yield partitions.block_of(number, [unpack(row.packed) for row in rows])


def _with_first_rows(blocks: RDD[Block]) -> RDD[Block]:
    """Ids are row numbers: each block is told where it begins."""
    counts = blocks.map(_count_rows).collect()
    starts = [sum(counts[:i]) for i in range(len(counts))]
    return each(blocks, partial(_starting, starts))


def _count_rows(block: Any) -> int:
    return int(block.count_rows())


def _starting(starts: Sequence[int], number: int, block: Any) -> Block:
    started: Block = block.starting_at(starts[number])
    return started


def peek(blocks: RDD[Block], skipped: Skips, also: str | None) -> tuple[float, pa.DataType | None]:
    """How long the first documents are on average, and the type of the column `also`."""
    for number in range(min(3, blocks.getNumPartitions())):
        step = partial(_first_batch, skipped, also)
        found = blocks.context.runJob(blocks, step, [number])
        if found:
            return found[0]
    return 0.0, None


def _first_batch(
    skipped: Skips, also: str | None, blocks: Iterable[Block]
) -> Iterator[tuple[float, pa.DataType | None]]:
    for block in blocks:
        for batch in block.documents(skipped, also):
            if batch.num_rows:
                kind = batch.column("also").type if also else None
                yield count_characters(batch.column("text")) / batch.num_rows, kind
                return
