"""The pictures of an evaluation: every bar and every point where it belongs."""

import runpy
from pathlib import Path

import pytest

from nearly.drawing.chart import FALSE, LINES, PANEL, TRUE, WIDTH, draw
from nearly.drawing.curve import Label, Line, Polygon, render
from nearly.evaluation.agreement import Bar, Cut, PairCounts

BARS = [
    Bar(low=0.9, high=0.95, true=30, false=10),
    Bar(low=0.95, high=1.0, true=0, false=20),
]
CUTS = [
    Cut(threshold=0.5, pairs=PairCounts(found=10, gold=10, true=5)),
    Cut(threshold=0.75, pairs=PairCounts(found=4, gold=10, true=4)),
    Cut(threshold=1.0, pairs=PairCounts(found=0, gold=10, true=0)),
]


def corners(polygon):
    """Left, top, right, bottom."""
    xs, ys = zip(*polygon.points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def test_bars_stand_on_each_other_in_proportion():
    polygons = [shape for shape in draw(BARS, []).shapes if isinstance(shape, Polygon)]
    key, bars = polygons[:2], polygons[2:]
    assert {shape.fill for shape in key} == {TRUE, FALSE}
    assert [shape.fill for shape in bars] == [TRUE, FALSE, FALSE]
    true, false, alone = map(corners, bars)
    height = false[3] - false[1]
    assert true[3] - true[1] == pytest.approx(3 * height)
    assert alone[3] - alone[1] == pytest.approx(2 * height)
    assert true[1] == false[3]
    assert alone[3] == true[3]
    assert true[2] < alone[0]


def test_lines_go_through_every_share_that_exists():
    drawn = draw([], CUTS)
    lines = {s.colour: s for s in drawn.shapes if isinstance(s, Line) and s.width == 2}
    precision, recall = (lines[LINES[name][1]] for name in ("precision", "recall"))
    assert len(precision.points) == 2
    assert len(recall.points) == 3
    (x1, y1), (x2, y2) = precision.points
    assert x2 > x1
    assert y2 < y1
    assert recall.points[0][1] == y1


def test_panels_stand_one_below_the_other_and_nothing_leaves_the_page():
    drawn = draw(BARS, CUTS)
    assert (drawn.width, drawn.height) == (WIDTH, 2 * PANEL)
    titles = [s for s in drawn.shapes if isinstance(s, Label) and s.size == 14]
    assert [title.at[1] > PANEL for title in titles] == [False, True]
    for shape in drawn.shapes:
        points = [shape.at] if isinstance(shape, Label) else shape.points
        assert all(0 <= x <= WIDTH and 0 <= y <= drawn.height for x, y in points)


def test_a_sweep_of_one_threshold_is_drawn():
    assert draw([], CUTS[:1]).height == PANEL


def test_the_picture_of_measures_is_what_its_tool_draws() -> None:
    tools = Path(__file__).parents[1] / "tools" / "draw_measures.py"
    drawing = runpy.run_path(str(tools))
    assert drawing["PATH"].read_bytes() == render(drawing["draw"](), "svg")
    by_words = drawing["values_of"](drawing["PANELS"]["words"])
    assert by_words["a", "c"] == by_words["c", "d"] == 1.0
    by_bags = drawing["values_of"](drawing["PANELS"]["bags of words"])
    assert by_bags["a", "d"] == 0.5
    by_powers = drawing["values_of"](drawing["PANELS"]["minkowski 3, of word counts"])
    assert by_powers["a", "b"] == pytest.approx(2 ** (1 / 3))
