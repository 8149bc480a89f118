"""What nearly uses of PySpark that PySpark does not promise, each in one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyspark import RDD
from pyspark.serializers import BatchedSerializer, CPickleSerializer, NoOpSerializer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["arrow_batches", "one_by_one"]

State = TypeVar("State")


def one_by_one(states: RDD[State]) -> RDD[State]:
    """The same elements, each serialised by itself."""
    return states._reserialize(BatchedSerializer(CPickleSerializer(), 1))


def arrow_batches(frame: DataFrame) -> RDD[bytes]:
    """The rows of a frame as the Arrow batches that Spark makes of it when it is collected."""
    there = frame._jdf.toArrowBatchRdd().toJavaRDD()
    return RDD(there, frame.sparkSession.sparkContext, NoOpSerializer())
