"""Threads that do what they are given, in the order in which it was given.

`concurrent.futures` does the same and more: it imports `logging`, which takes as long as a fiftieth
of a short command, and hands a task over in twice the time.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, Self, TypeVar

__all__ = ["Pool", "Task"]

Given = TypeVar("Given")
Made = TypeVar("Made")


class Task(Generic[Made]):
    """What was given to a pool."""

    __slots__ = ("_ended", "_error", "_made", "_work")

    def __init__(self, function: Callable[[Given], Made], item: Given) -> None:
        self._work: tuple[Callable[[Any], Made], Any] | None = (function, item)
        self._made: Any = None
        self._error: BaseException | None = None
        self._ended = Lock()
        self._ended.acquire()

    def do(self) -> None:
        """Called once, by some thread."""
        work, self._work = self._work, None  # what it works on can go when it is done
        try:
            if work is not None:
                self._made = work[0](work[1])
        except BaseException as error:
            self._error = error
        finally:
            self._ended.release()

    def leave(self) -> None:
        """Called instead, where the pool is closed first."""
        self._error = RuntimeError("the threads have ended")
        self._ended.release()

    def result(self) -> Made:
        """Waits for it; raises what was raised. To be called once."""
        self._ended.acquire()
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error, self  # an error holds its frames, which must not hold the error
        made: Made = self._made
        return made


class Pool:
    """So many threads, each begun when there is work for it; a context manager that ends them."""

    def __init__(self, threads: int) -> None:
        self._most = threads
        self._threads: list[Thread] = []
        self._waiting: SimpleQueue[Task[Any] | None] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: Callable[[Given], Made], item: Given) -> Task[Made]:
        """Some thread does it, as soon as one is free."""
        task = Task(function, item)
        self._waiting.put(task)
        if len(self._threads) < self._most:
            # Where nobody closes the pool, its threads end with the process.
            thread = Thread(target=self._work, daemon=True)
            thread.start()
            self._threads.append(thread)
        return task

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            task.do()
            del task  # with what it made, should nobody ask for it

    def close(self) -> None:
        """End the threads when each has done what it has begun; what waits is not begun."""
        while not self._waiting.empty():
            self._leave_one()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _leave_one(self) -> None:
        try:
            task = self._waiting.get_nowait()
        except Empty:  # a thread was faster
            return
        if task is not None:
            task.leave()
