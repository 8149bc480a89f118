"""Two texts beside each other in a terminal: what differs, with a few words around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, TextIO

from nearly.cli.line import ELLIPSIS, Line, Screen, Style
from nearly.cli.mark import DIFFERS, MOVED, Mark, marked
from nearly.cli.terminal import one_line

if TYPE_CHECKING:
    from nearly.results import Comparison

__all__ = ["print_beside"]

_GAP: Final = " │ "
_DIM: Final = Style(dim=True)
#: A narrower terminal shows one text under the other.
_LEAST_COLUMN: Final = 30
#: Words that are shown before and after what differs.
_AROUND: Final = 12
_WORDS: Final = re.compile(r"\S+\s*")

#: The same stretch of both texts.
_Part = tuple[list[tuple[str, Mark | None]], list[tuple[str, Mark | None]]]


def print_beside(comparison: Comparison, file: TextIO) -> None:
    """Every place where the texts differ; long stretches that are the same are left out."""
    screen = Screen(file)
    names = (one_line(name) for name in (comparison.name_a, comparison.name_b))
    _print_row(screen, *(Line((name, Style("cyan"))) for name in names))
    for a, b in _parts(comparison):
        _print_row(screen, marked(a, colour=screen.colour), marked(b, colour=screen.colour))
    for line in Line((_legend(comparison, colour=screen.colour), _DIM)).wrapped(screen.width):
        screen.print(line)


def _legend(comparison: Comparison, *, colour: bool) -> str:
    found = comparison.difference
    kinds = {span.kind for span in found.spans}
    line = found.summary
    if colour:
        return line + ("; what was moved is cyan" if "moved" in kinds else "")
    if kinds - {"equal", "moved"}:
        line += "; [ ] differs"
    return line + ("; { } was moved" if "moved" in kinds else "")


def _parts(comparison: Comparison) -> Iterator[_Part]:
    """What differs with the words around it, cut where a long stretch is the same."""
    a: list[tuple[str, Mark | None]] = []
    b: list[tuple[str, Mark | None]] = []
    spans = comparison.difference.spans
    for place, span in enumerate(spans):
        piece_a = comparison.text_a[span.start_a : span.stop_a]
        piece_b = comparison.text_b[span.start_b : span.stop_b]
        if span.kind != "equal":
            mark = MOVED if span.kind == "moved" else DIFFERS
            a.append((piece_a, mark))
            b.append((piece_b, mark))
            continue
        is_first, is_last = place == 0, place == len(spans) - 1
        (start_a, stop_a), (start_b, stop_b) = _ends(piece_a), _ends(piece_b)
        if stop_a is None or stop_b is None:
            a.append((piece_a, None))
            b.append((piece_b, None))
            continue
        if is_first and is_last:
            start_a, start_b = piece_a, piece_b
        if not is_first or is_last:
            a.append((start_a + ELLIPSIS, None))
            b.append((start_b + ELLIPSIS, None))
            yield a, b
            a, b = [], []
        if not is_last:
            a.append((ELLIPSIS + stop_a, None))
            b.append((ELLIPSIS + stop_b, None))
    if a or b:
        yield a, b


def _ends(text: str) -> tuple[str, str | None]:
    """The first and the last words of a long stretch; all of a short one."""
    words = _WORDS.findall(text)
    if len(words) <= 2 * _AROUND + 1:
        return text, None
    lead = text[: len(text) - len(text.lstrip())]
    return lead + "".join(words[:_AROUND]), "".join(words[-_AROUND:])


def _print_row(screen: Screen, a: Line, b: Line) -> None:
    width = (screen.width - len(_GAP)) // 2
    if width < _LEAST_COLUMN:
        for sign, text in (("A ", a), ("B ", b)):
            for line in text.wrapped(max(1, screen.width - len(sign))):
                screen.print(Line((sign, None), *line.pieces))
        return
    for left, right in zip_longest(a.wrapped(width), b.wrapped(width), fillvalue=Line()):
        screen.print(_beside(left, right, width).without_last_space())


def _beside(left: Line, right: Line, width: int) -> Line:
    from rich.cells import cell_len

    room = " " * (width - cell_len(left.plain))
    return Line(*left.pieces, (room, None), (_GAP, _DIM), *right.pieces)
