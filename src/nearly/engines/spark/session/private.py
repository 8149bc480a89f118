"""What nearly uses of PySpark that PySpark does not promise, each in one function."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark import RDD, SparkConf, SparkContext, cloudpickle
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import (
    BatchedSerializer,
    CPickleSerializer,
    NoOpSerializer,
    UTF8Deserializer,
    read_int,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "active_context",
    "arrow_batches",
    "coalesced",
    "command_of_java",
    "gateway_to",
    "has_gateway",
    "hush",
    "one_by_one",
    "pickled",
    "spark_home",
]

State = TypeVar("State")


def one_by_one(states: RDD[State]) -> RDD[State]:
    """The same elements, each serialised by itself."""
    return states._reserialize(BatchedSerializer(CPickleSerializer(), 1))


def coalesced(states: RDD[State]) -> tuple[RDD[State], list[int]]:
    """All partitions as one, and in which order Spark put them there."""
    one = states.coalesce(1)
    (partition,) = one._jrdd.rdd().partitions()
    return one, list(partition.parentsIndices())


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


def command_of_java(conf: SparkConf, answer: Path) -> tuple[list[str], dict[str, str]]:
    """What starts Java, and the variables that let it write to `answer` how it is reached."""
    command = [os.path.join(spark_home(), "bin", "spark-submit")]
    for key, value in conf.getAll():
        command += ["--conf", f"{key}={value}"]
    command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    return command, {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(answer)}


def gateway_to(answer: Path) -> Any:
    """The way to the Java that answered, as spark-submit tells PySpark of its own."""
    with open(answer, "rb") as said:
        port, secret = read_int(said), UTF8Deserializer().loads(said)
    variables = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    os.environ.update(variables)
    try:
        return launch_gateway()
    finally:
        for name in variables:
            del os.environ[name]


def hush(context: SparkContext) -> None:
    """Let the thread that waits for sums end: it would complain that nobody speaks to it."""
    context._accumulatorServer.shutdown()


def spark_home() -> str:
    """The folder of Spark itself."""
    home: str = _find_spark_home()
    return home
