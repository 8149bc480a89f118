"""The command line: parse → settings → one library call → render.

Starting has to be quick, so nothing but click and the settings is imported at the top of
these files; the body of a command imports what it needs.
"""

import sys
from typing import NoReturn

from nearly.cli import interrupt, stream
from nearly.limits import spare_address_space

__all__ = ["main"]


def main() -> NoReturn:
    """The entry point of the installed command."""
    try:
        stream.reopen_closed()
        interrupt.on_signals()
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
    sys.exit(code)
