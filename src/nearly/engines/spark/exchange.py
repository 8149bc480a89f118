"""How partitions speak with each other.

The state of a run lies in RDDs with one element per partition. A step looks at those elements and
at the messages that came for its partition, and sends messages to others. A message is a few
arrays, so that Spark moves bytes and never sees a row; state stays where it is, for only messages
are shuffled.

A step is a function of a module, perhaps with some arguments fixed by `partial`, so that it is
sent to workers by its name. It is called with one element of each RDD; `numbered` steps get the
number of their partition first.

What is small is brought `together`: then all elements lie in one partition of Spark's, in their
order, and a message from one to another does not leave its task. Steps do not see the difference.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from pyspark import RDD, StorageLevel

from nearly.engines.spark.session.private import coalesced, one_by_one
from nearly.engines.spark.shelf import Element, Room, Shelf

__all__ = ["apart", "beside", "deliver", "each", "kept", "met", "send", "together", "whole"]

_beside: ContextVar[str | None] = ContextVar("beside", default=None)

State = TypeVar("State")
Made = TypeVar("Made")
Message = TypeVar("Message")


def each(step: Callable[..., Made], *states: RDD[Any], numbered: bool = False) -> RDD[Made]:
    """One element per partition again."""

    count = len(states)

    def of_partition(number: int, elements: Iterable[Any]) -> Iterator[Made]:
        for here, element in enumerate(elements, number):
            given = _flat(element, count)
            yield step(here, *given) if numbered else step(*given)
        _spare_modules()

    there = met(*states).mapPartitionsWithIndex(of_partition, preservesPartitioning=True)
    return whole(there)


def send(
    step: Callable[..., Iterable[Made]], *states: RDD[Any], numbered: bool = False
) -> RDD[Made]:
    """All that a step gives: messages with the partitions that they are for, or rows."""

    count = len(states)

    def of_partition(number: int, elements: Iterable[Any]) -> Iterator[Made]:
        for here, element in enumerate(elements, number):
            given = _flat(element, count)
            yield from step(here, *given) if numbered else step(*given)
        _spare_modules()

    return met(*states).mapPartitionsWithIndex(of_partition)


def deliver(messages: RDD[tuple[int, Message]], partitions: int) -> RDD[list[Message]]:
    """What came for each partition; the order of messages is chance."""
    if messages.getNumPartitions() == 1:
        return whole(messages.mapPartitions(partial(_sorted_out, partitions)))
    folder = _beside.get()
    if folder is not None:
        messages = messages.mapPartitions(partial(_messages_put_aside, folder))
    there = messages.partitionBy(partitions, _itself)

    def of_partition(elements: Iterable[tuple[int, Message]]) -> Iterator[list[Message]]:
        yield [message for _, message in elements]

    return whole(there.mapPartitions(of_partition))


def _sorted_out(
    partitions: int, messages: Iterable[tuple[int, Message]]
) -> Iterable[list[Message]]:
    received: list[list[Message]] = [[] for _ in range(partitions)]
    for target, message in messages:
        received[target].append(message)
    return received


def together(states: RDD[State]) -> RDD[State]:
    """All elements in one partition, in their order."""
    one, order = coalesced(states)
    if order == sorted(order):
        return one
    return whole(one.mapPartitions(partial(_in_order, order)))


def _in_order(order: Sequence[int], elements: Iterable[State]) -> list[State]:
    known = dict(zip(order, elements, strict=True))
    return [known[number] for number in sorted(known)]


def apart(states: RDD[State], partitions: int) -> RDD[State]:
    """What is together, with each element in its own partition again."""
    moved = send(_with_number, states, numbered=True)
    there = moved.partitionBy(partitions, _itself)
    return whole(there.values())


def _with_number(number: int, state: State) -> Iterator[tuple[int, State]]:
    yield number, state


def met(*states: RDD[Any]) -> RDD[Any]:
    """Several states, partition by partition, as pairs of pairs; nothing is moved."""
    first, *others = states
    return whole(first.zip(met(*others))) if others else first


class _Seen:
    """How many modules this worker had when garbage was last looked for among them."""

    modules = 0


def _spare_modules() -> None:
    """Have garbage looked for without going through the modules.

    After every task PySpark looks for it among all that a worker holds, and most of that is the
    modules it imported: in short steps this took three quarters of the worker's time.
    """
    if len(sys.modules) > _Seen.modules:
        gc.collect()
        gc.freeze()  # what is there now is not looked at again; what nobody holds still goes
        _Seen.modules = len(sys.modules)


def _flat(element: Any, count: int) -> tuple[Any, ...]:
    """The elements of `count` states that were met."""
    flat = []
    for _ in range(count - 1):
        first, element = element
        flat.append(first)
    return (*flat, element)


def kept(states: RDD[State]) -> RDD[State]:
    """Computed once, as far as memory and disks of the executors hold."""
    folder = _beside.get()
    if folder is not None:
        states = whole(
            states.mapPartitions(partial(_states_put_aside, folder), preservesPartitioning=True)
        )
    return states.persist(StorageLevel.MEMORY_AND_DISK)


@contextmanager
def beside(room: Room | None) -> Iterator[None]:
    """What is kept or sent meanwhile lies in this room; or in Spark, if there is none."""
    before = _beside.set(None if room is None else str(room.folder))
    try:
        yield
    finally:
        _beside.reset(before)


def _states_put_aside(folder: str, states: Iterable[Any]) -> Iterator[Any]:
    shelf = Shelf(folder)
    for state in states:
        yield Element(state, shelf)


def _messages_put_aside(
    folder: str, messages: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, Any]]:
    shelf = Shelf(folder)
    for target, message in messages:
        yield target, Element(message, shelf)


def _itself(target: int) -> int:
    return target


def whole(states: RDD[State]) -> RDD[State]:
    """Elements are large: each is serialised by itself. RDDs whose elements are batched alike can
    be zipped as they are; others would be sent through Python once more."""
    return one_by_one(states)
