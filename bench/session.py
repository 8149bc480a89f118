"""Starts Spark as the benchmarks want it: on this machine, quiet, with this interpreter."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

CORES = 2
#: Two tasks a core: enough to even out, few enough that starting them costs little.
PARTITIONS = 2 * CORES


@contextmanager
def session(master: str = f"local[{CORES}]", **conf: str) -> Iterator[SparkSession]:
    """A Spark session whose scratch files are gone when it ends.

    `conf` gives settings by their Spark names without `spark.`, `driver__memory` for
    `driver.memory`.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as scratch:
        settings = {
            "spark.driver.memory": "6g",
            "spark.python.unix.domain.socket.enabled": "true",  # Python starts sooner, for all
            "spark.local.dir": scratch,
            "spark.sql.shuffle.partitions": str(PARTITIONS),
            "spark.sql.warehouse.dir": str(Path(scratch) / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            **{f"spark.{name.replace('__', '.')}": value for name, value in conf.items()},
        }
        spark = SparkSession.builder.master(master).config(map=settings).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        try:
            yield spark
        finally:
            spark.stop()


def documents(spark: SparkSession, path: Path, first: int | None = None) -> DataFrame:
    """The documents of a Parquet file (or its first few), held in memory in even partitions."""
    frame = spark.read.parquet(str(path)).select("id", "text")
    if first is not None:
        frame = frame.limit(first)
    held = frame.repartition(PARTITIONS, "id").cache()
    held.count()
    return held
