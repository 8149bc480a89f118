"""Threads that take parts of the work of a measure."""

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["ONE_THREAD", "Map", "Workers"]

Given = TypeVar("Given")
Made = TypeVar("Made")

PARTS_PER_THREAD = 8  # so that no thread waits long for the others


class Map(Protocol):
    """What `map` does, in any number of threads."""

    def __call__(
        self, function: Callable[[Given], Made], items: Iterable[Given], /
    ) -> Iterable[Made]: ...


@dataclass(frozen=True)
class Workers:
    """Threads that take parts of the work."""

    map: Map
    threads: int

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


#: For a task that has one thread.
ONE_THREAD = Workers(map, 1)
