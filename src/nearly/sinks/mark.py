"""The mark of a run in the folders it writes to, and the undoing of a run that was killed.

Before its first output in a folder is begun, a run makes `.nearly-TOKEN.run` there and locks it;
all its other files there begin with `.nearly-TOKEN-`. The mark says how far the run has come:

    empty             nothing was published, and every file with the token is waste
    a list            publishing has begun, and a killed run is undone
    another's name    the run writes to several folders, and that mark is the one that decides
    renamed .done     all is published, and every file with the token is waste

So one rename decides that all outputs are there. A list may name a ledger: if the token is written
down there, all is published too, and if nobody can tell, nothing is done.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nearly.frozen import dataclass
from nearly.remnant import close, leads_to, try_lock, was_abandoned
from nearly.sinks.decision import Ledger, was_decided

__all__ = ["Marks", "Undo", "identity_of", "put_back", "sweep", "sync"]

_MARK: Final = re.compile(r"\.nearly-([0-9a-f]{16})\.(?:run|done)")


@dataclass(frozen=True, kw_only=True)
class Undo:
    """What undoes one output: its target, the old file if any, and how to know the new one."""

    target: str
    old: str
    new: list[int] | None


def identity_of(path: Path) -> list[int] | None:
    """Differs for another file, and for one that was written to; a folder may be written to."""
    with suppress(FileNotFoundError):
        found = os.lstat(path)
        return [found.st_ino] if path.is_dir() else [found.st_ino, found.st_size, found.st_mtime_ns]
    return None


def put_back(undo: Undo) -> None:
    """Restore what was there before an output was published, whichever step was the last."""
    target, old = Path(undo.target), Path(undo.old)
    found = identity_of(target)
    published = found is not None and found == undo.new
    if published and (target.is_dir() or not os.path.lexists(old)):
        _remove(target)
        found = None
    if not os.path.lexists(old):
        return
    if published or found is None:
        os.replace(old, target)
    else:  # the old file by its other name; or one that somebody put there since
        _remove(old)


class Marks:
    """The marks of one run, in each folder that it writes to."""

    def __init__(self) -> None:
        self.token = os.urandom(8).hex()
        self._held: dict[Path, int] = {}
        self._files = 0

    def stem(self, folder: Path) -> str:
        """How the names of one output's temporary files begin; marks the folder first."""
        if folder not in self._held:
            self._held[folder] = self._make(folder)
        self._files += 1
        return f".nearly-{self.token}-{self._files}"

    def list_undos(self, undos: list[Undo], ledger: Ledger | None) -> None:
        """From now on, a killed run is undone, unless its token is in the ledger."""
        for folder, descriptor in list(self._held.items())[1:]:
            self._write(folder, descriptor, {"decided by": str(self._path(self._home))})
        content: dict[str, Any] = {"undo": [asdict(undo) for undo in undos]}
        if ledger is not None:
            content["ledger"] = asdict(ledger)
        self._write(self._home, self._held[self._home], content)

    def decide(self) -> None:
        """All outputs are there, and stay."""
        os.rename(self._path(self._home), self._path(self._home).with_suffix(".done"))
        with suppress(OSError):  # not every file system can do this for a folder
            sync(self._home)

    def drop(self, *, remove: bool = True) -> None:
        """The run has ended; without removal, the next one has to undo it."""
        for folder, descriptor in self._held.items():
            if remove:
                for suffix in (".run", ".done"):
                    with suppress(OSError):
                        os.unlink(self._path(folder).with_suffix(suffix))
            close(descriptor)
        self._held.clear()

    @property
    def _home(self) -> Path:
        return next(iter(self._held))

    def _path(self, folder: Path) -> Path:
        return folder / f".nearly-{self.token}.run"

    def _make(self, folder: Path) -> int:
        path = self._path(folder)
        while True:
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(path, flags, 0o600)
            try_lock(descriptor)
            if leads_to(path, descriptor):
                return descriptor
            close(descriptor)  # another run swept it before it was locked

    def _write(self, folder: Path, descriptor: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
        with suppress(OSError):
            sync(folder)


def sweep(folder: Path) -> None:
    """Undo the runs that were killed in this folder, and remove what they left."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if _MARK.fullmatch(name):
                _undo_run(folder / name)


def _undo_run(mark: Path) -> None:
    """Nothing is done where the run lives, is another user's, or cannot be undone now."""
    with suppress(OSError), _taken(mark) as content:
        if "decided by" in content:
            home = Path(content["decided by"])
            if home.exists():
                _undo_run(home)
            if home.exists() or not home.parent.is_dir():
                return
        is_done = mark.suffix == ".done" or _is_decided(mark, content)
        if is_done is None:
            return
        undos = [] if is_done else [Undo(**undo) for undo in content.get("undo", ())]
        for undo in undos:
            put_back(undo)
        for name in _files_of(mark.parent, _token_of(mark)):
            _remove(mark.parent / name)
        mark.unlink()
        for folder in {Path(undo.target).parent for undo in undos} - {mark.parent}:
            _undo_run(folder / mark.name)


def _is_decided(mark: Path, content: dict[str, Any]) -> bool | None:
    """Whether the run wrote its token down; None where that cannot be found out."""
    if "ledger" not in content:
        return False
    return was_decided(Ledger(**content["ledger"]), _token_of(mark))


@contextmanager
def _taken(mark: Path) -> Iterator[dict[str, Any]]:
    """What a mark says, once it is locked; an error where it is not ours to take."""
    descriptor = os.open(mark, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not was_abandoned(mark, descriptor):
            raise BlockingIOError
        with open(descriptor, "rb", closefd=False) as file:
            yield _content(file.read(), mark)
    finally:
        close(descriptor)


def _content(data: bytes, mark: Path) -> dict[str, Any]:
    """What was not written to its end was written before anything was published."""
    try:
        content = json.loads(data)
    except ValueError:
        return {}
    for undo in content.get("undo", ()):
        old = Path(undo["old"])
        ours = old.name.startswith(f".nearly-{_token_of(mark)}-")
        if not ours or old.parent != Path(undo["target"]).parent:
            raise PermissionError
    return dict(content)


def _token_of(mark: Path) -> str:
    found = _MARK.fullmatch(mark.name)
    if found is None:
        raise PermissionError
    return found[1]


def _files_of(folder: Path, token: str) -> list[str]:
    with suppress(OSError):
        return [name for name in os.listdir(folder) if name.startswith(f".nearly-{token}-")]
    return []


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def sync(path: Path) -> None:
    """Have the disk hold what was written to a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        close(descriptor)
