"""What a run has on disk only while it works, and how a later run knows that it was killed.

A run holds a lock on a file or folder of its own. The kernel drops the lock when the process
ends, whatever ended it: what can be locked belongs to no living run.
"""

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = [
    "abandon",
    "close",
    "forget",
    "leads_to",
    "make_scratch",
    "on_abandon",
    "remove_scratch",
    "scratch",
    "try_lock",
    "was_abandoned",
]

_SCRATCH: Final = re.compile(r"nearly-[0-9a-f]{16}\.scratch")

_on_abandon: dict[int, Callable[[], object]] = {}
_scratch: dict[Path, int] = {}


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock until the descriptor is closed; False where another process holds the lock."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def close(descriptor: int) -> None:
    """Close what was only locked or read: nothing that was written can be lost."""
    with suppress(OSError):
        os.close(descriptor)


def leads_to(path: Path, descriptor: int) -> bool:
    """Whether the path still leads to what was opened."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def was_abandoned(path: Path, descriptor: int) -> bool:
    """Whether a run of this user made it, and no living run holds it; now we hold it."""
    is_mine = os.fstat(descriptor).st_uid == os.geteuid()
    return is_mine and try_lock(descriptor) and leads_to(path, descriptor)


def on_abandon(clean: Callable[[], object]) -> int:
    """Have `clean` called if the process has to end at once; gives a number for `forget`."""
    key = id(clean)
    while key in _on_abandon:
        key += 1
    _on_abandon[key] = clean
    return key


def forget(key: int) -> None:
    """There is nothing left to clean."""
    _on_abandon.pop(key, None)


def abandon() -> None:
    """Clean up without waiting for anybody: the process ends right afterwards."""
    for clean in list(_on_abandon.values()):
        with suppress(Exception):
            clean()
    for folder in list(_scratch):
        remove_scratch(folder)


@contextmanager
def scratch(parent: str | Path | None = None) -> Iterator[Path]:
    """A temporary folder for a block."""
    folder = make_scratch(parent)
    try:
        yield folder
    finally:
        remove_scratch(folder)


def make_scratch(parent: str | Path | None = None) -> Path:
    """A temporary folder, locked; first, those that killed runs left are removed."""
    import tempfile

    place = Path(parent or tempfile.gettempdir()).absolute()
    _sweep(place)
    while True:
        folder = place / f"nearly-{os.urandom(8).hex()}.scratch"
        folder.mkdir(mode=0o700)
        try:
            descriptor = _open_folder(folder)
        except FileNotFoundError:  # another run swept it before it was locked
            continue
        try_lock(descriptor)
        if leads_to(folder, descriptor):
            _scratch[folder] = descriptor
            return folder
        close(descriptor)


def remove_scratch(folder: Path) -> None:
    """Remove the folder and all that is in it; it may be gone already."""
    with suppress(OSError):  # some slip through
        _remove_tree(folder)
    descriptor = _scratch.pop(folder, None)
    if descriptor is not None:
        close(descriptor)


def _sweep(place: Path) -> None:
    """Remove the folders of runs that were killed."""
    with suppress(OSError):
        for name in os.listdir(place):
            if _SCRATCH.fullmatch(name):
                _remove_if_abandoned(place / name)


def _remove_if_abandoned(folder: Path) -> None:
    with suppress(OSError):
        descriptor = _open_folder(folder)
        try:
            if was_abandoned(folder, descriptor):
                _remove_tree(folder)
        finally:
            close(descriptor)


def _remove_tree(folder: Path) -> None:
    import shutil  # late, like tempfile: `nearly --help` has no use for them

    shutil.rmtree(folder, ignore_errors=True)


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
