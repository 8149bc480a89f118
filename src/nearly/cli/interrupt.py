"""Ctrl-C and its like: a command that is stopped cleans up and leaves nothing half-written.

Python raises an exception wherever a signal happens to meet it, and some code drops what is
raised in it: finalisers, or extension modules that are being imported. So a stop is also
remembered, for whoever asks at a safe place.
"""

import signal
import sys
from types import FrameType
from typing import Final, NoReturn

__all__ = ["Stopped", "check", "never", "on_signals", "requested"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        #: As shells report it: 130 for Ctrl-C.
        self.exit_code = 128 + number


_requested: Stopped | None = None


def requested() -> Stopped | None:
    """The stop that was asked for, if any."""
    return _requested


def check() -> None:
    """Raise the stop that was asked for, should it have been dropped."""
    if _requested is not None:
        raise _requested


def on_signals() -> None:
    """From now on, the first signal raises `Stopped`."""
    for number in SIGNALS:
        # What the parent process ignores, as nohup does, stays ignored.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)
    sys.unraisablehook = _report_others


def never() -> None:
    """From now on there is nothing to stop: what is left to do is cleaning up."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    global _requested
    # Only once: an impatient second Ctrl-C must not stop the cleaning up.
    never()
    _requested = Stopped(number)
    raise _requested


def _report_others(dropped: "sys.UnraisableHookArgs") -> None:
    """A stop that was dropped is no bug to report."""
    if not isinstance(dropped.exc_value, Stopped):
        sys.__unraisablehook__(dropped)
