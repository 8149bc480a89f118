"""Pieces of a text marked for a terminal: by colour, or by brackets where there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from nearly.cli.terminal import harmless

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["DIFFERS", "ELLIPSIS", "MOVED", "Mark", "has_colour", "marked"]

ELLIPSIS: Final = "…"


class Mark(NamedTuple):
    """How a piece is set apart."""

    style: str
    opening: str
    closing: str


DIFFERS: Final = Mark("bold yellow", "[", "]")
MOVED: Final = Mark("bold cyan", "{", "}")


def has_colour(console: Console) -> bool:
    """Whether colours reach the reader."""
    return console.color_system is not None and not console.no_color


def marked(pieces: Iterable[tuple[str, Mark | None]], *, colour: bool) -> Text:
    """One line of all pieces, harmless, each with its mark; white space stays outside of marks."""
    from rich.text import Text

    line = Text()
    for piece, mark in pieces:
        shown = harmless(re.sub(r"\s+", " ", piece))
        if shown.startswith(" ") and (not line or line.plain.endswith(" ")):
            shown = shown[1:]
        core = shown.strip()
        if mark is None or not core:
            line.append(shown)
            continue
        before, _, after = shown.partition(core)
        line.append(before)
        if colour:
            line.append(core, mark.style)
        else:
            line.append(f"{mark.opening}{core}{mark.closing}")
        line.append(after)
    return line
