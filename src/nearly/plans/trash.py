"""Moving files to a trash folder, at the same relative paths, with no byte lost on the way."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nearly.errors import SinkError
from nearly.plans.file import File, RefusedError, descend, open_folder
from nearly.plans.plan import Removal

__all__ = ["move", "open_trash"]


@contextmanager
def open_trash(trash: Path) -> Iterator[int]:
    """The trash folder, made if it is missing."""
    try:
        trash.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SinkError(
            f"the trash folder {str(trash)!r} cannot be made: {error.strerror}; give another one"
        ) from error
    with open_folder(str(trash)) as descriptor:
        yield descriptor


def move(file: File, removal: Removal, trash: int) -> None:
    """Move below the trash, to the same relative path; what is already there stays."""
    *parents, name = removal.path.split("/")
    with ExitStack() as stack:
        folder = descend(stack, trash, parents, create=True)
        try:
            _link_or_copy(file, removal, folder, name)
        except FileExistsError:
            raise RefusedError(
                "the trash already has a file of that name; give another one"
            ) from None
        try:
            os.unlink(file.name, dir_fd=file.folder)
        except OSError:
            # Only for an error that says the file is still there. After Ctrl-C it may be
            # gone, and what is in the trash the last copy: two are better than none.
            os.unlink(name, dir_fd=folder)
            raise


def _link_or_copy(file: File, removal: Removal, folder: int, name: str) -> None:
    try:
        os.link(file.name, name, src_dir_fd=file.folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        _copy(file, removal, folder, name)  # another file system, or one without hard links
        return
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if (found.st_dev, found.st_ino) != file.identity:
        os.unlink(name, dir_fd=folder)
        raise RefusedError("the file changed while it was moved")


def _copy(file: File, removal: Removal, folder: int, name: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        digest = hashlib.sha256()
        with open(descriptor, "wb") as target:
            for chunk in file.chunks():
                digest.update(chunk)
                target.write(chunk)
            target.flush()
            found = os.fstat(file.descriptor)
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
            os.utime(descriptor, ns=(found.st_atime_ns, found.st_mtime_ns))
            os.fsync(descriptor)
        if digest.hexdigest() != removal.sha256:
            raise RefusedError("the file changed while it was moved")
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
