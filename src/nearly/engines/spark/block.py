"""What a source becomes on a cluster: one block per partition, read where its partition is."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.ipc as ipc
from pyspark.sql import functions

from nearly.documents.two_sided import Beyond, SidedBlock, TwoSided
from nearly.engines.spark.exchange import each, kept, whole
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.session.private import arrow_batches

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

__all__ = [
    "blocks_of",
    "both_sides",
    "fingerprint_of",
    "first_rows",
    "first_rows_of_frames",
    "narrowed",
]

#: Bytes of files in a block: a task has something to do, and its texts can be held.
LEAST_BLOCK, LARGEST_BLOCK = 2**20, 2**26
#: Of what is no file, how large it all is is not known.
UNKNOWN_BLOCK = 2**24
#: Every partition may send to every other one, so there are not more of them than this.
MOST_PARTITIONS = 4_096


def blocks_of(session: SparkSession, source: Any) -> RDD[Block]:
    """The blocks of a source, in its order."""
    if hasattr(source, "frame"):
        return _blocks_of_frame(source)
    blocks = source.blocks(_size_of_block(source.size, session.sparkContext.defaultParallelism))
    there = whole(session.sparkContext.parallelize(blocks, len(blocks)))
    return _with_first_rows(there) if source.needs_row_counts else there


def both_sides(
    session: SparkSession, source: Any, also: pa.DataType | None
) -> tuple[RDD[Block], int | None]:
    """The blocks of a source; of two sides, those of the old one first, and how many these are."""
    if not isinstance(source, TwoSided):
        return blocks_of(session, source), None
    old, new = (blocks_of(session, side) for side in (source.old, source.new))
    sides = (
        each(partial(_sided, source.of_old, also), old),
        each(partial(_sided, source.of_new, None), new),
    )
    return whole(sides[0].union(sides[1])), old.getNumPartitions()


def _sided(beyond: Beyond, also: pa.DataType | None, block: Any) -> Block:
    return SidedBlock(block, beyond, also)


def _size_of_block(size: int, cores: int) -> int:
    """As many blocks as there are cores, or a multiple of it, of blocks that can be held."""
    if not size:
        return UNKNOWN_BLOCK
    rounds = min(-(-size // (cores * LARGEST_BLOCK)), MOST_PARTITIONS // cores) or 1
    return max(-(-size // (cores * rounds)), LEAST_BLOCK)


def _blocks_of_frame(source: Any) -> RDD[Block]:
    """Each partition's rows as one block.

    They come as the Arrow batches that Spark makes of a frame when it is collected: rows would
    be converted one by one, and packed cells would go through Spark's slow writer of rows. They
    are kept: computed again, a frame may give its rows in another order.
    """
    batches = arrow_batches(source.frame)
    if not batches.getNumPartitions():  # as of a frame that Spark knows to be empty
        return whole(batches.context.parallelize([source.partitions.block_of(0, [])], 1))
    step = partial(_block_of_batches, source.partitions)
    blocks = kept(whole(batches.mapPartitionsWithIndex(step)))
    return _with_first_rows(blocks) if source.needs_row_counts else blocks


def _block_of_batches(partitions: Any, number: int, batches: Iterable[bytes]) -> Iterator[Block]:
    schema = partitions.reading.schema
    read = [ipc.read_record_batch(pa.py_buffer(batch), schema) for batch in batches]
    yield partitions.block_of(number, read)


def narrowed(source: Any, also: str | None = None) -> Any:
    """Of a frame only the columns that are looked at; readers of files leave out others anyway."""
    if isinstance(source, TwoSided):
        return TwoSided(narrowed(source.old), narrowed(source.new))
    if not hasattr(source, "frame"):
        return source
    names = [name for name in dict.fromkeys([*source.looked_at, also]) if name is not None]
    return source.with_frame(source.frame.select(*map(quoted, names)), names)


def quoted(name: str) -> str:
    """A column's name that Spark takes as it stands, dots and all."""
    return f"`{name.replace('`', '``')}`"


def _with_first_rows(blocks: RDD[Block]) -> RDD[Block]:
    """Ids are row numbers: each block is told where it begins."""
    return each(partial(_starting, first_rows(blocks)), blocks, numbered=True)


def first_rows(blocks: RDD[Block]) -> list[int]:
    """Where each block begins, if rows are counted through all of them."""
    return [0, *itertools.accumulate(blocks.map(_count_rows).collect())]


def first_rows_of_frames(source: Any, blocks: RDD[Block], old_blocks: int | None) -> list[int]:
    """Where each block of a frame begins, counted through all of its side; nothing where there
    is no frame, for blocks of files know it."""
    sides = [source] if old_blocks is None else [source.old, source.new]
    if not any(hasattr(side, "frame") for side in sides):
        return []
    counts = blocks.map(_count_rows).collect()
    cut = old_blocks or 0
    parts = [counts] if old_blocks is None else [counts[:cut], counts[cut:]]
    starts: list[int] = []
    for side, some in zip(sides, parts, strict=True):
        known = [0, *itertools.accumulate(some)][: len(some)]
        starts += known if hasattr(side, "frame") else [0] * len(some)
    return starts


def _count_rows(block: Any) -> int:
    return int(block.count_rows())


def _starting(starts: Sequence[int], number: int, block: Any) -> Block:
    started: Block = block.starting_at(starts[number])
    return started


def fingerprint_of(source: Any, rule_column: str | None) -> str:
    """What is other wherever the rows may be: of a frame, a hash of all that is looked at."""
    if isinstance(source, TwoSided):
        return f"{fingerprint_of(source.old, None)} {fingerprint_of(source.new, rule_column)}"
    embedded = source.facts().get("embed")
    if not hasattr(source, "frame"):
        return f"{embedded} {source.stamp()}"
    wanted = [column for column in (*source.looked_at, rule_column) if column]
    columns = [functions.col(quoted(column)) for column in wanted]
    hashed = functions.xxhash64(functions.monotonically_increasing_id(), *columns)
    rows = source.frame.select(hashed.alias("hash"))
    # In two halves: a sum of whole 64-bit hashes may be too long for a number of Spark's.
    low = rows.hash.bitwiseAND(functions.lit(2**32 - 1))
    high = functions.shiftrightunsigned(rows.hash, 32)
    return f"{embedded} {rows.select(functions.sum(low), functions.sum(high)).first()}"
