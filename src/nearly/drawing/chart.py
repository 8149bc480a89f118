"""Draws an evaluation: found pairs by similarity, precision and recall by threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nearly.drawing.curve import Drawing, Label, Line, Polygon, Shape
from nearly.evaluation.agreement import Bar, Cut

__all__ = ["draw"]

WIDTH: Final = 720
PANEL: Final = 300
LEFT, RIGHT, ABOVE, BELOW = 70, 20, 50, 50

AXIS, GRID = "#333333", "#dddddd"
TRUE, FALSE = "#2a7f62", "#d95f43"
LINES: Final = {
    "precision": ("precision", "#3b6fb6"),
    "recall": ("recall", "#2a7f62"),
    "f1": ("F1", "#8a5fb0"),
}


def draw(bars: Sequence[Bar], cuts: Sequence[Cut]) -> Drawing:
    """One picture with a panel for each thing there is to see."""
    panels: list[Iterator[Shape]] = []
    if bars:
        panels.append(_bars(bars, top=0))
    if cuts:
        panels.append(_sweep(cuts, top=PANEL * len(panels)))
    shapes = [shape for panel in panels for shape in panel]
    return Drawing("What was found, by the truth", shapes, WIDTH, PANEL * len(panels))


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """Where a panel's values lie on the page."""

    top: int
    left_value: float
    right_value: float
    highest: float

    def x(self, value: float) -> float:
        share = (value - self.left_value) / ((self.right_value - self.left_value) or 1)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 2)

    def y(self, value: float) -> float:
        share = value / self.highest
        return round(self.top + PANEL - BELOW - share * (PANEL - ABOVE - BELOW), 2)

    def axes(self, title: str, below: str, ticks: Sequence[float]) -> Iterator[Shape]:
        """Title, five lines across and the given ticks below."""
        yield Label((LEFT, self.top + 22), title, size=14)
        for step in range(5):
            value = self.highest * step / 4
            y = self.y(value)
            colour = GRID if step else AXIS
            yield Line([(LEFT, y), (WIDTH - RIGHT, y)], colour)
            yield Label((LEFT - 8, y + 4), _number(value), anchor="end")
        for tick in ticks:
            yield Label((self.x(tick), self.y(0) + 18), f"{tick:g}", anchor="middle")
        middle = (LEFT + WIDTH - RIGHT) / 2
        yield Label((middle, self.y(0) + 38), below, anchor="middle")


def _bars(bars: Sequence[Bar], top: int) -> Iterator[Shape]:
    """True pairs below, false ones on top of them."""
    frame = _Frame(
        top=top,
        left_value=bars[0].low,
        right_value=bars[-1].high,
        highest=_round_up(max(bar.true + bar.false for bar in bars)),
    )
    ticks = [*(bar.low for bar in bars), bars[-1].high]
    yield from frame.axes("Found pairs by similarity", "similarity", _thinned(ticks))
    yield from _key(top, [("true", TRUE), ("false", FALSE)])
    for bar in bars:
        if bar.true:
            yield _box(frame, bar, 0, bar.true, TRUE)
        if bar.false:
            yield _box(frame, bar, bar.true, bar.true + bar.false, FALSE)


def _box(frame: _Frame, bar: Bar, low: int, high: int, colour: str) -> Polygon:
    left, right = frame.x(bar.low) + 1, frame.x(bar.high) - 1
    return _rectangle(left, frame.y(high), right, frame.y(low), colour)


def _rectangle(left: float, top: float, right: float, bottom: float, colour: str) -> Polygon:
    return Polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)


def _sweep(cuts: Sequence[Cut], top: int) -> Iterator[Shape]:
    first, last = cuts[0].threshold, cuts[-1].threshold
    frame = _Frame(top=top, left_value=first, right_value=last, highest=1)
    ticks = _thinned([cut.threshold for cut in cuts])
    yield from frame.axes("Precision and recall by threshold", "threshold", ticks)
    yield from _key(top, list(LINES.values()))
    for name, (_, colour) in LINES.items():
        # Where nothing is found there is no precision: the line ends.
        shares = ((cut.threshold, getattr(cut.pairs, name)) for cut in cuts)
        points = [(frame.x(t), frame.y(share)) for t, share in shares if share is not None]
        yield Line(points, colour, 2)


def _key(top: int, entries: Sequence[tuple[str, str]]) -> Iterator[Shape]:
    for place, (name, colour) in enumerate(reversed(entries)):
        x = WIDTH - RIGHT - 80 * (place + 1)
        yield _rectangle(x, top + 13, x + 10, top + 23, colour)
        yield Label((x + 15, top + 22), name)


def _thinned(ticks: Sequence[float]) -> Sequence[float]:
    """As many as can stand side by side."""
    return ticks[:: 1 + len(ticks) // 22]


def _round_up(count: int) -> int:
    """The next number whose quarters are easy to read."""
    step = 4 * int(10 ** max(len(str(count)) - 2, 0))
    return max(-(-count // step) * step, 4)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.2f}"
