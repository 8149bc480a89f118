"""Draws docs/peers.svg from results/peers.json: time against recall on debian, one panel a unit.

python bench/peers_picture.py
"""

import json
import math
from collections.abc import Iterator
from typing import Any

import harness

from nearly.drawing.curve import Drawing, Label, Line, Polygon, Shape, render

WIDTH, HEIGHT, LEFT, RIGHT, ABOVE, BELOW = 430, 320, 60, 30, 50, 50
GRID, AXIS = "#dddddd", "#333333"
OURS, THEIRS = "#14538f", "#b3541e"
RADIUS = 5
LEAST_RECALL = 0.5
UNITS = {"char": "characters, k = 5", "word": "words, k = 5"}
PICTURE = harness.BENCH.parent / "docs" / "peers.svg"


def drawn(corpus: dict[str, Any]) -> bytes:
    """Seconds on a logarithmic axis to the right, recall upwards: the best is above on the left."""
    seconds = [each["median"] for unit in UNITS for each in corpus[unit].values()]
    decades = range(math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds))) + 1)
    shapes = [
        shape
        for number, unit in enumerate(UNITS)
        for shape in panel(number * WIDTH, UNITS[unit], corpus[unit], decades)
    ]
    title = "Time and recall on 63,620 package descriptions"
    return render(Drawing(title, shapes, WIDTH * len(UNITS), HEIGHT), "svg")


def panel(left: int, title: str, measured: dict[str, Any], decades: range) -> Iterator[Shape]:
    """A frame, and a mark with its name for each contender."""

    def x(seconds: float) -> float:
        share = (math.log10(seconds) - decades[0]) / (decades[-1] - decades[0])
        return round(left + LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(recall: float) -> float:
        share = (max(recall, LEAST_RECALL) - LEAST_RECALL) / (1 - LEAST_RECALL)
        return round(HEIGHT - BELOW - share * (HEIGHT - ABOVE - BELOW), 1)

    yield Label((left + LEFT, 22), title, size=14)
    for decade in decades:
        place = x(10.0**decade)
        yield Line([(place, ABOVE), (place, HEIGHT - BELOW)], GRID)
        yield Label((place, HEIGHT - BELOW + 18), f"{10.0**decade:g} s", AXIS, anchor="middle")
    for recall in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        yield Line([(left + LEFT, y(recall)), (left + WIDTH - RIGHT, y(recall))], GRID)
        yield Label((left + LEFT - 8, y(recall) + 4), f"{recall:g}", AXIS, anchor="end")
    yield Label((left + LEFT, ABOVE - 12), "recall", AXIS)
    taken: list[tuple[float, float]] = []
    for name, each in sorted(measured.items(), key=lambda item: item[1]["median"]):
        at = x(each["median"]), y(each["recall"])
        yield mark(*at, OURS if name.startswith("nearly") else THEIRS)
        # Names below each other where marks are near.
        words = at[1] + 16
        while any(abs(at[0] - a) < 90 and abs(words - b) < 13 for a, b in taken):
            words += 13
        taken.append((at[0], words))
        is_right = at[0] > left + WIDTH - RIGHT - 90
        yield Label((at[0], words), name, AXIS, 11, "end" if is_right else "start")


def mark(x: float, y: float, colour: str) -> Polygon:
    """A dot with corners."""
    corners = [(math.cos(math.tau * i / 12), math.sin(math.tau * i / 12)) for i in range(12)]
    return Polygon(
        [(round(x + RADIUS * a, 1), round(y + RADIUS * b, 1)) for a, b in corners], colour
    )


def main() -> None:
    measured = json.loads((harness.RESULTS / "peers.json").read_text())["corpora"]["debian"]
    PICTURE.write_bytes(drawn(measured))


if __name__ == "__main__":
    main()
