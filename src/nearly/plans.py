"""Plans: which files of a folder are to be removed, written down first and carried out later.

Time passes between a plan and its application, and anything may have changed, so every
file is hashed again right before it is touched. A file is removed only while its survivor
stands beside it with the bytes it had; what changed is refused. Nothing outside the plan's
folder is reached: paths are walked from the folder, one part at a time, through no
symbolic link.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from nearly.errors import MissingError, SinkError, SourceError, UnreadableError

__all__ = [
    "Decision",
    "Plan",
    "Removal",
    "apply_plan",
    "check_plan",
    "load_plan",
    "make_plan",
    "save_plan",
]

PLAN_VERSION = 1
CHUNK = 2**20

#: `check_plan` says remove or refuse; `apply_plan` says done, refused or failed.
Outcome = Literal["remove", "refuse", "done", "refused", "failed"]


@dataclass(frozen=True, kw_only=True)
class Removal:
    """One file to remove, and the file that stands for it; paths are relative, with '/'."""

    path: str
    survivor: str
    similarity: float
    sha256: str
    survivor_sha256: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be removed from a folder, and the settings that led to it."""

    folder: str
    settings: dict[str, Any]
    removals: tuple[Removal, ...]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What would be, or was, done with one removal; the reason when it was not."""

    removal: Removal
    outcome: Outcome
    reason: str = ""


def make_plan(
    folder: Path, removed: Iterable[tuple[str, str, float]], settings: Mapping[str, Any]
) -> Plan:
    """Plan the removal of (path, survivor, similarity), relative to the folder; hashes them all."""
    digests: dict[str, tuple[str, int]] = {}
    removals = []
    with _open_folder(str(folder)) as root:
        for path, survivor, similarity in removed:
            for name in (path, survivor):
                if name not in digests:
                    digests[name] = _digest_for_plan(root, name)
            digest, size = digests[path]
            removals.append(
                Removal(
                    path=path,
                    survivor=survivor,
                    similarity=float(similarity),
                    sha256=digest,
                    survivor_sha256=digests[survivor][0],
                    bytes=size,
                )
            )
    # Through JSON, so that a plan that was saved and loaded is equal to this one.
    plain = json.loads(json.dumps(dict(settings)))
    return Plan(folder=os.path.realpath(folder), settings=plain, removals=tuple(removals))


def save_plan(plan: Plan, path: Path, *, force: bool = False) -> None:
    """Write the plan as JSON. Names that are no text keep their bytes, as lone surrogates."""
    from nearly.sinks import Outputs  # late: applying a plan needs nothing so heavy

    plain = {"version": PLAN_VERSION, **asdict(plan)}
    text = json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=2)
    with Outputs(force=force) as outputs, outputs.open(path) as file:
        file.write(text.encode() + b"\n")


def load_plan(path: Path) -> Plan:
    """Read a plan; what is not exactly a plan, or reaches out of its folder, is refused."""
    try:
        plain = json.loads(path.read_bytes())
        plan = _parse_plan(plain)
        _check_inside(plan)
    except FileNotFoundError:
        raise MissingError(f"there is no plan {str(path)!r}; make one with nearly dedup") from None
    except OSError as error:
        raise UnreadableError(f"the plan {str(path)!r} cannot be read: {error.strerror}") from error
    except (_FlawError, ValueError, RecursionError) as error:
        raise SourceError(
            f"{str(path)!r} is not a plan that can be applied: {error}. "
            "Make the plan again with nearly dedup."
        ) from error
    return plan


def check_plan(plan: Plan) -> list[Decision]:
    """What `apply_plan` would do now; changes nothing."""
    decisions = []
    with _open_folder(plan.folder) as root:
        leaving = {removal.path for removal in plan.removals}
        for removal in plan.removals:
            try:
                with _verified(root, removal, leaving):
                    decisions.append(Decision(removal=removal, outcome="remove"))
            except _RefusedError as refusal:
                decisions.append(Decision(removal=removal, outcome="refuse", reason=str(refusal)))
    return decisions


def apply_plan(plan: Plan, *, trash: Path | None = None) -> list[Decision]:
    """Delete the files, or move them below `trash`; each is checked right before.

    A file that is refused or fails does not stop the others.
    """
    with ExitStack() as stack:
        root = stack.enter_context(_open_folder(plan.folder))
        trash_folder = stack.enter_context(_open_trash(trash)) if trash else None
        leaving = {removal.path for removal in plan.removals}
        return [_carry_out(root, removal, leaving, trash_folder) for removal in plan.removals]


def _carry_out(root: int, removal: Removal, leaving: set[str], trash: int | None) -> Decision:
    try:
        with _verified(root, removal, leaving) as file:
            if trash is None:
                os.unlink(file.name, dir_fd=file.folder)
            else:
                _move(file, removal, trash)
    except _RefusedError as refusal:
        return Decision(removal=removal, outcome="refused", reason=str(refusal))
    except OSError as error:
        return Decision(removal=removal, outcome="failed", reason=error.strerror or str(error))
    return Decision(removal=removal, outcome="done")


class _RefusedError(Exception):
    """Why a file is left alone."""


@dataclass(frozen=True)
class _File:
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
def _verified(root: int, removal: Removal, leaving: set[str]) -> Iterator[_File]:
    """The file to remove, once nothing speaks against it; raises `_RefusedError` otherwise."""
    if removal.survivor in leaving:
        raise _RefusedError("its survivor is itself to be removed by this plan")
    with (
        _opened(root, removal.path, "the file") as file,
        _opened(root, removal.survivor, "its survivor") as survivor,
    ):
        if file.identity == survivor.identity:
            raise _RefusedError("it is the same file as its survivor, under two names")
        for found, sha256, who in (
            (file, removal.sha256, "the file"),
            (survivor, removal.survivor_sha256, "its survivor"),
        ):
            if _digest(found, who) != sha256:
                raise _RefusedError(f"{who} changed since the plan was made")
        # Hashing takes time: the names must still lead to what was hashed.
        _check_still_there(root, removal.path, file, "the file")
        _check_still_there(root, removal.survivor, survivor, "its survivor")
        yield file


def _digest(file: _File, who: str) -> str:
    before = file.state
    try:
        digest = file.digest()
    except OSError as error:
        raise _RefusedError(f"{who} cannot be read: {error.strerror}") from error
    if file.state != before:
        raise _RefusedError(f"{who} is being written to")
    return digest


def _check_still_there(root: int, path: str, file: _File, who: str) -> None:
    with _opened(root, path, who) as again:
        if again.state != file.state:
            raise _RefusedError(f"{who} changed while it was checked")


@contextmanager
def _opened(root: int, path: str, who: str) -> Iterator[_File]:
    """Open a regular file below the folder, following no symbolic link on the way."""
    *parents, name = path.split("/")
    with ExitStack() as stack:
        try:
            folder = _descend(stack, root, parents)
            # Looked at first, because opening a device may already do something.
            if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise _RefusedError(f"{who} is not a regular file")
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=folder)
        except FileNotFoundError:
            raise _RefusedError(f"{who} is missing") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise _RefusedError(f"{who} is behind a symbolic link or no folder") from error
            raise _RefusedError(f"{who} cannot be opened: {error.strerror}") from error
        stack.callback(os.close, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _RefusedError(f"{who} is not a regular file")
        yield _File(folder, name, descriptor)


def _descend(stack: ExitStack, start: int, parts: list[str], *, create: bool = False) -> int:
    """Open folder after folder; a symbolic link among them is an error."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = start
    for part in parts:
        if create:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
        folder = os.open(part, flags, dir_fd=folder)
        stack.callback(os.close, folder)
    return folder


