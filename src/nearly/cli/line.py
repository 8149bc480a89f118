"""Lines for a terminal: pieces of text with a style each, cut and broken by cells.

A wide character takes two cells. rich can do all of this, but to import it takes a good part of a
small run; progress bars are worth that, lines are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Self, TextIO

import click

__all__ = ["ELLIPSIS", "Line", "Screen", "Style", "has_colour"]

ELLIPSIS: Final = "…"
#: Cells of a line where nothing is known of the terminal.
_WIDTH: Final = 80


class Style(NamedTuple):
    """How a piece is written where there is colour."""

    colour: str | None = None
    bold: bool = False
    dim: bool = False


class Line:
    """Pieces of text, each in a style."""

    def __init__(self, *pieces: tuple[str, Style | None]) -> None:
        self.pieces = [piece for piece in pieces if piece[0]]

    @property
    def plain(self) -> str:
        """Without styles."""
        return "".join(text for text, _ in self.pieces)

    def add(self, text: str, style: Style | None = None) -> Self:
        """Another piece at the end."""
        if text:
            self.pieces.append((text, style))
        return self

    def part(self, start: int, stop: int | None = None) -> Line:
        """Characters from one place to another."""
        return Line(*self._between(start, len(self.plain) if stop is None else stop))

    def _between(self, start: int, stop: int) -> Iterator[tuple[str, Style | None]]:
        place = 0
        for text, style in self.pieces:
            yield text[max(0, start - place) : max(0, stop - place)], style
            place += len(text)

    def without_last_space(self) -> Line:
        """Without white space at the end."""
        return self.part(0, len(self.plain.rstrip()))

    def cut(self, cells: int) -> Line:
        """in at most this many cells; an ellipsis stands for what is cut off."""
        from rich.cells import cell_len, set_cell_size

        plain = self.plain
        if cell_len(plain) <= cells:
            return self
        kept = set_cell_size(plain, cells - 1)
        if not plain.startswith(kept):  # a wide character that would be halved is a space now
            return self.part(0, len(kept) - 1).add(f" {ELLIPSIS}")
        line = self.part(0, len(kept))
        return line.add(ELLIPSIS, line.pieces[-1][1] if line.pieces else None)

    def wrapped(self, cells: int) -> Iterator[Line]:
        """Lines of at most `cells` cells, broken between words, or within one that is longer."""
        start = 0
        for stop in (*_breaks(self.plain, cells), None):
            yield self.part(start, stop).without_last_space()
            start = stop or 0

    def shown(self, *, colour: bool) -> str:
        """As it is written."""
        return "".join(_styled(*piece) for piece in self.pieces) if colour else self.plain


class Screen:
    """Where lines go: how wide it is, and whether it has colour."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.colour = has_colour(file)
        self.width = _width()

    def print(self, line: Line) -> None:
        """Write one line, however long."""
        click.echo(line.shown(colour=self.colour), file=self.file, color=self.colour)


def has_colour(file: TextIO) -> bool:
    """Whether colours reach the reader."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or file.isatty()


def _styled(text: str, style: Style | None) -> str:
    if style is None:
        return text
    return click.style(text, fg=style.colour, bold=style.bold or None, dim=style.dim or None)


def _width() -> int:
    """Cells of a line, as the environment says it, or any of the terminals that are there."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns or _WIDTH
        except OSError:
            continue
    return _WIDTH


def _breaks(plain: str, cells: int) -> Iterator[int]:
    """Where lines begin, but for the first one; white space goes with the word before it."""
    from rich.cells import cell_len, chop_cells

    used = 0
    for word in re.finditer(r"\s*\S+\s*", plain):
        needed = cell_len(word[0].rstrip())
        if used + needed <= cells:
            used += cell_len(word[0])
            continue
        start = word.start()
        for piece in chop_cells(word[0], cells) if needed > cells else [word[0]]:
            if start:
                yield start
            start += len(piece)
            used = cell_len(piece)
