"""The one who writes: changes of many clients become one commit.

A commit costs a write to the disk that has to be waited for, however much is in it. So while one
commit is under way, the changes that come in wait, and all that can go together are the next
commit. Changes of one document stay in the order in which they came.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from nearly.errors import NearlyError, SettingsError, SourceError
from nearly.service.change import Change, group
from nearly.service.limit import Limits
from nearly.service.message import Removed, Stored
from nearly.service.problem import ProblemError

__all__ = ["Store", "Writer"]

#: Makes one commit of changes, and says what came of each.
Store = Callable[[Sequence[Change]], Sequence[Stored | Removed]]

_log = logging.getLogger("nearly.service")


class Writer:
    """A thread that stores what is submitted; `committed` is called with the size of a commit."""

    def __init__(self, store: Store, limits: Limits, committed: Callable[[int], None]) -> None:
        self._stored, self._limits, self._committed = store, limits, committed
        self._waiting: list[Change] = []
        self._awake = threading.Condition()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="nearly-writer", daemon=True)

    def start(self) -> None:
        """From now on, what is submitted is stored."""
        self._thread.start()

    def stop(self) -> None:
        """Store what waits, and take no more."""
        with self._awake:
            self._is_stopping = True
            self._awake.notify()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def is_working(self) -> bool:
        """Whether changes are taken."""
        return self._thread.is_alive() and not self._is_stopping

    @property
    def waiting(self) -> int:
        """Documents that wait."""
        return sum(len(change.ids) for change in self._waiting)

    def submit(self, change: Change) -> Future[Any]:
        """What comes of a change; the future is done when it is on the disk."""
        with self._awake:
            if not self.is_working:
                raise ProblemError(503, "the service is stopping; ask again when it is back")
            size = sum(each.size for each in self._waiting)
            if self._waiting and (
                self.waiting + len(change.ids) > self._limits.waiting
                or size + change.size > self._limits.waiting_bytes
            ):
                raise ProblemError(
                    429, "too many documents wait; send it again later", Retry_After="1"
                )
            self._waiting.append(change)
            self._awake.notify()
        return change.done

    def _run(self) -> None:
        while True:
            with self._awake:
                self._awake.wait_for(lambda: self._waiting or self._is_stopping)
                if not self._waiting:
                    return
                together, self._waiting = group(self._waiting)
            asked = [each for each in together if each.done.set_running_or_notify_cancel()]
            if asked:
                self._store(asked)

    def _store(self, together: list[Change]) -> None:
        """One commit; where the documents of one are at fault, each has its own."""
        try:
            answers = self._stored(together)
        except (SettingsError, SourceError) as error:
            if len(together) == 1:
                together[0].done.set_exception(error)
                return
            for change in together:
                self._store([change])
            return
        except BaseException as error:  # the thread has to go on
            if not isinstance(error, NearlyError):
                _log.exception("a commit failed")
            for change in together:
                change.done.set_exception(error)
            return
        self._committed(sum(len(change.ids) for change in together))
        for change, answer in zip(together, answers, strict=True):
            change.done.set_result(answer)
