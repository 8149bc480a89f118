"""Files that must not change between two readings: an answer from both would be wrong."""

import os
import time
import zlib
from collections.abc import Iterable, Mapping

from nearly.errors import SourceError
from nearly.frozen import dataclass

__all__ = ["FileState", "check_unchanged", "states_of"]

#: Seconds in which a file can change twice without another time, on the coarsest file systems.
FRESH = 2.0


@dataclass(frozen=True)
class FileState:
    """What is other when a file was written to or replaced."""

    size: int
    modified: int
    #: These mean something on one machine only.
    inode: int
    changed: int
    #: Of a file that is so new that another change might leave no other trace.
    checksum: int | None = None

    @property
    def shared(self) -> tuple[int, int]:
        """What is the same on every machine."""
        return self.size, self.modified


def states_of(paths: Iterable[str]) -> dict[str, FileState | None]:
    """The states of files; None for one that is not there."""
    return {path: _state_of(path) for path in paths}


def check_unchanged(
    known: Mapping[str, FileState | None], names: Mapping[str, str], *, elsewhere: bool = False
) -> None:
    """Refuse to go on where a file is no longer the one that was read.

    Of a file that is seen from elsewhere, only its size and its time are the same; where it is
    not seen at all, reading it says so.
    """
    for path, before in known.items():
        if before is None:
            continue
        now = _state_of(path, with_checksum=before.checksum is not None and not elsewhere)
        if now == before or (elsewhere and (now is None or now.shared == before.shared)):
            continue
        happened = "is gone" if now is None else "changed"
        raise SourceError(
            f"{names.get(path, path)} {happened} while it was being read; nothing was written. "
            "Run again when nobody writes to it, or give a copy of it."
        )


def _state_of(path: str, *, with_checksum: bool | None = None) -> FileState | None:
    try:
        status = os.stat(path)
        if with_checksum is None:
            with_checksum = time.time() - max(status.st_mtime, status.st_ctime) < FRESH
        checksum = _checksum_of(path) if with_checksum else None
    except OSError:
        return None
    return FileState(
        size=status.st_size,
        modified=status.st_mtime_ns,
        inode=status.st_ino,
        changed=status.st_ctime_ns,
        checksum=checksum,
    )


def _checksum_of(path: str) -> int:
    checksum = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            checksum = zlib.crc32(piece, checksum)
    return checksum
