"""How much memory the control groups of this process allow: its own, and those around it."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

__all__ = ["memory_limits"]

#: The file of a limit, in version 2 and in version 1, which has a tree for each resource.
LIMIT: Final = {"cgroup2": "memory.max", "cgroup": "memory.limit_in_bytes"}


def memory_limits(root: Path = Path("/")) -> list[int]:
    """In bytes, from the group of this process outwards, as far as this process can see."""
    try:
        groups = (root / "proc/self/cgroup").read_text()
        mounts = (root / "proc/self/mountinfo").read_text()
    except OSError:  # no Linux, or no /proc
        return []
    own = {kind: PurePosixPath(path) for kind, path in _groups(groups)}
    return [
        limit
        for kind, within, place in _mounts(mounts)
        if kind in own
        for folder in _outwards(root / place.relative_to("/"), own[kind], within)
        if (limit := _limit(folder / LIMIT[kind])) is not None
    ]


def _groups(listed: str) -> Iterator[tuple[str, str]]:
    """The kinds of groups that limit memory, and which of them this process is in."""
    for line in listed.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield "cgroup2", path
        elif "memory" in controllers.split(","):
            yield "cgroup", path


def _mounts(listed: str) -> Iterator[tuple[str, PurePosixPath, PurePosixPath]]:
    """Where groups are seen: their kind, the outermost one that is seen, and its folder."""
    for line in listed.splitlines():
        mount, _, told = line.partition(" - ")
        kind, _, options = told.split(" ", 2)
        if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
            within, place = mount.split(" ")[3:5]
            yield kind, PurePosixPath(within), PurePosixPath(place)


def _outwards(place: Path, own: PurePosixPath, within: PurePosixPath) -> Iterator[Path]:
    """The folder of a group, and those around it; in a container, often the outermost alone."""
    if own.is_relative_to(within) and ".." not in own.parts:
        inner = own.relative_to(within)
        yield from (place / group for group in (inner, *inner.parents) if group.parts)
    yield place


def _limit(file: Path) -> int | None:
    """None where there is no limit, or the file cannot be read."""
    try:
        told = file.read_text().strip()
    except OSError:
        return None
    return int(told) if told.isdigit() else None
