"""Pieces of a text marked for a terminal: by colour, or by brackets where there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from nearly.cli.line import Line, Style
from nearly.cli.terminal import harmless

__all__ = ["DIFFERS", "MOVED", "Mark", "marked"]


class Mark(NamedTuple):
    """How a piece is set apart."""

    style: Style
    opening: str
    closing: str


DIFFERS: Final = Mark(Style("yellow", bold=True), "[", "]")
MOVED: Final = Mark(Style("cyan", bold=True), "{", "}")


def marked(pieces: Iterable[tuple[str, Mark | None]], *, colour: bool) -> Line:
    """One line of all pieces, harmless, each with its mark.

    White space around words stays outside of marks; a space that is a piece by itself is marked.
    """
    line, last = Line(), ""
    for piece, mark in pieces:
        shown = harmless(re.sub(r"\s+", " ", piece))
        if shown.startswith(" ") and last in ("", " "):
            shown = shown[1:]
        last = shown[-1:] or last
        core = shown.strip() or shown
        if mark is None or not core:
            line.add(shown)
            continue
        before, _, after = shown.partition(core)
        line.add(before)
        if colour:
            line.add(core, mark.style)
        else:
            line.add(f"{mark.opening}{core}{mark.closing}")
        line.add(after)
    return line
