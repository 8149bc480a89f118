"""The process that writes to the index of a service, so that questions need not wait for it.

Two threads of one Python process take turns, and what a commit works out would take as long from
the questions. So the service reads the index, as any number of processes may, and sends changes to
a process of its own, over a pipe and as plain bytes. It sees a commit with the next question.

The one that writes ends when the pipe does: whatever happens to the service, it finishes the commit
that is under way and gives up the lock. If it ends by itself, the next change starts another.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Any, Final, Self

import msgspec

from nearly import errors
from nearly.errors import NearlyError, SinkError
from nearly.index.answer import Id
from nearly.index.index import Index
from nearly.service.change import Change, Kind
from nearly.service.message import Removed, Stored
from nearly.service.storage import stored

__all__ = ["Scribe"]

#: Seconds that the last one to write may take to end, where a service was killed.
PATIENCE: Final = 2.0
#: The error of what nobody expected; its trace is in the terminal.
UNEXPECTED: Final = ""


class Order(msgspec.Struct):
    """Changes of one kind: ids and contents of each."""

    kind: Kind
    changes: list[tuple[list[Id], list[Any]]]


class Outcome(msgspec.Struct):
    """What came of them, or the name of an error and what it says."""

    stored: list[Stored] = []
    removed: list[Removed] = []
    error: tuple[str, str] | None = None


_orders = msgspec.msgpack.Decoder(Order)
_outcomes = msgspec.msgpack.Decoder(Outcome)


class Scribe:
    """The process, as the service sees it; one thread at a time may ask it to store something."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._pipe: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def store(self, together: Sequence[Change]) -> Sequence[Stored | Removed]:
        """One commit, which is on the disk when this returns."""
        changes = [(list(change.ids), list(change.contents)) for change in together]
        pipe = self._pipe or self._begin()
        try:
            pipe.send_bytes(msgspec.msgpack.encode(Order(together[0].kind, changes)))
            outcome = _outcome(pipe)
        except (EOFError, OSError) as error:
            self._end()
            raise SinkError(
                "the process that writes to the index ended; the change is there as a whole or not "
                "at all, so send it again"
            ) from error
        return outcome.stored or outcome.removed

    def _begin(self) -> Connection:
        """Start it, and wait until it has the lock."""
        self._pipe, theirs = Pipe()
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-m", __name__, self._path, str(number)]
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[number]
            )
        try:
            _outcome(self._pipe)
        except BaseException as error:
            self._end()
            if isinstance(error, EOFError):
                raise SinkError("the process that writes to the index did not start") from error
            raise
        return self._pipe

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.wait()
        self._pipe = self._process = None


def _outcome(pipe: Connection) -> Outcome:
    outcome = _outcomes.decode(pipe.recv_bytes())
    if outcome.error is not None:
        name, told = outcome.error
        raise RuntimeError(told) if name == UNEXPECTED else getattr(errors, name)(told)
    return outcome


# In the process itself


def main() -> None:
    """Write what is sent, until nothing more can be."""
    # Who stops the service may send a signal to all its processes: what was sent is stored first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    pipe = Connection(int(sys.argv[2]))
    try:
        index = _opened(sys.argv[1])
    except NearlyError as error:
        pipe.send_bytes(msgspec.msgpack.encode(_told(error)))
        return
    with index:
        outcome = Outcome()
        while True:
            try:
                pipe.send_bytes(msgspec.msgpack.encode(outcome))
                order = _orders.decode(pipe.recv_bytes())
            except (EOFError, OSError):
                return
            outcome = _done(index, order)


def _opened(path: str) -> Index:
    """The index; one that wrote for a service that was killed may have to end first."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Index.open(path)
        except SinkError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _done(index: Index, order: Order) -> Outcome:
    try:
        answers = stored(index, [Change(order.kind, *change) for change in order.changes])
    except Exception as error:
        return _told(error)
    return Outcome(
        stored=[each for each in answers if isinstance(each, Stored)],
        removed=[each for each in answers if isinstance(each, Removed)],
    )


def _told(error: Exception) -> Outcome:
    if isinstance(error, NearlyError):
        return Outcome(error=(type(error).__name__, str(error)))
    logging.getLogger("nearly.service").exception("a commit failed", exc_info=error)
    return Outcome(error=(UNEXPECTED, repr(error)))


if __name__ == "__main__":
    main()
