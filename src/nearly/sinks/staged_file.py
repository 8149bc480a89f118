"""One output on its way: a temporary file beside its target, published or taken back."""

import errno
import io
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from nearly.errors import SinkError
from nearly.sinks.place import blaming, target_of

__all__ = ["Staged"]


class Staged:
    """One output on its way: a temporary file, its target, and the old file until all is well."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.target = target_of(path)
        # Not derived from the target's name, which may be as long as a name can be.
        stem = f".nearly-{secrets.token_hex(8)}"
        self._temporary = self.target.with_name(f"{stem}.part")
        self._old = self.target.with_name(f"{stem}.old")
        self._identity: tuple[int, int] | None = None

    def create(self) -> io.BufferedWriter:
        """The temporary file, open."""
        with blaming(self.path):
            # A private file that is overwritten stays private.
            mode = stat.S_IMODE(self.target.stat().st_mode) if self.target.exists() else 0o666
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            raw = _StagedFile(os.open(self._temporary, flags, mode), self.path)
        self._identity = _identity(self._temporary)
        return io.BufferedWriter(raw, buffer_size=2**20)

    def complete(self, file: io.BufferedWriter) -> None:
        """Close the temporary file, with every byte on the disk."""
        with blaming(self.path):
            file.close()
            _sync(self._temporary)

    def publish(self, *, force: bool) -> None:
        """Let the target appear; the old file is kept until `discard`."""
        with blaming(self.path):
            if not force:
                _move_without_overwriting(self._temporary, self.target)
            else:
                if self.target.exists():
                    _keep(self.target, self._old)
                os.replace(self._temporary, self.target)
        with suppress(OSError):  # not every file system can do this for a folder
            _sync(self.target.parent)

    def withdraw(self) -> None:
        """Put back what was there; right at whichever step `publish` was stopped."""
        with suppress(OSError):
            if self._old.exists():
                os.replace(self._old, self.target)
            elif _identity(self.target) == self._identity:
                self.target.unlink()

    def discard(self) -> None:
        """Leave nothing but the target, whether it was published or withdrawn."""
        with suppress(OSError):
            self._temporary.unlink()
        with suppress(OSError):
            if self.target.exists():  # or else the old file is all there is
                self._old.unlink()


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


def _identity(path: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


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


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
