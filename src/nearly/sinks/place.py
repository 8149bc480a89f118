"""Where an output is to go: what speaks against the place, and what a failure there means."""

import errno
import glob as wildcards
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nearly.errors import SinkError
from nearly.sinks.mark import sweep

__all__ = ["blaming", "check_different", "check_place", "target_of"]

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space, or write to another disk",
    errno.EDQUOT: "your quota is used up; free some space, or write to another disk",
    errno.EFBIG: "the file is larger than allowed here; raise the limit, or write elsewhere",
    errno.EACCES: "permission denied; write to a folder that is yours",
    errno.EPERM: "permission denied; write to a folder that is yours",
    errno.EROFS: "the file system is read-only; write to another folder",
    errno.ENAMETOOLONG: "the name is too long; give a shorter one",
}


def check_place(path: Path, *, force: bool) -> None:
    """Refuse a place where no file can be written, whatever its format."""
    given = os.fspath(path)
    with blaming(path):
        folder = target_of(path).parent
        if not folder.is_dir():
            raise SinkError(
                f"{given!r} cannot be written: there is no folder {str(folder)!r}; "
                "make it first, or give another name"
            )
        sweep(folder)
        if path.is_dir():
            raise SinkError(f"{given!r} is a folder; give the name of a file")
        if path.exists():
            if not path.is_file():
                raise SinkError(f"{given!r} is not a regular file; give another name")
            if not force:
                raise SinkError(f"{given!r} exists; give another name, or --force to overwrite")
        tempfile.TemporaryFile(dir=folder).close()


def check_different(*places: Path | str | None) -> None:
    """Refuse two outputs of one name."""
    targets: set[Path] = set()
    for place in places:
        if place is not None and target_of(Path(place)) in targets:
            raise SinkError(f"{os.fspath(place)!r} is given for two outputs; give two names")
        if place is not None:
            targets.add(target_of(Path(place)))


def check_not_read(*places: Path | str | None, inputs: Iterable[object]) -> None:
    """Refuse an output that would replace a file that is read: no force is meant to do that."""
    given = [name for name in inputs if isinstance(name, str)]
    read = {target_of(Path(path)) for name in given for path in [name, *wildcards.glob(name)]}
    for place in places:
        if place is not None and target_of(Path(place)) in read:
            raise SinkError(f"{os.fspath(place)!r} is what is read; give another name")


def target_of(path: Path) -> Path:
    """Where the bytes go: a symbolic link stays, and what it points to is replaced."""
    return Path(os.path.realpath(path))


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Say of a failure which output it stopped, and what to do."""
    try:
        yield
    except OSError as error:
        code = error.errno or 0
        advice = _ADVICE.get(code, f"{error.strerror or error}; write to another folder")
        raise SinkError(
            f"{os.fspath(path)!r} cannot be written: {advice}. Nothing was changed."
        ) from error
