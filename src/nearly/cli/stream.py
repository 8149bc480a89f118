"""The three standard streams, where whoever started the command closed some of them."""

import os
import sys
from typing import Final

__all__ = ["reopen_closed", "write_no_more"]

#: The first two the wrong way round: what is read or written there fails, as it should. But who
#: closes stderr wants no messages.
_CLOSED: Final = (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))


def reopen_closed() -> None:
    """Take the numbers of closed streams, or the next files to be opened would get them."""
    for number, (name, flags) in enumerate(_CLOSED):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def write_no_more() -> None:
    """At exit Python would flush standard output once more, and fail once more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # it may be no file, as in a test
        return
