"""How partitions speak with each other.

The state of a run lies in RDDs with one element a partition. A step looks at that element and at
the messages that came for its partition, and sends messages to others. A message is a few arrays,
so that Spark moves bytes and never sees a row; state stays where it is, for only messages are
shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from pyspark import RDD, StorageLevel
from pyspark.serializers import BatchedSerializer, CPickleSerializer

__all__ = ["Step", "deliver", "each", "kept", "meet", "send", "whole"]

State = TypeVar("State")
Other = TypeVar("Other")
Made = TypeVar("Made")
Message = TypeVar("Message")

#: From a partition's number and its state to something.
Step = Callable[[int, State], Made]


def each(states: RDD[State], step: Step[State, Made]) -> RDD[Made]:
    """One element a partition again."""

    def of_partition(number: int, elements: Iterable[State]) -> Iterator[Made]:
        for element in elements:
            yield step(number, element)

    return whole(states.mapPartitionsWithIndex(of_partition, preservesPartitioning=True))


def send(states: RDD[State], step: Step[State, Iterable[Made]]) -> RDD[Made]:
    """All that a step gives: messages with the partitions that they are for, or rows."""

    def of_partition(number: int, elements: Iterable[State]) -> Iterator[Made]:
        for element in elements:
            yield from step(number, element)

    return states.mapPartitionsWithIndex(of_partition)


def deliver(messages: RDD[tuple[int, Message]], partitions: int) -> RDD[list[Message]]:
    """What came for each partition; the order of messages is chance."""
    there = messages.partitionBy(partitions, _itself)

    def of_partition(elements: Iterable[tuple[int, Message]]) -> Iterator[list[Message]]:
        yield [message for _, message in elements]

    return whole(there.mapPartitions(of_partition))


def meet(states: RDD[State], others: RDD[Other]) -> RDD[tuple[State, Other]]:
    """Two states, or a state and its messages, partition by partition; nothing is moved."""
    return whole(states.zip(others))


def kept(states: RDD[State]) -> RDD[State]:
    """Computed once, as far as memory and disks of the executors hold."""
    return states.persist(StorageLevel.MEMORY_AND_DISK)


def _itself(target: int) -> int:
    return target


def whole(states: RDD[State]) -> RDD[State]:
    """Elements are large: each is serialised by itself. RDDs whose elements are batched alike can
    be zipped as they are; others would be sent through Python once more."""
    one_by_one = BatchedSerializer(CPickleSerializer(), 1)
    return states._reserialize(one_by_one)
