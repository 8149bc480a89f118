"""Ctrl-C and its like: a command that is stopped cleans up and leaves nothing half-written."""

import signal
import sys
from types import FrameType
from typing import Final, NoReturn

__all__ = ["Stopped", "never", "on_signals"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds until a stop is raised again that got lost.
SOON: Final = 0.01


class Stopped(KeyboardInterrupt):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def on_signals() -> None:
    """From now on, the first signal raises `Stopped`."""
    for number in SIGNALS:
        # What the parent process ignores, as nohup does, stays ignored.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)
    sys.unraisablehook = _insist


def never() -> None:
    """From now on there is nothing to stop: what is left to do is cleaning up."""
    for number in (*SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    # Only once: an impatient second Ctrl-C must not stop the cleaning up.
    never()
    raise Stopped(number)


def _insist(dropped: "sys.UnraisableHookArgs") -> None:
    """A stop that came while Python ran a finaliser was dropped there: once more, a bit later."""
    if not isinstance(dropped.exc_value, Stopped):
        sys.__unraisablehook__(dropped)
        return
    number = dropped.exc_value.number
    signal.signal(signal.SIGALRM, lambda _, frame: _stop(number, frame))
    signal.setitimer(signal.ITIMER_REAL, SOON)
