"""Bars as SVG: a function from numbers to markup. Colours come from the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nearly.markup import Markup, tag

__all__ = ["bars"]

WIDTH: Final = 640
HEIGHT: Final = 180
LEFT, RIGHT, ABOVE, BELOW = 8, 8, 20, 24
#: The widest that a bar may be.
WIDEST: Final = 64
#: Labels that can stand side by side below the bars.
MOST_LABELS: Final = 12


def bars(title: str, labels: Sequence[str], counts: Sequence[int]) -> Markup:
    """A bar for each count; each says its number, and some of them their labels."""
    step = min((WIDTH - LEFT - RIGHT) / max(len(counts), 1), WIDEST)
    every = -(-len(counts) // MOST_LABELS)
    return tag(
        "svg",
        tag("title", title),
        [_bar(place, label, count, step, max(counts)) for place, (label, count) in
         enumerate(zip(labels, counts, strict=True))],
        [_label(place, label, step) for place, label in enumerate(labels) if place % every == 0],
        tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BELOW, y2=HEIGHT - BELOW, class_="axis"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="figure",
    )  # fmt: skip


def _bar(place: int, label: str, count: int, step: float, most: int) -> Markup:
    height = (HEIGHT - ABOVE - BELOW) * count / max(most, 1)
    # What is there is seen, however little it is.
    height = max(height, 1.0) if count else 0.0
    x, y = LEFT + place * step + 1, HEIGHT - BELOW - height
    box = tag(
        "rect",
        tag("title", f"{label}: {count:,}"),
        x=f"{x:.2f}",
        y=f"{y:.2f}",
        width=f"{max(step - 2, 1):.2f}",
        height=f"{height:.2f}",
    )
    words = tag("text", f"{count:,}", x=f"{x + step / 2 - 1:.2f}", y=f"{y - 4:.2f}")
    return tag("g", box, words if count and step > 24 else None)


def _label(place: int, label: str, step: float) -> Markup:
    return tag("text", label, x=f"{LEFT + (place + 0.5) * step:.2f}", y=HEIGHT - BELOW + 16)
