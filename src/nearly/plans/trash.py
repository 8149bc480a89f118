"""Moving files to a trash folder, at the same relative paths, with no byte lost on the way.

A move is a link or a copy under the final name, and then the removal of the file. A copy is made
beside its final name and renamed when it is on the disk, so whatever has that name is whole. A
move that was stopped between the two steps is finished by the next one.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from nearly.errors import SinkError
from nearly.plans.file import File, RefusedError, descend, lock_folder, open_file, open_folder
from nearly.plans.plan import Plan, Removal

__all__ = ["move", "open_trash"]

#: The name of a copy that is being made; it is in the way of no file that a plan can name twice.
_COPY: Final = ".nearly-copy.part"


@contextmanager
def open_trash(trash: Path, plan: Plan) -> Iterator[int]:
    """The trash folder, made if it is missing and locked; half copies of a killed run go."""
    try:
        trash.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SinkError(
            f"the trash folder {str(trash)!r} cannot be made: {error.strerror}; give another one"
        ) from error
    with open_folder(str(trash)) as descriptor:
        if not os.path.samefile(trash, plan.folder):
            lock_folder(descriptor, str(trash))
        for parent in {removal.path.rpartition("/")[0] for removal in plan.removals}:
            with suppress(OSError), ExitStack() as stack:
                folder = descend(stack, descriptor, parent.split("/") if parent else [])
                os.unlink(_COPY, dir_fd=folder)
        yield descriptor


def move(file: File, removal: Removal, trash: int) -> None:
    """Move below the trash, to the same relative path; another file that is there stays."""
    *parents, name = removal.path.split("/")
    with ExitStack() as stack:
        folder = descend(stack, trash, parents, create=True)
        if name == _COPY or os.path.samestat(os.fstat(folder), os.fstat(file.folder)):
            raise RefusedError("the trash would be the folder that it is in; give another one")
        is_new = True
        try:
            _link_or_copy(file, removal, folder, name)
        except FileExistsError:
            _check_same(file, removal, trash)
            is_new = False
        with suppress(OSError):  # not every file system can do this for a folder
            os.fsync(folder)
        try:
            os.unlink(file.name, dir_fd=file.folder)
        except OSError:
            # Only for an error that says the file is still there. After Ctrl-C it may be
            # gone, and what is in the trash the last copy: two are better than none.
            if is_new:
                os.unlink(name, dir_fd=folder)
            raise


def _check_same(file: File, removal: Removal, trash: int) -> None:
    """Refuse what has the name in the trash, unless a stopped move of this file put it there."""
    with suppress(OSError, RefusedError), open_file(trash, removal.path, "the trash") as there:
        # One number on two devices may be one file that is mounted twice.
        is_linked = there.identity == file.identity
        is_copied = there.identity[1] != file.identity[1]
        if (is_linked or is_copied) and there.digest() == removal.sha256:
            return
    raise RefusedError("the trash already has a file of that name; give another one")


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
    descriptor = os.open(_COPY, flags, 0o600, dir_fd=folder)
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
        _rename_to_free(name, folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(_COPY, dir_fd=folder)
        raise


def _rename_to_free(name: str, folder: int) -> None:
    """Give the copy its name, unless there is a file of that name."""
    try:
        os.link(_COPY, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links; the trash is ours alone
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError from None
        os.rename(_COPY, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(_COPY, dir_fd=folder)
