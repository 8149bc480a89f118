"""Engines to run the same test on: one machine, and Spark cut into partitions and batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from clusters import QUICK_JAVA

import nearly
from nearly.engines.spark.session.session import open_session
from nearly.sources import part

PLACE = "its place"


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
    """A Spark frame of the same rows in the same order, in so many partitions."""
    placed = table.append_column(PLACE, pa.array(range(table.num_rows), pa.int64()))
    frame = session().createDataFrame(placed)
    return frame.repartitionByRange(partitions, PLACE).sortWithinPartitions(PLACE)


@dataclass(frozen=True)
class Run:
    """An engine; with Spark, how rows are cut. Results come back as Arrow tables."""

    partitions: int | None
    batch: int

    def __str__(self) -> str:
        where = "local" if self.partitions is None else f"spark-{self.partitions}"
        return f"{where}-by-{self.batch}"

    @property
    def is_spark(self) -> bool:
        return self.partitions is not None

    def find(self, table: pa.Table, **options: Any) -> Any:
        with self._source(table) as source:
            return collected(nearly.find(source, **options))

    def dedup(self, table: pa.Table, **options: Any) -> Any:
        with self._source(table) as source:
            return collected(nearly.dedup(source, **options))

    @contextmanager
    def _source(self, table: pa.Table) -> Iterator[Any]:
        if self.partitions is None:
            with patch.object(part, "BATCH_ROWS", self.batch):
                yield table
            return
        key = "spark.sql.execution.arrow.maxRecordsPerBatch"
        before = session().conf.get(key)
        session().conf.set(key, str(self.batch))
        try:
            yield frame_of(table, self.partitions)
        finally:
            session().conf.set(key, before)


@dataclass(frozen=True)
class Collected:
    """Every table of a result as plain Arrow, and all numbers but those of the clock."""

    tables: dict[str, pa.Table]
    statistics: nearly.Statistics

    def __getattr__(self, name: str) -> Any:
        return self.tables[name]


def collected(result: Any) -> Collected:
    names = [
        n for n in ("pairs", "clusters", "removed", "kept", "top", "skipped") if hasattr(result, n)
    ]
    tables = {name: plain(getattr(result, name)) for name in names}
    return Collected(tables, replace(result.statistics, seconds={}))


def plain(table: Any) -> pa.Table:
    """As Arrow, without what only says how it was stored."""
    arrow = table if isinstance(table, pa.Table) else table.toArrow()
    if PLACE in arrow.column_names:
        arrow = arrow.drop_columns(PLACE)
    kinds = {pa.large_string(): pa.string()}
    fields = [pa.field(f.name, kinds.get(f.type, f.type)) for f in arrow.schema]
    return arrow.cast(pa.schema(fields)).combine_chunks()


def runs(spark: list[tuple[int, int]]) -> list[Run]:
    """One machine, and Spark in each of these ways."""
    return [Run(None, 8192), *(Run(partitions, batch) for partitions, batch in spark)]
