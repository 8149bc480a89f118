"""Simple shapes, and what they become: SVG, a page of HTML, or PNG.

SVG and HTML need nothing; PNG needs Pillow, which brings its own font (the extra `png`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeAlias

from nearly.errors import SettingsError

__all__ = ["Box", "Drawing", "Label", "Line", "Shape", "check_drawing", "rendered"]

#: Pixels of a PNG for one unit of a drawing: sharp on today's screens.
SCALE: Final = 2
SIZES: Final = {False: 12, True: 14}
INK: Final = "#333333"
ENDINGS: Final = (".svg", ".html", ".png")


@dataclass(frozen=True, kw_only=True)
class Box:
    """A filled rectangle; a browser shows `title` to who points at it."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points that are joined."""

    points: Sequence[tuple[float, float]]
    colour: str
    width: int = 1


@dataclass(frozen=True, kw_only=True)
class Label:
    """One line of text; `y` is where its letters stand."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False


Shape: TypeAlias = Box | Line | Label


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Shapes on white paper, the later ones on top."""

    width: int
    height: int
    shapes: Sequence[Shape]


def check_drawing(path: Path) -> None:
    """Refuse what cannot be drawn, before the long work starts."""
    if path.suffix.lower() not in ENDINGS:
        raise SettingsError(
            f"{str(path)!r} names no kind of picture; end it in {', '.join(ENDINGS)}"
        )
    if path.suffix.lower() == ".png" and find_spec("PIL") is None:
        raise SettingsError(
            f"{str(path)!r} is a PNG, which needs Pillow: pip install 'nearly[png]', "
            "or end the name in .svg or .html"
        )


def rendered(drawing: Drawing, path: Path) -> bytes:
    """The bytes of a file with that name."""
    check_drawing(path)
    match path.suffix.lower():
        case ".png":
            return _png(drawing)
        case ".html":
            page = f"<!doctype html>\n<meta charset=utf-8>\n<title>nearly</title>\n{_svg(drawing)}"
            return page.encode()
        case _:
            return _svg(drawing).encode()


def _svg(drawing: Drawing) -> str:
    size = f'width="{drawing.width}" height="{drawing.height}"'
    view = f'viewBox="0 0 {drawing.width} {drawing.height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {view} {size} role="img">',
            f"<style>text{{font:{SIZES[False]}px sans-serif;fill:{INK}}}"
            f".bold{{font-weight:bold;font-size:{SIZES[True]}px}}</style>",
            f'<rect {size} fill="#ffffff"/>',
            *map(_element, drawing.shapes),
            "</svg>\n",
        ]
    )


def _element(shape: Shape) -> str:
    match shape:
        case Box():
            place = f'x="{shape.x:g}" y="{shape.y:g}"'
            size = f'width="{shape.width:g}" height="{shape.height:g}"'
            title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
            return f'<rect {place} {size} fill="{shape.colour}">{title}</rect>'
        case Line():
            points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
            look = f'fill="none" stroke="{shape.colour}" stroke-width="{shape.width}"'
            return f'<polyline points="{points}" {look}/>'
        case Label():
            place = f'x="{shape.x:g}" y="{shape.y:g}" text-anchor="{shape.anchor}"'
            look = ' class="bold"' if shape.bold else ""
            return f"<text {place}{look}>{escape(shape.text)}</text>"


def _png(drawing: Drawing) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (drawing.width * SCALE, drawing.height * SCALE), "#ffffff")
    pen = ImageDraw.Draw(image)
    for shape in drawing.shapes:
        match shape:
            case Box():
                corner = ((shape.x + shape.width) * SCALE, (shape.y + shape.height) * SCALE)
                if shape.width > 0 and shape.height > 0:
                    pen.rectangle([(shape.x * SCALE, shape.y * SCALE), corner], shape.colour)
            case Line():
                points = [(x * SCALE, y * SCALE) for x, y in shape.points]
                pen.line(points, shape.colour, shape.width * SCALE, joint="curve")
            case Label():
                anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
                font = ImageFont.load_default(SIZES[shape.bold] * SCALE)
                place = (shape.x * SCALE, shape.y * SCALE)
                pen.text(place, shape.text, INK, font, anchor)
    written = io.BytesIO()
    image.save(written, "png")
    return written.getvalue()
