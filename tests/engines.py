"""Engines to run the same test on: one machine, and Spark cut into partitions and batches.

The few constants of the package that tests make small are named here and nowhere else.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from clusters import QUICK_JAVA

import nearly
from nearly.engines.spark.component import connect
from nearly.engines.spark.session.session import open_session

PLACE = "its place"

BATCH_ROWS = "nearly.sources.part.BATCH_ROWS"
#: With these and next to no memory, one machine does everything in many pieces, from disk.
SMALL_HERE = {
    "nearly.engines.local.workshop.LEAST_ROOM": 2**19,
    "nearly.engines.local.near_pair.MOST_PENDING": 10,
    "nearly.engines.local.verification.BYTES_TO_COMPARE": 2**30,
    "nearly.engines.local.near_pair.MOST_MEETINGS": 20,
    "nearly.engines.local.near_pair.MEETINGS_PER_DOCUMENT": 0,
    "nearly.measures.pair.PART": 7,
    "nearly.measures.probe.MOST_PAIRS": 3,
    "nearly.stages.copy.PART": 7,
    "nearly.stages.table.PART": 7,
    "nearly.documents.pair_store.PIECE": 16,
    "nearly.stages.verification.BLOCK_BYTES": 300,
    "nearly.stages.verification.DOCUMENTS": 1,
}
#: With these, no corpus on Spark is small, the exact join has several groups of documents, and
#: components are listed in shares.
SMALL_THERE = {
    "nearly.engines.spark.loader.MOST_TOGETHER": -1,
    "nearly.engines.spark.partition.join.GROUP_TEXT": 1_500,
    "nearly.engines.spark.outcome.MOST_PAIRS": 2,
}


@cache
def session() -> Any:
    """One session for all tests: to start one takes seconds."""
    conf = {
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    return open_session("local[2]", conf)


def frame_of(table: pa.Table, partitions: int) -> Any:
    """A Spark frame of the same rows in the same order, in this many partitions."""
    placed = table.append_column(PLACE, pa.array(range(table.num_rows), pa.int64()))
    frame = session().createDataFrame(placed)
    return frame.repartitionByRange(partitions, PLACE).sortWithinPartitions(PLACE)


@cache
def held_frame(identity: int, partitions: int) -> Any:
    """One frame for all runs over a table: to sort its rows takes longer than to read them."""
    return frame_of(_tables[identity], partitions).persist()


_tables: dict[int, pa.Table] = {}


@contextmanager
def in_rounds() -> Iterator[None]:
    """On Spark, components grow in rounds, as those of very many pairs do."""
    with patch.dict(connect.__kwdefaults__, most_edges=0):
        yield


@dataclass(frozen=True)
class Run:
    """An engine; with Spark, how rows are cut. Results come back as Arrow tables.

    `small`: all that an engine does in pieces is done in many, and spilled where it can be.
    """

    partitions: int | None
    batch: int
    small: bool = False

    def __str__(self) -> str:
        where = "local" if self.partitions is None else f"spark-{self.partitions}"
        return f"{where}-by-{self.batch}" + "-small" * self.small

    @property
    def is_spark(self) -> bool:
        return self.partitions is not None

    def find(self, table: pa.Table, **options: Any) -> Any:
        with self._sources(table, options) as (source, how):
            return collected(nearly.find(source, **how))

    def dedup(self, table: pa.Table, **options: Any) -> Any:
        with self._sources(table, options) as (source, how):
            return collected(nearly.dedup(source, **how))

    @contextmanager
    def _sources(
        self, table: pa.Table, options: dict[str, Any]
    ) -> Iterator[tuple[Any, dict[str, Any]]]:
        """What the engine reads, old documents too, and options that make it do so in pieces."""
        small = (SMALL_THERE if self.is_spark else SMALL_HERE) if self.small else {}
        with ExitStack() as stack:
            for name, value in small.items():
                stack.enter_context(patch(name, value))
            if self.partitions is None:
                stack.enter_context(patch(BATCH_ROWS, self.batch))
                yield table, options | ({"memory": 1} if self.small else {})
            else:
                stack.enter_context(_batches_of(self.batch))
                old = options.get("against")
                cut = {} if old is None else {"against": self._frame(old)}
                yield self._frame(table), options | cut

    def _frame(self, table: pa.Table) -> Any:
        _tables[id(table)] = table  # so that no other one gets its identity
        return held_frame(id(table), self.partitions or 1)


@contextmanager
def _batches_of(rows: int) -> Iterator[None]:
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = session().conf.get(key)
    session().conf.set(key, str(rows))
    try:
        yield
    finally:
        session().conf.set(key, before)


@dataclass(frozen=True)
class Collected:
    """Every table of a result as plain Arrow, and all numbers but those of the clock."""

    tables: dict[str, pa.Table]
    statistics: dict[str, Any]
    around: Any = None

    def __getattr__(self, name: str) -> Any:
        return self.tables[name]


def collected(result: Any) -> Collected:
    names = [
        n for n in ("pairs", "clusters", "removed", "kept", "top", "skipped") if hasattr(result, n)
    ]
    tables = {name: plain(getattr(result, name)) for name in names}
    numbers = result.statistics.to_dict()
    statistics = {name: value for name, value in numbers.items() if name != "seconds"}
    return Collected(tables, statistics, getattr(result, "around", None))


def plain(table: Any) -> pa.Table:
    """As Arrow, without what only says how it was stored."""
    arrow = table if isinstance(table, pa.Table) else table.toArrow()
    if PLACE in arrow.column_names:
        arrow = arrow.drop_columns(PLACE)
    kinds = {pa.large_string(): pa.string()}
    fields = [pa.field(f.name, kinds.get(f.type, f.type)) for f in arrow.schema]
    return arrow.cast(pa.schema(fields)).combine_chunks()
