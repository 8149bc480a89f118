"""Shapes as SVG, HTML and PNG."""

import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PIL import Image

from nearly import drawing
from nearly.drawing import Box, Drawing, Label, Line, check_drawing, rendered
from nearly.errors import SettingsError

SHAPES = Drawing(
    width=100,
    height=50,
    shapes=[
        Box(x=10, y=10, width=20, height=30, colour="#ff0000", title="3 < 4 & more"),
        Line(points=[(40, 5), (40, 45)], colour="#0000ff", width=2),
        Label(x=60, y=30, text="<b>", anchor="middle", bold=True),
    ],
)
NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def test_svg_holds_every_shape_and_escapes_text():
    root = ElementTree.fromstring(rendered(SHAPES, Path("a.svg")))  # noqa: S314 - our own
    assert root.get("viewBox") == "0 0 100 50"
    box = root.findall("svg:rect", NAMESPACE)[1]
    assert (box.get("x"), box.get("height"), box.get("fill")) == ("10", "30", "#ff0000")
    assert box.find("svg:title", NAMESPACE).text == "3 < 4 & more"
    assert root.find("svg:polyline", NAMESPACE).get("points") == "40,5 40,45"
    assert root.find("svg:text", NAMESPACE).text == "<b>"


def test_html_is_a_page_around_the_svg():
    page = rendered(SHAPES, Path("a.HTML")).decode()
    assert page.startswith("<!doctype html>")
    assert rendered(SHAPES, Path("a.svg")).decode() in page


def test_png_has_the_colours_where_they_belong():
    image = Image.open(io.BytesIO(rendered(SHAPES, Path("a.png"))))
    assert image.size == (200, 100)
    assert image.getpixel((40, 50)) == (255, 0, 0)
    assert image.getpixel((80, 50)) == (0, 0, 255)
    assert image.getpixel((5, 5)) == (255, 255, 255)
    letters = image.crop((100, 40, 140, 64)).convert("L")
    assert letters.getextrema()[0] < 128


def test_other_endings_are_refused():
    with pytest.raises(SettingsError, match=r"'a.gif' names no kind of picture.*\.svg"):
        check_drawing(Path("a.gif"))


def test_png_without_pillow_says_what_to_do(monkeypatch):
    monkeypatch.setattr(drawing, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"nearly\[png\]"):
        check_drawing(Path("a.png"))
    check_drawing(Path("a.svg"))