@contextmanager
def _open_folder(folder: str) -> Iterator[int]:
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
        os.close(descriptor)


@contextmanager
def _open_trash(trash: Path) -> Iterator[int]:
    try:
        trash.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SinkError(
            f"the trash folder {str(trash)!r} cannot be made: {error.strerror}; give another one"
        ) from error
    with _open_folder(str(trash)) as descriptor:
        yield descriptor


def _move(file: _File, removal: Removal, trash: int) -> None:
    """Move below the trash, to the same relative path; what is already there stays."""
    *parents, name = removal.path.split("/")
    with ExitStack() as stack:
        folder = _descend(stack, trash, parents, create=True)
        try:
            _link_or_copy(file, removal, folder, name)
        except FileExistsError:
            raise _RefusedError(
                "the trash already has a file of that name; give another one"
            ) from None
        try:
            os.unlink(file.name, dir_fd=file.folder)
        except OSError:
            # Only for an error that says the file is still there. After Ctrl-C it may be
            # gone, and what is in the trash the last copy: two are better than none.
            os.unlink(name, dir_fd=folder)
            raise


def _link_or_copy(file: _File, removal: Removal, folder: int, name: str) -> None:
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
        raise _RefusedError("the file changed while it was moved")


def _copy(file: _File, removal: Removal, folder: int, name: str) -> None:
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
            raise _RefusedError("the file changed while it was moved")
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise


