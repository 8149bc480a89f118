"""Ctrl-C and its like: a command that is stopped cleans up and leaves nothing half-written.

Python raises an exception wherever a signal happens to meet it, and some code drops what is
raised in it: finalisers, or extension modules that are being imported. So a stop is also
remembered, for whoever asks at a safe place.

And the main thread may be busy where Python cannot reach it: in a kernel, a query, or waiting
for a worker. So a second thread is told of the signal by the operating system itself. If the
command has not ended a moment later, that thread removes what has to be removed and ends the
process. What is needed for that: whatever runs long lets go of Python's lock.
"""

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Final, NoReturn

from nearly import remnant

__all__ = ["Stopped", "allow", "check", "end_if_requested", "never", "on_signals", "requested"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        #: As shells report it: 130 for Ctrl-C.
        self.exit_code = 128 + number


_requested: Stopped | None = None
#: Seconds that a command has to end by itself.
_patience = 0.6


def requested() -> Stopped | None:
    """The stop that was asked for, if any."""
    return _requested


def check() -> None:
    """Raise the stop that was asked for, should it have been dropped."""
    if _requested is not None:
        raise _requested


def allow(seconds: float) -> None:
    """What has to be ended first, such as Java, takes longer."""
    global _patience
    _patience = seconds


def on_signals() -> None:
    """From now on, the first signal raises `Stopped`."""
    sys.unraisablehook = _report_others
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    for number in SIGNALS:
        # What the parent process ignores, as nohup does, stays ignored.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)


def never() -> None:
    """From now on there is nothing to stop: what is left to do is cleaning up."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_if_requested() -> None:
    """End without the interpreter's own cleaning up: it would wait for workers."""
    if _requested is not None:
        remnant.abandon()
        sys.stderr.flush()
        os._exit(_requested.exit_code)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    global _requested
    # Only once: an impatient second Ctrl-C must not stop the cleaning up.
    never()
    _requested = Stopped(number)
    raise _requested


def _watch(pipe: int) -> None:
    """End the process some time after a signal, if it has not ended by then."""
    number = os.read(pipe, 1)[0]
    time.sleep(_patience)
    remnant.abandon()
    os.write(2, b"nearly: stopped\n")
    os._exit(128 + number)


def _report_others(dropped: "sys.UnraisableHookArgs") -> None:
    """No bug to report: what a stop broke, and a temporary file that could not be closed."""
    if _requested is None and not isinstance(dropped.exc_value, OSError):
        sys.__unraisablehook__(dropped)
