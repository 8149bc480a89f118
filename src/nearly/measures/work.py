"""Threads that take parts of the work of a measure, and the room that it has."""

from __future__ import annotations

import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from nearly.frozen import dataclass

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["ONE_THREAD", "Column", "HeldColumn", "Map", "Workers", "in_order"]

Given = TypeVar("Given")
Made = TypeVar("Made")

PARTS_PER_THREAD = 8  # so that no thread waits long for the others


class Map(Protocol):
    """What `map` does, in any number of threads."""

    def __call__(
        self, function: Callable[[Given], Made], items: Iterable[Given], /
    ) -> Iterable[Made]: ...


class Column(Protocol):
    """Numbers that come some at a time."""

    def append(self, numbers: npt.NDArray[np.uint64], /) -> None:
        """The next ones."""

    def shown(self) -> npt.NDArray[np.uint64]:
        """All of them, as memory or as a file that is shown as such: see `nearly.mapping`."""


class HeldColumn:
    """In memory."""

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[np.uint64]] = []

    def append(self, numbers: npt.NDArray[np.uint64], /) -> None:
        """See `Column`."""
        self._parts.append(numbers)

    def shown(self) -> npt.NDArray[np.uint64]:
        """See `Column`."""
        return self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)


@dataclass(frozen=True)
class Workers:
    """Threads that take parts of the work."""

    map: Map
    threads: int
    #: Bytes that a join may take.
    room: int = sys.maxsize
    #: Where numbers are put aside that may not fit in memory.
    column: Callable[[], Column] = HeldColumn

    def split(self, count: int, per_thread: int = PARTS_PER_THREAD) -> list[tuple[int, int]]:
        """Ranges of about equal length that together cover all of `count`."""
        parts = max(1, min(self.threads * per_thread, count))
        return list(itertools.pairwise(count * i // parts for i in range(parts + 1)))

    def map_growing(self, function: Callable[[Given], Made], items: deque[Given]) -> Iterator[Made]:
        """The same as `map`, while whoever receives may add items."""
        while items:
            yield from self.map(function, _drained(items))


def _drained(items: deque[Given]) -> Iterator[Given]:
    while items:
        yield items.popleft()


def in_order(
    pool: Executor, function: Callable[[Given], Made], items: Iterable[Given], ahead: int
) -> Iterator[Made]:
    """What threads make of items, in their order; at most `ahead` are begun and not taken yet."""
    begun: deque[Future[Made]] = deque()
    for item in items:
        begun.append(pool.submit(function, item))
        if len(begun) >= ahead:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()


#: For a task that has one thread.
ONE_THREAD = Workers(map, 1)
