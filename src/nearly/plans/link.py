"""Symbolic links among what was found: none is removed, and none stands for a file."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Chosen", "choose_files"]

#: Path, survivor, similarity.
Found = tuple[str, str, float]


@dataclass(frozen=True)
class Chosen:
    """What can be planned, and how much cannot, by its reason."""

    removed: list[Found] = field(default_factory=list)
    #: Links that were to be removed: it would free nothing.
    links: list[str] = field(default_factory=list)
    #: Files whose survivor is a link, with no file beside them that is the same as it.
    stranded: list[str] = field(default_factory=list)


def choose_files(folder: Path, removed: Iterable[Found]) -> Chosen:
    """The files to remove, each with a survivor that is a file.

    Where the survivor is a link, a file with all its shingles (a similarity of 1) takes its
    place: the others are exactly as similar to it. Best the one that the link leads to.
    """
    rows = list(removed)
    is_link = {name: (folder / name).is_symlink() for row in rows for name in row[:2]}
    heirs: dict[str, str] = {}
    for path, survivor, similarity in rows:
        is_same = is_link[survivor] and not is_link[path] and similarity == 1
        if is_same and (survivor not in heirs or _is_target(folder, path, survivor)):
            heirs[survivor] = path
    chosen = Chosen()
    for path, survivor, similarity in rows:
        heir = heirs.get(survivor, survivor)
        if is_link[path]:
            chosen.links.append(path)
        elif is_link[heir]:
            chosen.stranded.append(path)
        elif path != heir:
            chosen.removed.append((path, heir, similarity))
    return chosen


def _is_target(folder: Path, path: str, link: str) -> bool:
    return os.path.realpath(folder / path) == os.path.realpath(folder / link)