def _digest_for_plan(root: int, path: str) -> tuple[str, int]:
    try:
        _check_path(path)
        with _opened(root, path, "the file") as file:
            return _digest(file, "the file"), os.fstat(file.descriptor).st_size
    except (_FlawError, _RefusedError) as reason:
        raise SourceError(
            f"{path!r} cannot be in a plan: {reason}; run nearly dedup again"
        ) from reason


class _FlawError(Exception):
    """What is wrong with a plan that was read."""


def _parse_plan(plain: object) -> Plan:
    if not isinstance(plain, dict) or "version" not in plain:
        raise _FlawError("it has no version")
    version = plain.pop("version")
    if type(version) is not int or version != PLAN_VERSION:
        raise _FlawError(
            f"its version is {version!r}, and this nearly knows version {PLAN_VERSION}"
        )
    _check_members(plain, _PLAN_TYPES, "it")
    _check_name(plain["folder"])
    if not os.path.isabs(plain["folder"]):
        raise _FlawError(f"its folder is {plain['folder']!r}, which is not absolute")
    given = enumerate(plain.pop("removals"))
    removals = tuple(_parse_removal(removal, f"removals[{i}]") for i, removal in given)
    twice = [path for path, n in Counter(r.path for r in removals).items() if n > 1]
    if twice:
        raise _FlawError(f"it removes {twice[0]!r} twice")
    return Plan(**plain, removals=removals)


_PLAN_TYPES = {"folder": str, "settings": dict, "removals": list}
_REMOVAL_TYPES = {
    "path": str,
    "survivor": str,
    "similarity": float,
    "sha256": str,
    "survivor_sha256": str,
    "bytes": int,
}


def _parse_removal(given: object, where: str) -> Removal:
    if not isinstance(given, dict):
        raise _FlawError(f"{where} is not an object")
    _check_members(given, _REMOVAL_TYPES, where)
    removal = Removal(**given)
    _check_path(removal.path)
    _check_path(removal.survivor)
    if not 0 <= removal.similarity <= 1:
        raise _FlawError(
            f"{where}: similarity is {removal.similarity!r}, and has to be from 0 to 1"
        )
    if removal.bytes < 0:
        raise _FlawError(f"{where}: bytes is {removal.bytes!r}, and cannot be below 0")
    for sha256 in (removal.sha256, removal.survivor_sha256):
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            raise _FlawError(f"{where}: {sha256!r} is no SHA-256 of 64 hex digits")
    return removal


def _check_members(given: dict[str, Any], types: Mapping[str, type], where: str) -> None:
    for name in sorted(given.keys() | types.keys()):
        if name not in given:
            raise _FlawError(f"{where} has no {name!r}")
        if name not in types:
            raise _FlawError(f"{where} has {name!r}, which is unknown")
        # Exact types: a bool is an int to `isinstance`.
        if type(given[name]) is not types[name]:
            raise _FlawError(
                f"{where}: {name} is {given[name]!r}, and has to be {_CALLED[types[name]]}"
            )


_CALLED = {
    str: "a string",
    dict: "an object",
    list: "a list",
    float: "a number with a decimal point",
    int: "a whole number",
}


def _check_path(path: str) -> None:
    """A path below the folder, spelled in the one plain way."""
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise _FlawError(f"the path {path!r} is not a plain path below the folder")
    _check_name(path)


def _check_name(name: str) -> None:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise _FlawError(f"{name!r} cannot be the name of a file") from None
    if "\0" in name:
        raise _FlawError(f"{name!r} cannot be the name of a file")


def _check_inside(plan: Plan) -> None:
    """Symbolic links must not lead out of the folder."""
    with _open_folder(plan.folder):
        folder = os.path.realpath(plan.folder).rstrip("/") + "/"
    for path in {p for removal in plan.removals for p in (removal.path, removal.survivor)}:
        if not os.path.realpath(folder + path).startswith(folder):
            raise _FlawError(f"{path!r} leaves the folder through a symbolic link")
