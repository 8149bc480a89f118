"""Two texts beside each other in a terminal: what differs, with a few words around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, TextIO

from nearly.cli.mark import DIFFERS, ELLIPSIS, MOVED, Mark, has_colour, marked
from nearly.cli.terminal import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from nearly.results import Comparison

__all__ = ["print_beside"]

_GAP: Final = " │ "
#: A narrower terminal shows one text under the other.
_LEAST_COLUMN: Final = 30
#: Words that are shown before and after what differs.
_AROUND: Final = 12
_WORDS: Final = re.compile(r"\S+\s*")

#: The same stretch of both texts.
_Part = tuple[list[tuple[str, Mark | None]], list[tuple[str, Mark | None]]]


def print_beside(comparison: Comparison, file: TextIO) -> None:
    """Every place where the texts differ; long stretches that are the same are left out."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False)
    names = Text(one_line(comparison.name_a), "cyan"), Text(one_line(comparison.name_b), "cyan")
    _print_row(console, *names)
    colour = has_colour(console)
    for a, b in _parts(comparison):
        _print_row(console, marked(a, colour=colour), marked(b, colour=colour))
    console.print(Text(_legend(comparison, colour=colour), "dim"))


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


def _print_row(console: Console, a: Text, b: Text) -> None:
    width = (console.width - len(_GAP)) // 2
    if width < _LEAST_COLUMN:
        for sign, text in (("A ", a), ("B ", b)):
            for line in text.wrap(console, max(1, console.width - len(sign))):
                console.print(sign, line, sep="")
        return
    columns = (side.wrap(console, width) for side in (a, b))
    for left, right in zip_longest(*columns):
        _print_line(console, left, right, width)


def _print_line(console: Console, left: Text | None, right: Text | None, width: int) -> None:
    from rich.text import Text

    line = Text() if left is None else left.copy()
    line.rstrip()
    line.pad_right(width - line.cell_len)
    line.append(_GAP, "dim")
    if right is not None:
        line.append_text(right)
    line.rstrip()
    console.print(line, soft_wrap=True)
