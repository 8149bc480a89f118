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
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from nearly.errors import NearlyError, SettingsError, SourceError
from nearly.index.answer import Added, Id
from nearly.index.index import Index
from nearly.service.limit import Limits
from nearly.service.message import Refused, Removed, Seen, Stored
from nearly.service.problem import ProblemError

__all__ = ["Change", "Writer", "group"]

#: Documents of one commit; as many skipped ones can be listed.
MOST_TOGETHER = 10_000

_log = logging.getLogger("nearly.service")


@dataclass(frozen=True, eq=False)
class Change:
    """Documents to add, to put in the place of others, or to remove."""

    kind: Literal["add", "replace", "remove"]
    ids: Sequence[Id]
    contents: Sequence[Any] = ()
    size: int = 0  # bytes
    done: Future[Any] = field(default_factory=Future)

    @property
    def names(self) -> set[str]:
        """The ids as strings: what skipped documents are called."""
        return {str(each) for each in self.ids}


def group(waiting: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """The changes of the next commit, and those that stay: no change overtakes one of its ids."""
    together: list[Change] = []
    later: list[Change] = []
    held: set[str] = set()
    count = 0
    for change in waiting:
        names = change.names
        fits = not together or count + len(change.ids) <= MOST_TOGETHER
        if change.kind == waiting[0].kind and fits and held.isdisjoint(names):
            together.append(change)
            count += len(change.ids)
        else:
            later.append(change)
        held |= names
    return together, later


class Writer:
    """A thread that stores what is submitted; `committed` is called with the size of a commit."""

    def __init__(self, index: Index, limits: Limits, committed: Callable[[int], None]) -> None:
        self._index, self._limits, self._committed = index, limits, committed
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

    def _stored(self, together: list[Change]) -> list[Stored | Removed]:
        ids = [each for change in together for each in change.ids]
        if together[0].kind == "remove":
            there = [sum(each in self._index for each in set(c.ids)) for c in together]
            self._index.remove(ids)
            return [Removed(count) for count in there]
        is_replacing = together[0].kind == "replace"
        replaced = [
            sum(each in self._index for each in set(c.ids)) if is_replacing else 0 for c in together
        ]
        holds = self._index.holds
        contents = [each for change in together for each in change.contents]
        table = pa.table({"id": _ids(ids), holds: pa.array(contents, self._content_type())})
        reading: dict[str, Any] = {"id": "id", holds: holds}
        added = self._index.add(table, replace=is_replacing, **reading)
        return _shared_out(together, added, replaced)

    def _content_type(self) -> pa.DataType:
        shape = self._index.shape
        if shape is not None:
            return pa.list_(pa.from_numpy_dtype(np.dtype(shape.number)))
        return pa.list_(pa.string()) if self._index.holds == "items" else pa.large_string()


def _ids(ids: Sequence[Id]) -> pa.Array:
    if all(isinstance(each, int) for each in ids):
        return pa.array(ids, pa.int64())
    return pa.array([str(each) for each in ids])


def _shared_out(
    together: Sequence[Change], added: Added, replaced: Sequence[int]
) -> list[Stored | Removed]:
    """To each change what came of its own documents."""
    counts = zip(together, replaced, strict=True)
    answers = [Stored(len(change.ids), count, [], []) for change, count in counts]
    home = {
        name: answer
        for change, answer in zip(together, answers, strict=True)
        for name in change.names
    }
    columns = [added.seen.column(i).to_pylist() for i in range(3)]
    for row in zip(*columns, strict=True):
        home[str(row[0])].seen.append(Seen(*row))
    skipped = [column.to_pylist() for column in added.skipped.columns]
    for record, reason in zip(*skipped, strict=True):
        home[record].skipped.append(Refused(record, reason))
        home[record].added -= 1
    return list(answers)
