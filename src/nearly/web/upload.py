"""Files that a browser sends, put into a folder of their own: limited, and by harmless names.

A name of a client is a label, never a path: each of its parts is looked at, and nothing is written
but new regular files below the folder. Of a zip, what is really there counts, not what it says.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from nearly.errors import SettingsError

__all__ = ["Limits", "Received", "receive"]

#: Bytes that are copied at once.
CHUNK: Final = 2**20
#: Names that Windows keeps for devices; a folder may be carried there.
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that is taken; what is more is refused as a whole."""

    bytes: int = 1_000 * 10**6  # of all files, unpacked
    files: int = 20_000
    ratio: int = 200  # of a packed file's size to what it takes in the zip
    depth: int = 12  # folders in folders
    name: int = 200  # characters


@dataclass
class Received:
    """What was put down, and what was left out with the reason."""

    files: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    bytes: int = 0


def receive(
    given: Iterable[tuple[str, BinaryIO]], folder: Path, limits: Limits | None = None
) -> Received:
    """Put files into a folder, those of a zip too; an error leaves what was put to its caller."""
    receiving = _Receiving(folder, limits or Limits())
    folder.mkdir(exist_ok=True)
    for name, file in given:
        if name.lower().endswith(".zip"):
            receiving.unpack(name, file)
        else:
            receiving.put(name, _chunks(file))
    if not receiving.received.files:
        why = "; ".join(f"{name}: {reason}" for name, reason in receiving.received.left_out[:3])
        raise SettingsError(f"no file came that can be read{': ' + why if why else ''}")
    return receiving.received


def parts_of(name: str, limits: Limits) -> list[str]:
    """The folders and the file that a name stands for; an error where it stands for none."""
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]
    if not parts or name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        raise SettingsError(f"the name {name[:100]!r} is no name inside of a folder; rename it")
    if len(parts) > limits.depth:
        raise SettingsError(
            f"{name[:100]!r} lies {len(parts)} folders deep, and the most is {limits.depth}"
        )
    for part in parts:
        if part == ".." or _DEVICES.fullmatch(part) or _UNSEEN.search(part):
            raise SettingsError(f"the name {name[:100]!r} is not safe to write; rename it")
        if len(part) > limits.name or len(os.fsencode(part)) > 255:
            raise SettingsError(
                f"the name {part[:50]!r} has {len(part)} characters, and the most is {limits.name}"
            )
    return parts


@dataclass
class _Receiving:
    folder: Path
    limits: Limits
    received: Received = field(default_factory=Received)

    def put(self, name: str, chunks: Iterable[bytes]) -> int:
        """A new file of these bytes; gives how many there were."""
        path = self._path(name)
        if len(self.received.files) >= self.limits.files:
            raise SettingsError(f"more than {self.limits.files:,} files came; send fewer")
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        size = 0
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            raise SettingsError(f"two files are called {name[:100]!r}; rename one") from None
        with open(descriptor, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                self._count(len(chunk))
                file.write(chunk)
        self.received.files.append(str(path.relative_to(self.folder)))
        return size

    def _path(self, name: str) -> Path:
        path = self.folder
        *folders, last = parts_of(name, self.limits)
        for part in folders:
            path /= part
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                raise SettingsError(f"{name[:100]!r} is inside of what is no folder; rename it")
        return path / last

    def _count(self, size: int) -> None:
        self.received.bytes += size
        if self.received.bytes > self.limits.bytes:
            raise SettingsError(
                f"the files have more than {self.limits.bytes:,} bytes; send less, or start nearly "
                "serve in their folder and give the path"
            )

    def unpack(self, name: str, file: BinaryIO) -> None:
        """The files of a zip, into a folder of its own unless it is all that came."""
        try:
            with zipfile.ZipFile(file) as packed:
                for member in packed.infolist():
                    self._unpack_one(packed, member)
        except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, OSError, ValueError) as error:
            raise SettingsError(f"{name[:100]!r} is no zip that can be read: {error}") from error
        except (NotImplementedError, RuntimeError, zlib.error) as error:
            raise SettingsError(
                f"{name[:100]!r} is packed in a way that is not read here: {error}"
            ) from error

    def _unpack_one(self, packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        reason = _why_not(member)
        if member.is_dir():
            return
        if reason is not None:
            self.received.left_out.append((member.filename[:200], reason))
            return
        with packed.open(member) as file:
            self.put(member.filename, self._measured(member, file))

    def _measured(self, member: zipfile.ZipInfo, file: object) -> Iterator[bytes]:
        """What is said of sizes may be a lie: what comes out is counted."""
        most = max(member.compress_size, 1) * self.limits.ratio + CHUNK
        size = 0
        for chunk in _chunks(file):
            size += len(chunk)
            if size > most:
                raise SettingsError(
                    f"{member.filename[:100]!r} grows to more than {self.limits.ratio} times its "
                    "packed size; unpack the zip yourself, and send the files"
                )
            yield chunk


def _why_not(member: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "a device, or something else that is no file"
    if member.flag_bits & 1:
        return "encrypted"
    if member.filename.lower().endswith((".zip", ".7z", ".rar", ".tar", ".tgz")):
        return "an archive in an archive"
    name = member.filename.replace("\\", "/")
    if name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("."):
        return "hidden"
    return None


def _chunks(file: object) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):  # type: ignore[attr-defined]
        yield chunk
