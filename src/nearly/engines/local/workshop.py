"""What the steps of a run share: threads, memory, a folder to spill to, and who watches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nearly.documents.budget import Budget
from nearly.measures.work import in_order
from nearly.progress import Progress, Stopwatch

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["Workshop"]

Given = TypeVar("Given")
Made = TypeVar("Made")

LEAST_ROOM = 2**24  # bytes that a step may take, however small the budget is


class Workshop:
    """Where steps work."""

    def __init__(
        self, *, folder: Path, progress: Progress, threads: int | None, memory: int | None
    ):
        self.threads = threads or len(os.sched_getaffinity(0))
        self.progress = Stopwatch(progress)
        self.folder = folder
        self.budget = Budget(memory)
        self.is_limited = memory is not None
        self._begun: list[ThreadPoolExecutor] = []

    def work_alone(self) -> None:
        """Have one thread from now on: beginning others would take longer than the work."""
        self.threads = 1

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return self._hired(self.threads)

    @cached_property
    def _reader(self) -> ThreadPoolExecutor:
        return self._hired(1)

    def _hired(self, threads: int) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # imports `logging`, which takes 5 ms

        self._begun.append(ThreadPoolExecutor(threads))
        return self._begun[-1]

    def close(self) -> None:
        """End the threads; what waits is not begun."""
        while self._begun:
            self._begun.pop().shutdown(wait=True, cancel_futures=True)

    @property
    def room(self) -> int:
        """Bytes that a step may take."""
        return self.room_beside(0)

    def room_beside(self, held: int) -> int:
        """The same where it holds so many bytes for as long as it works."""
        return max(self.budget.limit - held, LEAST_ROOM)

    def begin(self, function: Callable[[Given], Made], item: Given) -> Callable[[], Made]:
        """Some thread does it, as soon as one is free; gives what waits for it."""
        if self.threads == 1:
            return partial(function, item)
        return self._pool.submit(function, item).result

    def ahead(self, items: Iterator[Given]) -> Iterator[Given]:
        """The same items, the next one made in a thread of its own while one is worked on.

        Not where there is one thread, or where memory is limited: what comes next takes some.
        """
        if self.threads == 1 or self.is_limited:
            yield from items
            return
        coming = [self._reader.submit(_next, items)]
        # Taken out before it is asked: an error must not hold this frame, and so all that is open.
        while (item := coming.pop().result()) is not None:
            coming.append(self._reader.submit(_next, items))
            yield item

    def map(
        self, function: Callable[[Given], Made], items: Iterable[Given], width: int | None = None
    ) -> Iterator[Made]:
        """In order, some items ahead: enough to keep all threads busy, not all in memory."""
        if self.threads == 1:
            return map(function, items)
        return in_order(self._pool, function, items, width or 2 * self.threads)


def _next(items: Iterator[Given]) -> Given | None:
    return next(items, None)
