"""What the steps of a run share: threads, memory, a folder to spill to, and who watches."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from nearly.documents.budget import Budget
from nearly.measures.work import in_order
from nearly.progress import Progress, Stopwatch

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
        self._pool = ThreadPoolExecutor(self.threads)

    def close(self) -> None:
        """End the threads; what waits is not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def room(self) -> int:
        """Bytes that a step may take."""
        return max(self.budget.limit, LEAST_ROOM)

    def map(
        self, function: Callable[[Given], Made], items: Iterable[Given], width: int | None = None
    ) -> Iterator[Made]:
        """In order, some items ahead: enough to keep all threads busy, not all in memory."""
        return in_order(self._pool, function, items, width or 2 * self.threads)
