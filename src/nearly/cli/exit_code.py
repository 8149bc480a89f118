"""How a command ends: exit codes, and which error leads to which."""

from typing import Final

from nearly.errors import NearlyError, NoMemoryError, UnreadableError

__all__ = ["BROKEN_PIPE", "BUG", "CLEAN", "FOUND", "INCOMPLETE", "NO_MEMORY", "USAGE", "code_of"]

CLEAN: Final = 0
#: With --fail-on-found: pairs were found.
FOUND: Final = 1
#: What was asked for is impossible.
USAGE: Final = 2
#: Some input could not be read, or some file of a plan was refused; wins over FOUND.
INCOMPLETE: Final = 3
#: What nobody expected: a bug, or a disk that fails.
BUG: Final = 70
#: The memory that this process may use was not enough (EX_OSERR of sysexits.h).
NO_MEMORY: Final = 71
#: As shells report a program whose reader went away.
BROKEN_PIPE: Final = 128 + 13


def code_of(error: NearlyError) -> int:
    """The exit code of an error that ends a command."""
    match error:
        case UnreadableError():
            return INCOMPLETE
        case NoMemoryError():
            return NO_MEMORY
    return USAGE
