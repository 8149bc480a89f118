"""The curve of a setting, both areas shaded, over a corpus's similarities: as a picture.

A drawing is a list of shapes, and each format a small writer of shapes: SVG and HTML here, with
nothing fetched from anywhere; PNG by Pillow, which is an extra.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nearly.errors import SettingsError
from nearly.tuning.banding import Banding, areas
from nearly.tuning.hashing import Closenesses

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

__all__ = [
    "FORMATS",
    "Drawing",
    "Label",
    "Line",
    "Polygon",
    "Shape",
    "check_format",
    "draw_curve",
    "render",
]

FORMATS = ("svg", "png", "html")

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 64, 64, 96, 56
STEPS = 400
BARS = 100

INK, FAINT, PALE, PAPER = "#1f2933", "#8a94a0", "#e4e7eb", "#ffffff"
BAR, CURVE, FALSE_POSITIVE, FALSE_NEGATIVE = "#c8d3df", "#14538f", "#f4b36b", "#e4787a"


@dataclass(frozen=True)
class Polygon:
    """A filled shape."""

    points: Sequence[Point]
    fill: str


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: Sequence[Point]
    colour: str
    width: float = 1
    is_dashed: bool = False


@dataclass(frozen=True)
class Label:
    """Words; the point is where their base line starts, has its middle, or ends."""

    at: Point
    words: str
    colour: str = INK
    size: int = 12
    anchor: Anchor = "start"


Shape = Polygon | Line | Label


@dataclass(frozen=True)
class Drawing:
    """Shapes, the lowest one first, and a title that says what is seen."""

    title: str
    shapes: Sequence[Shape]
    width: int = WIDTH
    height: int = HEIGHT


def check_format(path: Path) -> str:
    """The format that the ending of a file asks for."""
    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise SettingsError(
            f"{path} is no picture that can be drawn; let its name end in "
            f"{', '.join('.' + name for name in FORMATS[:-1])} or .{FORMATS[-1]}"
        )
    if ending == "png":
        _pillow()
    return ending


def draw_curve(
    banding: Banding, threshold: float, similarities: Closenesses | None = None
) -> Drawing:
    """The chance of becoming a candidate, over the shares of a corpus's pairs.

    Shaded are what is found below the threshold and what is missed above it.
    """
    title = f"{banding.bands} bands of {banding.rows} rows, threshold {threshold:.4g}"
    curve = [_place(s, banding.family.probability(s)) for s in _STEPS]
    shapes = [
        *_histogram(similarities or ()),
        *_areas(banding, threshold),
        *_frame(),
        Line(curve, CURVE, 2.5),
        Line([_place(threshold, 0), _place(threshold, 1)], INK, 1.5, is_dashed=True),
        Label((12, 26), title, INK, 16),
        *_legend(banding, threshold),
    ]
    return Drawing(title, shapes)


_STEPS = [i / STEPS for i in range(STEPS + 1)]


def _place(similarity: float, height: float) -> Point:
    """Where in the picture a similarity and a share from 0 to 1 lie."""
    x = LEFT + similarity * (WIDTH - LEFT - RIGHT)
    y = HEIGHT - BOTTOM - height * (HEIGHT - TOP - BOTTOM)
    return round(x, 2), round(y, 2)


def _areas(banding: Banding, threshold: float) -> Iterator[Shape]:
    below = [*(s for s in _STEPS if s < threshold), threshold]
    above = [threshold, *(s for s in _STEPS if s > threshold)]
    found, missed = (
        [_place(s, banding.family.probability(s)) for s in part] for part in (below, above)
    )
    yield Polygon([_place(0, 0), *found, _place(threshold, 0)], FALSE_POSITIVE)
    yield Polygon([_place(threshold, 1), *missed, _place(1, 1)], FALSE_NEGATIVE)


def _histogram(similarities: Closenesses) -> Iterator[Shape]:
    """Bars of the logarithm: in any corpus most pairs are near 0, and the others matter."""
    bars = [0.0] * BARS
    for similarity, share in similarities:
        bars[min(BARS - 1, int(similarity * BARS))] += share
    lowest = math.floor(math.log10(min((bar for bar in bars if bar > 0), default=1)))
    if lowest == 0:
        return
    for i, bar in enumerate(bars):
        if bar > 0:
            height = 1 - math.log10(bar) / lowest
            (left, bottom), (right, top) = _place(i / BARS, 0), _place((i + 1) / BARS, height)
            corners = [(left, bottom), (left, top), (right - 1, top), (right - 1, bottom)]
            yield Polygon(corners, BAR)
    for power in range(0, lowest - 1, -max(1, -lowest // 5)):
        x, y = _place(1, 1 - power / lowest)
        yield Label((x + 8, y + 4), f"1e{power}" if power else "1", FAINT, 11)
    yield Label((WIDTH - 12, TOP - 16), "share of pairs", FAINT, 11, "end")


def _frame() -> Iterator[Shape]:
    for tenth in range(11):
        x, y = _place(tenth / 10, 0)
        yield Line([(x, y), (x, y + 5)], INK)
        yield Label((x, y + 20), f"{tenth / 10:g}", INK, 12, "middle")
    for quarter in range(5):
        (x, y), (right, _) = _place(0, quarter / 4), _place(1, 0)
        if quarter:
            yield Line([(x, y), (right, y)], PALE)
        yield Label((x - 8, y + 4), f"{quarter / 4:g}", INK, 12, "end")
    yield Line([_place(0, 1), _place(0, 0), _place(1, 0)], INK)
    middle, _ = _place(0.5, 0)
    yield Label((middle, HEIGHT - 14), "similarity", INK, 13, "middle")
    yield Label((12, TOP - 16), "chance of becoming a candidate", INK, 12)


def _legend(banding: Banding, threshold: float) -> Iterator[Shape]:
    beside = areas(banding.family, threshold)
    recall = banding.recall(threshold)
    entries = [
        (CURVE, f"finds {recall:.2%} of pairs at the threshold"),
        (FALSE_POSITIVE, f"false positives: area {beside.false_positive:.4f}"),
        (FALSE_NEGATIVE, f"false negatives: area {beside.false_negative:.4f}"),
    ]
    for x, (colour, words) in zip((12, 290, 500), entries, strict=True):
        yield Polygon([(x, 42), (x + 12, 42), (x + 12, 53), (x, 53)], colour)
        yield Label((x + 20, 52), words)


def render(drawing: Drawing, format: str) -> bytes:  # noqa: A002
    """The bytes of a file in one of the formats."""
    if format == "png":
        return _png(drawing)
    return (_svg(drawing) if format == "svg" else _html(drawing)).encode()


# SVG, and a page around it


def _svg(drawing: Drawing) -> str:
    shapes = "\n".join(map(_svg_shape, drawing.shapes))
    size = f'width="{drawing.width}" height="{drawing.height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'{size} role="img" '
        f'font-family="system-ui, sans-serif">\n<title>{escape(drawing.title)}</title>\n'
        f'<rect {size} fill="{PAPER}"/>\n{shapes}\n</svg>\n'
    )


def _svg_shape(shape: Shape) -> str:
    match shape:
        case Polygon(points, fill):
            return f'<polygon points="{_svg_points(points)}" fill="{fill}" fill-opacity="0.75"/>'
        case Line(points, colour, width, is_dashed):
            dashes = ' stroke-dasharray="5 4"' if is_dashed else ""
            return (
                f'<polyline points="{_svg_points(points)}" fill="none" stroke="{colour}" '
                f'stroke-width="{width:g}"{dashes}/>'
            )
        case Label((x, y), words, colour, size, anchor):
            return (
                f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}" '
                f'text-anchor="{anchor}">{escape(words)}</text>'
            )


def _svg_points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _html(drawing: Drawing) -> str:
    title = escape(drawing.title)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        "<style>body{margin:2rem auto;max-width:60rem;font-family:system-ui,sans-serif}"
        f"svg{{width:100%;height:auto}}</style>\n<body>\n{_svg(drawing)}</body>\n</html>\n"
    )


# PNG: the same shapes, twice as large, so that letters are sharp

SCALE = 2


def _pillow() -> Any:
    try:
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError:
        raise SettingsError(
            "drawing PNG needs Pillow, which is not installed; install it with "
            "pip install 'nearly[plots]', or draw .svg or .html"
        ) from None
    return PIL


def _png(drawing: Drawing) -> bytes:
    import io

    pillow = _pillow()
    image = pillow.Image.new("RGB", (drawing.width * SCALE, drawing.height * SCALE), PAPER)
    canvas = pillow.ImageDraw.Draw(image, "RGBA")
    for shape in drawing.shapes:
        _png_shape(canvas, shape)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def _png_shape(canvas: "ImageDraw", shape: Shape) -> None:
    match shape:
        case Polygon(points, fill):
            canvas.polygon(_scaled(points), fill=f"{fill}bf")
        case Line(points, colour, width, is_dashed):
            parts = _dashes(points) if is_dashed else [points]
            for part in parts:
                canvas.line(_scaled(part), colour, round(width * SCALE), joint="curve")
        case Label(at, words, colour, size, anchor):
            font = _pillow().ImageFont.load_default(size * SCALE)
            corner = {"start": "ls", "middle": "ms", "end": "rs"}[anchor]
            canvas.text(_scaled([at])[0], words, fill=colour, font=font, anchor=corner)


def _scaled(points: Sequence[Point]) -> list[Point]:
    return [(x * SCALE, y * SCALE) for x, y in points]


def _dashes(points: Sequence[Point]) -> list[list[Point]]:
    """A straight line in pieces of five, with gaps of four."""
    (x, y), (to_x, to_y) = points
    length = math.hypot(to_x - x, to_y - y)
    step_x, step_y = (to_x - x) / length, (to_y - y) / length
    starts = range(0, int(length), 9)
    ends = [min(length, start + 5) for start in starts]
    return [
        [(x + step_x * a, y + step_y * a), (x + step_x * b, y + step_y * b)]
        for a, b in zip(starts, ends, strict=True)
    ]
