"""One run of nearly on Spark in a process of its own: prints what it took as JSON.

The session is made as the command line makes it, and another corpus is run before the clock
starts. The file is read by the engine's own readers; with --partitions, it is a DataFrame that
Spark holds.

    python bench/spark_once.py FILE.parquet WARM_UP.parquet [--master local[2]] [--verb find]
        [--partitions 8]
"""

import argparse
import json
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import harness
from pyspark.sql import DataFrame, SparkSession
from stages import Stages

from nearly.engines.spark.session.session import open_session

SETTINGS: dict[str, Any] = {"unit": "char", "k": 5, "threshold": 0.8, "raw": True}
#: How often the driver's heap is looked at, in seconds.
PULSE = 1.0


def find(source: Any) -> dict[str, Any]:
    """Pairs and clusters, both wholly made, as on one machine."""
    import nearly

    found = nearly.find(source, engine="spark", id="id", text="text", **SETTINGS)
    make(found.pairs)
    make(found.clusters)
    return found.statistics.to_dict()


def dedup(source: Any) -> dict[str, Any]:
    """Clusters and who is removed: what can be had without spelling out every pair."""
    import nearly

    clean = nearly.dedup(source, engine="spark", id="id", text="text", **SETTINGS)
    make(clean.removed)
    return clean.statistics.to_dict()


VERBS: dict[str, Callable[[Any], dict[str, Any]]] = {"find": find, "dedup": dedup}


def make(table: DataFrame) -> None:
    """Have all rows and columns computed, and kept nowhere."""
    table.write.format("noop").mode("overwrite").save()


class DriverHeap(threading.Thread):
    """Collects the driver's garbage every second: the most that was ever left is what it holds."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(daemon=True)
        self.java = spark.sparkContext._jvm.java.lang
        self.most = 0
        self.over = threading.Event()

    def run(self) -> None:
        runtime = self.java.Runtime.getRuntime()
        last = False
        while not last:
            last = self.over.wait(PULSE)
            self.java.System.gc()
            self.most = max(self.most, runtime.totalMemory() - runtime.freeMemory())

    def stop(self) -> int:
        """The most that was held, after one more look."""
        self.over.set()
        self.join()
        return self.most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path")
    parser.add_argument("warm_up")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--verb", choices=VERBS, default="find")
    parser.add_argument("--partitions", type=int, help="spread the documents evenly over this many")
    asked = parser.parse_args()
    work = VERBS[asked.verb]
    with tempfile.TemporaryDirectory() as scratch:
        conf = {"spark.ui.enabled": "true", "spark.ui.port": "0", "spark.local.dir": scratch}
        spark = open_session(asked.master, conf)
        work(asked.warm_up)
        source = asked.path
        if asked.partitions:
            source = spark.read.parquet(asked.path).repartition(asked.partitions).cache()
            source.count()
        stages, heap = Stages(spark), DriverHeap(spark)
        alone = not asked.master.startswith("local")
        if alone:  # otherwise driver and executors share one heap
            heap.start()
        seconds, statistics = harness.timed(lambda: work(source))
        told = {
            "seconds": seconds,
            "statistics": statistics,
            "stages": stages.new(),
            "python_peak_bytes": harness.peak_bytes(),
            "heap_peak_bytes": heap.stop() if alone else None,
        }
        spark.stop()
    print(json.dumps(told, default=str))


if __name__ == "__main__":
    main()
