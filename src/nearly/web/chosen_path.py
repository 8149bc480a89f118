"""A path that a page names: below the folder in which the server was started, and nowhere else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from nearly.errors import MissingError, SettingsError

__all__ = ["chosen_path", "listed"]

#: Entries of a folder that are offered.
MOST = 200


def chosen_path(root: Path, given: str) -> Path:
    """A file or folder below the root, reached through no symbolic link."""
    parts = [part for part in given.split("/") if part not in ("", ".")]
    is_odd = given.startswith(("/", "~")) or "\x00" in given or "\\" in given or len(given) > 4_000
    if is_odd or not parts or any(part == ".." for part in parts):
        raise SettingsError(
            f"the path is {given[:100]!r}; give one inside of the folder in which nearly serve was "
            "started, like essays/2024"
        )
    path = root.resolve()
    for part in parts:
        path /= part
        _check(path, given)
    if path.is_dir():
        _check_inside(path, given)
    return path


def _check(path: Path, given: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        raise MissingError(f"there is no file or folder {given[:100]!r}; check the path") from None
    if stat.S_ISLNK(mode):
        raise SettingsError(f"{given[:100]!r} leads through a symbolic link; give the real path")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise SettingsError(f"{given[:100]!r} is a device, and no file or folder")


def _check_inside(folder: Path, given: str) -> None:
    """Files that are links lead elsewhere."""
    for inside, _, files in os.walk(folder):
        for name in files:
            if os.path.islink(os.path.join(inside, name)):
                raise SettingsError(
                    f"{given[:100]!r} holds a symbolic link, {name[:100]!r}; leave it out"
                )


def listed(root: Path) -> list[str]:
    """What could be chosen at the top."""
    with os.scandir(root) as entries:
        shown = [
            entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
            for entry in entries
            if not entry.name.startswith(".") and not entry.is_symlink()
        ]
    return sorted(shown)[:MOST]
