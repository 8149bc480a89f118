"""What nearly uses of PySpark that PySpark does not promise, each in one function."""

from __future__ import annotations

from collections.abc import Callable
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark import RDD, SparkContext, cloudpickle
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import BatchedSerializer, CPickleSerializer, NoOpSerializer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "active_context",
    "arrow_batches",
    "has_gateway",
    "hush",
    "launch_gateway",
    "one_by_one",
    "pickled",
    "spark_home",
]

State = TypeVar("State")


def one_by_one(states: RDD[State]) -> RDD[State]:
    """The same elements, each serialised by itself."""
    return states._reserialize(BatchedSerializer(CPickleSerializer(), 1))


def pickled(element: Any, is_in_band: Callable[[PickleBuffer], bool]) -> bytes:
    """An element as Spark pickles it, but for the arrays that are put elsewhere."""
    dumped: bytes = cloudpickle.dumps(element, protocol=5, buffer_callback=is_in_band)
    return dumped


def arrow_batches(frame: DataFrame) -> RDD[bytes]:
    """The rows of a frame as the Arrow batches that Spark makes of it when it is collected."""
    there = frame._jdf.toArrowBatchRdd().toJavaRDD()
    return RDD(there, frame.sparkSession.sparkContext, NoOpSerializer())


def active_context() -> SparkContext | None:
    """The context of this process, if it has one: asking for it must not start one."""
    return SparkContext._active_spark_context


def has_gateway() -> bool:
    """Whether a Java machine was started for an earlier session of this process."""
    return SparkContext._gateway is not None


def hush(context: SparkContext) -> None:
    """Let the thread that waits for sums end: it would complain that nobody speaks to it."""
    context._accumulatorServer.shutdown()


def spark_home() -> str:
    """The folder of Spark itself."""
    home: str = _find_spark_home()
    return home
