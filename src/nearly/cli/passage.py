"""Passages in a terminal: both texts, with what differs marked, and repeated ones once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

from nearly.cli.mark import DIFFERS, Mark, has_colour, marked
from nearly.cli.terminal import one_line, short

if TYPE_CHECKING:
    from rich.console import Console

    from nearly.passage.result import Passages
    from nearly.text.difference import Span

__all__ = ["print_passages"]

#: Passages that are shown, the longest first, and characters of each.
MOST_SHOWN: Final = 20
LONGEST: Final = 600


def print_passages(found: Passages, file: TextIO) -> None:
    """The longest passages, each with both its texts; then the repeated ones."""
    from rich.console import Console

    console = Console(file=file, highlight=False)
    rows = sorted(found.passages.to_pylist(), key=lambda row: -row["length"])[:MOST_SHOWN]
    repeats = _first_places(found)
    ids = {row[name] for row in rows for name in ("id_a", "id_b")} | {r["id"] for r in repeats}
    texts = found.read_texts(ids)
    for row in rows:
        _print_row(console, row, texts)
    for row in repeats:
        name = "template text" if row["template"] else "repeated text"
        text = texts[row["id"]][row["start"] : row["end"]][:LONGEST]
        console.print(
            f"{name} in {row['documents']} documents, first in {one_line(str(row['id']))}: "
            f"{one_line(text)}",
            markup=False,
            soft_wrap=True,
        )
    if len(found) > len(rows):
        console.print(f"the {len(rows)} longest of {len(found):,} are shown, -o FILE writes all")


def _first_places(found: Passages) -> list[dict[str, Any]]:
    firsts: dict[int, dict[str, Any]] = {}
    for row in found.repeats.to_pylist():
        firsts.setdefault(row["passage"], row)
    return list(firsts.values())[:MOST_SHOWN]


def _print_row(console: Console, row: dict[str, Any], texts: Mapping[Any, str]) -> None:
    from rich.text import Text

    from nearly.text.difference import difference

    a = one_line(texts[row["id_a"]][row["start_a"] : row["end_a"]][:LONGEST])
    b = one_line(texts[row["id_b"]][row["start_b"] : row["end_b"]][:LONGEST])
    console.print(Text(f"{short(row['likeness'])}  {row['kind']}, {row['length']:,} units", "bold"))
    spans = difference(a, b).spans if row["kind"] == "edited" else None
    for side, text in (("a", a), ("b", b)):
        place = f"{one_line(str(row[f'id_{side}']))} {row[f'start_{side}']}-{row[f'end_{side}']}"
        pieces = [(text, None)] if spans is None else _pieces(text, spans, side)
        console.print(Text(place, "cyan"), soft_wrap=True)
        console.print(marked(pieces, colour=has_colour(console)), soft_wrap=True)
    console.print()


def _pieces(text: str, spans: Sequence[Span], side: str) -> list[tuple[str, Mark | None]]:
    return [
        (
            text[getattr(span, f"start_{side}") : getattr(span, f"stop_{side}")],
            None if span.kind == "equal" else DIFFERS,
        )
        for span in spans
    ]
