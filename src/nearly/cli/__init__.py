"""The command line: parse → settings → one library call → render.

Starting has to be quick, so nothing but click and the settings is imported at the top of
these files; the body of a command imports what it needs.
"""

import atexit
import gc
import os
import sys
from typing import Final, NoReturn

from nearly.cli import interrupt, stream
from nearly.limits import lean_arrow_from_start, own_threads_only, spare_address_space

__all__ = ["main"]

#: Objects between two searches for garbage: more than importing makes, which it would slow down.
_OBJECTS: Final = 200_000


def main() -> NoReturn:
    """The entry point of the installed command."""
    gc.set_threshold(_OBJECTS)
    try:
        stream.reopen_closed()
        interrupt.on_signals()
        lean_arrow_from_start()
        own_threads_only()
        spare_address_space()
        from nearly.cli.program import run
    except BaseException:
        # What fails after a stop was asked for, fails because of it.
        interrupt.end_if_requested()
        raise
    # A name of a file may hold bytes that are no text in any encoding.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code = run(sys.argv[1:])
    interrupt.never()
    interrupt.end_if_requested()
    _end(code)


def _end(code: int) -> NoReturn:
    """End without taking the interpreter apart, which took 0.08 s after importing everything.

    What was registered for the end is done first, and what was written is flushed.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)
