"""One output on its way: a temporary file beside its target, published or taken back."""

import errno
import io
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from nearly.errors import SinkError
from nearly.sinks.mark import Undo, identity_of, put_back, sync
from nearly.sinks.place import blaming, target_of

__all__ = ["Staged"]


class Staged:
    """One output on its way: a temporary file, its target, and the old file until all is well."""

    def __init__(self, path: Path, stem: str) -> None:
        self.path = path
        self.target = target_of(path)
        # Not derived from the target's name, which may be as long as a name can be.
        self._temporary = self.target.with_name(f"{stem}.part")
        self._old = self.target.with_name(f"{stem}.old")
        self._identity: list[int] | None = None

    def create(self) -> io.BufferedWriter:
        """The temporary file, open."""
        with blaming(self.path):
            # A private file that is overwritten stays private.
            mode = stat.S_IMODE(self.target.stat().st_mode) if self.target.exists() else 0o666
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            raw = _StagedFile(os.open(self._temporary, flags, mode), self.path)
        return io.BufferedWriter(raw, buffer_size=2**20)

    def complete(self, file: io.BufferedWriter) -> None:
        """Close the temporary file, with every byte on the disk."""
        with blaming(self.path):
            file.close()
            sync(self._temporary)
            self._identity = identity_of(self._temporary)

    @property
    def undo(self) -> Undo:
        """How to undo `publish`."""
        return Undo(target=str(self.target), old=str(self._old), new=self._identity)

    def publish(self, *, force: bool) -> None:
        """Let the target appear; the old file is kept until `discard_old`."""
        with blaming(self.path):
            if not force:
                _move_without_overwriting(self._temporary, self.target)
            else:
                if self.target.exists():
                    _keep(self.target, self._old)
                os.replace(self._temporary, self.target)
        with suppress(OSError):  # not every file system can do this for a folder
            sync(self.target.parent)

    def withdraw(self) -> bool:
        """Put back what was there, whichever step was the last; False where the disk refuses."""
        try:
            put_back(self.undo)
        except OSError:
            return False
        return True

    def discard(self) -> None:
        """Remove what was not published."""
        with suppress(OSError):
            self._temporary.unlink()

    def discard_old(self) -> None:
        """Remove what was there before."""
        with suppress(OSError):
            self._old.unlink()

    @property
    def leaves_waste(self) -> bool:
        """Whether the disk refused to remove something: the next run tries again."""
        return os.path.lexists(self._temporary) or os.path.lexists(self._old)


class _StagedFile(io.FileIO):
    """A file whose failures name the output that it was to become.

    Only what fails here is the output's fault: rows are often read while they are written,
    and an error of the source has to stay one.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "w")
        self._path = path

    def write(self, data: Any, /) -> int:
        with blaming(self._path):
            return super().write(data)


def _move_without_overwriting(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno == errno.EEXIST or target.exists():
            raise SinkError(
                f"{str(target)!r} appeared while it was being made; "
                "give another name, or --force to overwrite"
            ) from error
        os.replace(source, target)  # a file system without hard links
    else:
        source.unlink()


def _keep(target: Path, old: Path) -> None:
    try:
        os.link(target, old)
    except OSError:
        os.replace(target, old)  # a file system without hard links
