"""Passages in a terminal: both texts, with what differs marked, and repeated ones once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

from nearly.cli.line import Line, Screen, Style
from nearly.cli.mark import DIFFERS, Mark, marked
from nearly.cli.terminal import one_line, short
from nearly.wording import count

if TYPE_CHECKING:
    import pyarrow as pa

    from nearly.passage.result import Passages
    from nearly.text.difference import Span

__all__ = ["print_passages"]

#: Passages that are shown, the longest first, and characters of each.
MOST_SHOWN: Final = 20
LONGEST: Final = 600


def print_passages(found: Passages, file: TextIO) -> None:
    """The longest passages, each with both its texts; then the repeated ones."""
    screen = Screen(file)
    lengths = found.passages["length"].to_numpy()
    longest = found.passages.take((-lengths).argsort(kind="stable")[:MOST_SHOWN])
    rows = longest.to_pylist()
    unit = "word" if found.settings.unit == "word" else "character"
    for row, a, b in zip(rows, *(found.texts(longest, i) for i in ("id_a", "id_b")), strict=True):
        _print_row(screen, row, a, b, unit)
    repeats = _first_places(found)
    for row, whole in zip(repeats.to_pylist(), found.texts(repeats, "id"), strict=True):
        name = "template text" if row["template"] else "repeated text"
        text = whole[row["start"] : row["end"]][:LONGEST]
        where = f"{name} in {row['documents']} documents, first in {one_line(str(row['id']))}"
        screen.print(Line((f"{where}: {one_line(text)}", None)))
    if len(found) > len(rows):
        told = f"the {len(rows)} longest of {len(found):,} are shown, -o FILE writes all"
        screen.print(Line((told, None)))


def _first_places(found: Passages) -> pa.Table:
    import numpy as np

    _, firsts = np.unique(found.repeats["passage"].to_numpy(), return_index=True)
    return found.repeats.take(firsts[:MOST_SHOWN])


def _print_row(screen: Screen, row: dict[str, Any], text_a: str, text_b: str, unit: str) -> None:
    from nearly.text.difference import difference

    a = one_line(text_a[row["start_a"] : row["end_a"]][:LONGEST])
    b = one_line(text_b[row["start_b"] : row["end_b"]][:LONGEST])
    size = count(row["length"], unit if row["kind"] == "verbatim" else "word")
    told = f"{short(row['likeness'])}  {row['kind']}, {size}"
    screen.print(Line((told, Style(bold=True))))
    spans = difference(a, b).spans if row["kind"] == "edited" else None
    for side, text in (("a", a), ("b", b)):
        place = f"{one_line(str(row[f'id_{side}']))} {row[f'start_{side}']}-{row[f'end_{side}']}"
        pieces = [(text, None)] if spans is None else _pieces(text, spans, side)
        screen.print(Line((place, Style("cyan"))))
        screen.print(marked(pieces, colour=screen.colour))
    screen.print(Line())


def _pieces(text: str, spans: Sequence[Span], side: str) -> list[tuple[str, Mark | None]]:
    return [
        (
            text[getattr(span, f"start_{side}") : getattr(span, f"stop_{side}")],
            None if span.kind == "equal" else DIFFERS,
        )
        for span in spans
    ]
