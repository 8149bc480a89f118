"""Where the files of an index lie: a narrow seam, on disk or in memory.

The rules: a file is created once under a name that was never used, written, synced and closed; from
then on it is only mapped or removed. A name is there for good once the directory was synced. What
is mapped stays readable when the file is removed.
"""

import io
import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from nearly import remnant
from nearly.errors import SinkError

__all__ = ["Directory", "DiskDirectory", "MemoryDirectory", "NewFile", "advise", "sync_folder"]


class NewFile(Protocol):
    """A file that is being written."""

    def write(self, data: bytes | memoryview, /) -> object: ...

    def flush(self) -> object:
        """All that was written can be mapped."""

    def sync(self) -> None:
        """And it is on the disk."""

    def close(self) -> None: ...


class Directory(Protocol):
    """See above."""

    #: Where the catalogue is, as SQLite takes it.
    catalogue: str

    def create(self, name: str) -> NewFile:
        """A new file; FileExistsError if the name is taken."""

    def map(self, name: str) -> memoryview:
        """The bytes of a file; FileNotFoundError if there is none."""

    def remove(self, name: str) -> None:
        """The file is gone; that it is not there is no error."""

    def names(self) -> list[str]:
        """Of all files, in order; the catalogue and the lock are not among them."""

    def sync(self) -> None:
        """Names that were created are there for good."""

    def lock(self) -> bool:
        """Become the only writer; False where there is one already."""

    def close(self) -> None:
        """Give up the lock."""


class _DiskFile:
    def __init__(self, path: Path) -> None:
        self._file = open(path, "xb")  # noqa: SIM115 - closed by `close`

    def write(self, data: bytes | memoryview, /) -> None:
        self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


class DiskDirectory:
    """A folder. Its lock is the kernel's: it goes with the process, however that ends."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.catalogue = str(self.path / "catalogue.sqlite")
        self._segments = self.path / "segments"
        self._lock: int | None = None

    def make(self) -> None:
        """The folders, where there are none yet."""
        self._segments.mkdir(parents=True, exist_ok=True)
        sync_folder(self.path)

    def create(self, name: str) -> NewFile:
        """See `Directory`."""
        return _DiskFile(self._segments / name)

    def map(self, name: str) -> memoryview:
        """See `Directory`."""
        with open(self._segments / name, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return memoryview(b"")
            mapped = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        advise(mapped, is_random=True)
        return mapped

    def remove(self, name: str) -> None:
        """See `Directory`."""
        with suppress(FileNotFoundError):
            os.unlink(self._segments / name)

    def rename(self, name: str, to: str) -> None:
        """The file has another name, under which there was none before."""
        os.rename(self._segments / name, self._segments / to)

    def names(self) -> list[str]:
        """See `Directory`."""
        return sorted(os.listdir(self._segments))

    def sync(self) -> None:
        """See `Directory`."""
        sync_folder(self._segments)

    def lock(self) -> bool:
        """See `Directory`."""
        if self._lock is None:
            try:
                descriptor = os.open(
                    self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666
                )
            except OSError as error:
                raise SinkError(
                    f"{self.path} cannot be written to: {error.strerror}. Open it for reading "
                    "only, or give it rights to write"
                ) from error
            if not remnant.try_lock(descriptor):
                remnant.close(descriptor)
                return False
            self._lock = descriptor
        return True

    def close(self) -> None:
        """See `Directory`."""
        if self._lock is not None:
            remnant.close(self._lock)
            self._lock = None


class _MemoryFile(io.BytesIO):
    def __init__(self, files: dict[str, bytes], name: str) -> None:
        super().__init__()
        self._files, self._name = files, name

    def flush(self) -> None:
        self._files[self._name] = self.getvalue()

    def sync(self) -> None:
        self.flush()


def advise(mapped: memoryview, *, is_random: bool) -> None:
    """Say how a file will be read. A question needs single pages of it from all over.

    What would be read ahead with each of them takes the room of pages that are needed again, where
    an index is larger than memory.
    """
    if isinstance(mapped.obj, mmap.mmap) and hasattr(mmap, "MADV_RANDOM"):
        mapped.obj.madvise(mmap.MADV_RANDOM if is_random else mmap.MADV_SEQUENTIAL)


class MemoryDirectory:
    """The same for one process, and as long as it lives."""

    def __init__(self) -> None:
        self.catalogue = ":memory:"
        self._files: dict[str, bytes] = {}

    def create(self, name: str) -> NewFile:
        """See `Directory`."""
        if name in self._files:
            raise FileExistsError(name)
        self._files[name] = b""
        return _MemoryFile(self._files, name)

    def map(self, name: str) -> memoryview:
        """See `Directory`."""
        if name not in self._files:
            raise FileNotFoundError(name)
        return memoryview(self._files[name])

    def remove(self, name: str) -> None:
        """See `Directory`."""
        self._files.pop(name, None)

    def names(self) -> list[str]:
        """See `Directory`."""
        return sorted(self._files)

    def sync(self) -> None:
        """See `Directory`."""

    def lock(self) -> bool:
        """See `Directory`."""
        return True

    def close(self) -> None:
        """See `Directory`."""


def sync_folder(path: Path) -> None:
    """The names in it are there for good."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        remnant.close(descriptor)
