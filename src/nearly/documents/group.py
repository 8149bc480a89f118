"""The folder by which files belong together: one for each student, or each term and student."""

from __future__ import annotations

import re
from typing import Any, Final

from nearly.errors import SettingsError

__all__ = ["folder_of", "is_folder"]

#: The outermost folder, or the outermost few.
_FOLDER: Final = re.compile(r"folder(?::(\d{1,3}))?")


def is_folder(group: str | None) -> bool:
    """Whether a group is the folder of a file, and not a column."""
    return group is not None and _FOLDER.fullmatch(group) is not None


def folder_of(name: Any, group: str) -> str | None:
    """The folder by which a file belongs to others; None where it lies in none.

    `folder` is the outermost one below the source, whatever lies in it: of anna/week1/a.py it is
    anna. `folder:2` are the outermost two.
    """
    found = _FOLDER.fullmatch(group)
    depth = int(found[1] or 1) if found else 0
    if depth < 1:
        raise SettingsError(f"group is {group!r}; give folder, or folder:2 for two levels of them")
    folders = [each for each in str(name).split("/")[:-1] if each not in ("", ".")]
    return "/".join(folders[:depth]) or None
