"""A table of comparisons that grows line by line, as the thesis's result.txt did."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nearly.errors import SinkError

if TYPE_CHECKING:
    from nearly.results import Comparison

__all__ = ["COLUMNS", "append_comparison"]

COLUMNS: Final = (
    "name_a",
    "name_b",
    "unit",
    "k",
    "jaccard",
    "jaccard_without_stop_words",
    "containment_of_a",
    "containment_of_b",
    "estimate",
    "permutations",
    "shingles_a",
    "shingles_b",
    "shared",
)
_HEADER: Final = "\t".join(COLUMNS).encode() + b"\n"
_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def append_comparison(comparison: Comparison, path: Path) -> None:
    """Add one line, with a header where the file is new; several processes may do so at once."""
    fields = (_field(getattr(comparison, name)) for name in COLUMNS)
    line = "\t".join(fields).encode(errors="surrogateescape") + b"\n"
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _append(descriptor, line, path)
        finally:
            with suppress(OSError):  # what was written is on the disk already
                os.close(descriptor)
    except OSError as error:
        raise SinkError(
            f"{str(path)!r} cannot be added to: {error.strerror}; give another file"
        ) from error


def _append(descriptor: int, line: bytes, path: Path) -> None:
    size = os.fstat(descriptor).st_size
    if size == 0:
        line = _HEADER + line
    elif os.pread(descriptor, len(_HEADER), 0) != _HEADER:
        raise SinkError(
            f"{str(path)!r} is not a table of comparisons: its first line is another one; "
            "give another file"
        )
    elif os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    # One write, so that a line is never cut in two by another process.
    if os.write(descriptor, line) < len(line):
        os.ftruncate(descriptor, size)
        raise SinkError(f"{str(path)!r} cannot be added to: the disk is full; free some space")
    try:
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _field(value: object) -> str:
    """Numbers read back exactly; what would break a line, or a column, is escaped."""
    return re.sub(r"[\\\t\n\r]", lambda found: _ESCAPES[found[0]], str(value))
