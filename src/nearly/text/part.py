"""A text that was joined from several files, each below a line that names it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["Part", "heading", "part_at", "parts_of"]

_HEADING: Final = re.compile(r"^==> (.+) <==$", re.MULTILINE)


class Part(NamedTuple):
    """Where the part of a file begins, and what the file is called."""

    start: int
    name: str


def heading(name: str) -> str:
    """The line that names a file."""
    return f"==> {' '.join(name.split())} <=="


def parts_of(text: str) -> list[Part]:
    """The files of a text that begins with such a line; none of any other."""
    found = [Part(each.start(), each[1]) for each in _HEADING.finditer(text)]
    return found if found and found[0].start == 0 else []


def part_at(parts: Sequence[Part], place: int) -> str:
    """The file in which a character stands; empty where there are no files."""
    names = [part.name for part in parts if part.start <= place]
    return names[-1] if names else ""
