"""Figures of the web app as SVG: functions from numbers to markup, which scripts may move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from nearly.markup import Markup, tag
from nearly.prepared.tuner import Tuned
from nearly.view.overview import Bar

__all__ = ["histogram", "s_curve"]

WIDTH: Final = 640
HEIGHT: Final = 200
SIDE: Final = 8
ABOVE: Final = 8
BELOW: Final = 24
MOST_LABELS: Final = 10


def histogram(title: str, bars: Sequence[Bar]) -> Markup:
    """A bar for each count; both heights are given, so that a script can change the scale."""
    step = (WIDTH - 2 * SIDE) / max(len(bars), 1)
    most = max((bar.total for bar in bars), default=0)
    every = -(-len(bars) // MOST_LABELS)
    labels = [
        tag("text", f"{bar.low:g}", x=f"{SIDE + place * step:.2f}", y=HEIGHT - BELOW + 16)
        for place, bar in enumerate(bars)
        if place % every == 0
    ]
    return tag(
        "svg",
        tag("title", title),
        [_bar(bar, SIDE + place * step, step, most) for place, bar in enumerate(bars)],
        labels,
        tag("line", x1=SIDE, x2=WIDTH - SIDE, y1=HEIGHT - BELOW, y2=HEIGHT - BELOW, class_="axis"),
        tag("line", x1=0, x2=0, y1=0, y2=HEIGHT - BELOW, class_="threshold", id="threshold"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="figure histogram",
    )


def _bar(bar: Bar, x: float, step: float, most: int) -> Markup:
    room = HEIGHT - ABOVE - BELOW
    linear = max(room * bar.total / max(most, 1), 1.0 if bar.total else 0.0)
    log = room * math.log1p(bar.total) / max(math.log1p(most), 1e-9)
    # Logarithmic at first: a few pairs are what people look for.
    return tag(
        "rect",
        tag("title", f"{bar.low:g} to {bar.high:g}: {bar.total:,}"),
        x=f"{x + 0.5:.2f}",
        y=f"{HEIGHT - BELOW - log:.2f}",
        width=f"{max(step - 1, 1):.2f}",
        height=f"{log:.2f}",
        data_log=f"{log:.2f}",
        data_linear=f"{linear:.2f}",
        data_low=f"{bar.low:g}",
        data_high=f"{bar.high:g}",
    )


#: The field of the curve: similarity to the right, chance upwards, both from 0 to 1.
LEFT, RIGHT, TOP, BOTTOM = 44, 632, 12, 276


def s_curve(seen: Tuned) -> Markup:
    """The curve with both areas beside it, over the pairs of a corpus; a script moves it."""
    return tag(
        "svg",
        tag("title", f"{seen.bands} bands of {seen.rows} rows at threshold {seen.threshold:g}"),
        list(_log_bars(seen.bars)),
        tag("polygon", points=_area(seen, below=True), class_="positive"),
        tag("polygon", points=_area(seen, below=False), class_="negative"),
        tag("polyline", points=_points(seen.curve), class_="curve"),
        _upright(seen.threshold),
        list(_axes()),
        viewBox=f"0 0 {WIDTH} 320",
        role="img",
        class_="figure s-curve",
        data_field=f"{LEFT} {RIGHT} {TOP} {BOTTOM}",
    )


def _x(similarity: float) -> float:
    return LEFT + similarity * (RIGHT - LEFT)


def _y(chance: float) -> float:
    return BOTTOM - chance * (BOTTOM - TOP)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_x(s):.1f},{_y(chance):.1f}" for s, chance in places)


def _area(seen: Tuned, *, below: bool) -> str:
    """Under the curve up to the threshold, or above the curve from there on."""
    at = seen.threshold
    if below:
        return _points([(0, 0), *(each for each in seen.curve if each[0] <= at), (at, 0)])
    return _points([(at, 1), *(each for each in seen.curve if each[0] >= at), (1, 1)])


def _upright(threshold: float) -> Markup:
    x = f"{_x(threshold):.1f}"
    return tag("line", x1=x, x2=x, y1=TOP, y2=BOTTOM, class_="threshold")


def _log_bars(bars: Sequence[Bar]) -> Iterator[Markup]:
    most = max((bar.total for bar in bars), default=0)
    for bar in bars:
        height = math.log1p(bar.total) / max(math.log1p(most), 1e-9)
        yield tag(
            "rect",
            tag("title", f"{bar.low:g} to {bar.high:g}: about {bar.total:,}"),
            x=f"{_x(bar.low) + 0.5:.1f}",
            y=f"{_y(height):.1f}",
            width=f"{_x(bar.high) - _x(bar.low) - 1:.1f}",
            height=f"{height * (BOTTOM - TOP):.1f}",
        )


def _axes() -> Iterator[Markup]:
    yield tag("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="axis")
    for tenth in range(0, 11, 2):
        yield tag("text", f"{tenth / 10:g}", x=f"{_x(tenth / 10):.1f}", y=BOTTOM + 18)
    for half in (0, 0.5, 1):
        yield tag("text", f"{half:.0%}", x=LEFT - 20, y=f"{_y(half) + 4:.1f}")
    yield tag("text", "similarity", x=f"{_x(0.5):.1f}", y=BOTTOM + 38)
