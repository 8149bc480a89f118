"""The files below a folder, reached through no symbolic link and read without a change."""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from nearly.errors import EngineError, MissingError, UnreadableError
from nearly.remnant import close

__all__ = [
    "File",
    "RefusedError",
    "descend",
    "digest_of",
    "lock_folder",
    "open_file",
    "open_folder",
]

CHUNK = 2**20


class RefusedError(Exception):
    """Why a file is left alone."""


@dataclass(frozen=True)
class File:
    """A file that was opened through no symbolic link, and the folder it was found in."""

    folder: int
    name: str
    descriptor: int

    @property
    def identity(self) -> tuple[int, int]:
        found = os.fstat(self.descriptor)
        return found.st_dev, found.st_ino

    @property
    def state(self) -> tuple[int, ...]:
        """Differs when it is another file, or was written to."""
        found = os.fstat(self.descriptor)
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def lock(self, who: str, *, shared: bool = False) -> None:
        """Until it is closed, no other plan removes it; nor, unless shared, relies on it."""
        try:
            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusedError(f"{who} is locked by another program") from None
        except OSError:
            return  # a file system without locks

    def chunks(self) -> Iterator[bytes]:
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        while chunk := os.read(self.descriptor, CHUNK):
            yield chunk

    def digest(self) -> str:
        digest = hashlib.sha256()
        for chunk in self.chunks():
            digest.update(chunk)
        return digest.hexdigest()


@contextmanager
def open_folder(folder: str) -> Iterator[int]:
    """The descriptor that paths are walked from; the folder itself may be a symbolic link."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError(
            f"there is no folder {folder!r}; if it was moved or renamed, "
            "make the plan again with nearly dedup"
        ) from None
    except OSError as error:
        raise UnreadableError(f"the folder {folder!r} cannot be read: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        close(descriptor)


def lock_folder(descriptor: int, folder: str) -> None:
    """Until the descriptor is closed, no other plan is carried out in this folder."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise EngineError(
            f"another nearly apply is at work in {folder!r}; run this one when it has finished"
        ) from None
    except OSError:
        return  # a file system without locks


@contextmanager
def open_file(root: int, path: str, who: str) -> Iterator[File]:
    """Open a regular file below the folder, following no symbolic link on the way."""
    *parents, name = path.split("/")
    with ExitStack() as stack:
        try:
            folder = descend(stack, root, parents)
            # Looked at first, because opening a device may already do something.
            if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise RefusedError(f"{who} is not a regular file")
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=folder)
        except FileNotFoundError:
            raise RefusedError(f"{who} is missing") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise RefusedError(f"{who} is behind a symbolic link or no folder") from error
            raise RefusedError(f"{who} cannot be opened: {error.strerror}") from error
        stack.callback(close, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RefusedError(f"{who} is not a regular file")
        yield File(folder, name, descriptor)


def descend(stack: ExitStack, start: int, parts: list[str], *, create: bool = False) -> int:
    """Open folder after folder; a symbolic link among them is an error."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = start
    for part in parts:
        if create:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
        folder = os.open(part, flags, dir_fd=folder)
        stack.callback(close, folder)
    return folder


def digest_of(file: File, who: str) -> str:
    """The SHA-256 of a file that nobody writes to meanwhile."""
    before = file.state
    try:
        digest = file.digest()
    except OSError as error:
        raise RefusedError(f"{who} cannot be read: {error.strerror}") from error
    if file.state != before:
        raise RefusedError(f"{who} is being written to")
    return digest
