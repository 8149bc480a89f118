"""Pictures of the curve: whole, self-contained, and where they should be."""

import io
import re
import struct
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from nearly.drawing.curve import (
    BAR,
    BOTTOM,
    CURVE,
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    HEIGHT,
    LEFT,
    RIGHT,
    SCALE,
    TOP,
    WIDTH,
    Drawing,
    Label,
    Line,
    Polygon,
    check_format,
    draw_curve,
    render,
)
from nearly.errors import SettingsError
from nearly.tuning.banding import Banding, areas, curve
from nearly.tuning.hashing import MINHASH

SETTING = Banding(10, 10)


def polygons(drawing: Drawing, fill: str) -> list[Polygon]:
    found = [s for s in drawing.shapes if isinstance(s, Polygon) and s.fill == fill]
    return [polygon for polygon in found if len(polygon.points) > 4 or fill == BAR]


def area(polygon: Polygon) -> float:
    """By the shoelace formula, as a share of the frame."""
    points = [*polygon.points, polygon.points[0]]
    twice = sum(a * d - b * c for (a, b), (c, d) in pairwise(points))
    return abs(twice) / 2 / ((WIDTH - LEFT - RIGHT) * (HEIGHT - TOP - BOTTOM))


def test_the_shaded_areas_are_those_of_the_mathematics() -> None:
    drawing = draw_curve(SETTING, 0.7)
    beside = areas(SETTING.family, 0.7)
    (found,), (missed,) = polygons(drawing, FALSE_POSITIVE), polygons(drawing, FALSE_NEGATIVE)
    assert area(found) == pytest.approx(beside.false_positive, abs=2e-4)
    assert area(missed) == pytest.approx(beside.false_negative, abs=2e-4)


def test_the_curve_rises_from_corner_to_corner() -> None:
    (line,) = [
        s for s in draw_curve(SETTING, 0.7).shapes if isinstance(s, Line) and s.colour == CURVE
    ]
    assert line.points[0] == (LEFT, HEIGHT - BOTTOM)
    assert line.points[-1] == (WIDTH - RIGHT, TOP)
    middle = line.points[len(line.points) // 2]
    height = curve(0.5, 10, 10) * (HEIGHT - TOP - BOTTOM)
    assert middle[1] == pytest.approx(HEIGHT - BOTTOM - height, abs=0.01)


def test_bars_only_where_pairs_were_measured() -> None:
    assert polygons(draw_curve(SETTING, 0.7), BAR) == []
    assert len(polygons(draw_curve(SETTING, 0.7, MINHASH.pairs), BAR)) == 100
    assert len(polygons(draw_curve(SETTING, 0.7, [(0.05, 0.999), (0.85, 0.001)]), BAR)) == 2
    assert polygons(draw_curve(SETTING, 0.7, [(0.0, 1.0)]), BAR) == []


@pytest.mark.parametrize("threshold", [0.001, 0.5, 1.0])
@pytest.mark.parametrize("setting", [Banding(1, 1), Banding(1, 40), Banding(500, 1)])
def test_nothing_is_drawn_outside_the_picture(setting: Banding, threshold: float) -> None:
    for shape in draw_curve(setting, threshold, MINHASH.pairs).shapes:
        points = [shape.at] if isinstance(shape, Label) else shape.points
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)


def test_svg_is_well_formed_and_says_what_it_is() -> None:
    root = ET.fromstring(render(draw_curve(SETTING, 0.7, MINHASH.pairs), "svg"))  # noqa: S314
    namespace = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{namespace}title") == "10 bands of 10 rows, threshold 0.7"
    assert any("24.91%" in (text.text or "") for text in root.iter(f"{namespace}text"))


@pytest.mark.parametrize("form", ["svg", "html"])
def test_nothing_is_fetched(form: str) -> None:
    text = render(draw_curve(SETTING, 0.7, MINHASH.pairs), form).decode()
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|<link|src=|href=|@import|url\(", text)


def test_png_has_its_size_and_all_its_colours() -> None:
    image = pytest.importorskip("PIL.Image")
    data = render(draw_curve(SETTING, 0.7, MINHASH.pairs), "png")
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (WIDTH * SCALE, HEIGHT * SCALE)
    with image.open(io.BytesIO(data)) as picture:
        assert len(picture.getcolors(2**20)) > 20


def test_the_ending_says_the_format() -> None:
    assert [check_format(Path(name)) for name in ("a.svg", "b.PNG", "c.html")] == [
        "svg",
        "png",
        "html",
    ]
    with pytest.raises(SettingsError, match=r"curve.pdf is no picture .* \.svg, \.png or \.html"):
        check_format(Path("curve.pdf"))


def test_without_pillow_png_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.ImageDraw", None)
    with pytest.raises(SettingsError, match=r"pip install 'nearly\[plots\]'"):
        check_format(Path("curve.png"))
    assert check_format(Path("curve.svg")) == "svg"
