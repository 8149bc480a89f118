"""What people see in a terminal: progress bars, and pairs side by side.

Texts and names come from anywhere, so none is shown before it is made harmless: a document
must not be able to move the cursor, change a title or hide what stands before it. rich is
imported where something is drawn, for it takes a while, and so is all that errors do not need.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    import rich.progress
    import rich.text

__all__ = ["Bars", "harmless", "print_pairs", "short"]

#: Controls, lone surrogates, line breaks of Unicode, and what reverses the direction of text.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
_ELLIPSIS = "…"
_GAP = "  "
#: The least width of a text that is worth showing.
_LEAST_TEXT = 24


def harmless(text: str) -> str:
    r"""The text with what a terminal would obey, or not show, spelled out: ESC is \x1b."""
    return _HARMFUL.sub(lambda found: repr(found[0])[1:-1], text)


def short(similarity: float) -> str:
    """Four digits, rounded down: only what is the same is shown as 1."""
    from decimal import ROUND_DOWN, Decimal

    return str(Decimal(repr(similarity)).quantize(Decimal("0.0001"), ROUND_DOWN))


class Bars:
    """One bar for each stage on stderr; they vanish when the work is done.

    Nothing is drawn before the first stage: most mistakes are found earlier.
    """

    def __init__(self) -> None:
        self._shown: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def stage(self, name: str, total: int | None) -> None:
        """See `nearly.engines.base.Progress`."""
        if self._shown is None:
            self._shown = _progress()
            self._shown.start()
        if self._task is not None:
            # A stage whose length was not known, or that ended early, is complete now.
            self._shown.update(self._task, total=max(1, self._done), completed=max(1, self._done))
            self._shown.stop_task(self._task)
        self._done = 0
        self._task = self._shown.add_task(name, total=total)

    def advance(self, steps: int = 1) -> None:
        """See `nearly.engines.base.Progress`."""
        if self._shown is not None and self._task is not None:
            self._done += steps
            self._shown.advance(self._task, steps)


def _progress() -> rich.progress.Progress:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description:<14}", markup=False),
        progress.BarColumn(bar_width=30),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )


def print_pairs(pairs: Sequence[Mapping[str, Any]], file: TextIO) -> None:
    """Each pair in two lines, one under the other, so that differences meet the eye."""
    from rich.cells import cell_len
    from rich.console import Console

    console = Console(file=file, highlight=False)
    ids = [_one_line(str(pair[name])) for pair in pairs for name in ("id_a", "id_b")]
    id_width = min(max(map(cell_len, ids), default=0), max(8, console.width // 3))
    text_width = max(_LEAST_TEXT, console.width - 6 - id_width - 2 * len(_GAP))
    for pair in pairs:
        texts = _side_by_side(_one_line(pair["text_a"]), _one_line(pair["text_b"]), text_width)
        margins = (short(pair["similarity"]), " " * 6)
        for margin, name, text in zip(margins, ("id_a", "id_b"), texts, strict=True):
            line = _line(margin, _cut_left(_one_line(str(pair[name])), id_width), text)
            console.print(line, soft_wrap=True)


def _line(margin: str, name: str, text: rich.text.Text) -> rich.text.Text:
    from rich.text import Text

    return Text.assemble((margin, "bold"), _GAP, (name, "cyan"), _GAP, text)


def _one_line(text: str) -> str:
    return harmless(" ".join(text.split()))


def _cut_left(name: str, width: int) -> str:
    """The name in exactly so many cells; of a long path the end says more than the beginning."""
    from rich.cells import cell_len, set_cell_size

    while cell_len(name) > width:
        name = _ELLIPSIS + name.removeprefix(_ELLIPSIS)[1:]
    return set_cell_size(name, width)


def _side_by_side(a: str, b: str, width: int) -> tuple[rich.text.Text, rich.text.Text]:
    """Two texts from the same place on, the differences marked.

    That place is the beginning, unless all that could be shown from there is the same.
    """
    from difflib import SequenceMatcher

    from rich.text import Text

    pieces = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    first, second = Text(a), Text(b)
    for kind, start_a, stop_a, start_b, stop_b in pieces:
        if kind != "equal":
            first.stylize("bold yellow", start_a, stop_a)
            second.stylize("bold yellow", start_b, stop_b)
    same = next((piece[1] for piece in pieces if piece[0] != "equal"), 0)
    is_seen = same < width * 2 // 3 or same == min(len(a), len(b))
    # From a bit before the difference on, or further left where that leaves the line half empty.
    start = 0 if is_seen else max(0, min(same - width // 3, max(len(a), len(b)) - width + 1))
    return _cut_right(first, start, width), _cut_right(second, start, width)


def _cut_right(text: rich.text.Text, start: int, width: int) -> rich.text.Text:
    from rich.text import Text

    shown = Text.assemble(_ELLIPSIS, text[start:]) if start else text
    shown.truncate(width, overflow="ellipsis")
    return shown
