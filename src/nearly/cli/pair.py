"""Pairs in a terminal: both texts around their first difference, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

from nearly.cli.line import ELLIPSIS, Line, Screen, Style
from nearly.cli.mark import DIFFERS, Mark, marked
from nearly.cli.terminal import one_line, short
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.settings import Settings
    from nearly.stages.around import Around

__all__ = ["print_around", "print_pairs"]

_GAP: Final = "  "
_NUMBER: Final = 6
#: The least width of a name and of a text that is worth showing.
_LEAST: Final = 8


def print_pairs(pairs: Sequence[Mapping[str, Any]], file: TextIO) -> None:
    """Rows of `Found.top`, three lines each: both texts from the same place on, and a summary."""
    from rich.cells import cell_len

    screen = Screen(file)
    names = [_name(pair, side) for pair in pairs for side in "ab"]
    name_width = min(max(map(cell_len, names), default=0), max(_LEAST, screen.width // 3))
    text_width = max(_LEAST, screen.width - _NUMBER - name_width - 2 * len(_GAP))
    for pair in pairs:
        texts = _texts(pair, text_width, colour=screen.colour)
        margins = (_value(pair), " " * _NUMBER)
        for margin, side, text in zip(margins, "ab", texts, strict=True):
            shown = _cut_left(_name(pair, side), name_width)
            screen.print(_line(margin, shown, text))
        if (summary := _summary(pair)) is not None:
            screen.print(Line((summary, Style(dim=True))).cut(screen.width))


def _value(pair: Mapping[str, Any]) -> str:
    """A similarity, or a distance."""
    if "similarity" in pair:
        return short(pair["similarity"])
    return f"{_in_room(pair['distance']):<{_NUMBER}}"


def _in_room(number: float) -> str:
    """With as many digits as there is room for: 0.0000371 is about 4e-05."""
    written = (f"{number:.{digits}g}" for digits in range(_NUMBER, 0, -1))
    return next(each for each in written if len(each) <= _NUMBER)


def _name(pair: Mapping[str, Any], side: str) -> str:
    """The id and, where ids repeat, the place."""
    name = one_line(str(pair[f"id_{side}"]))
    if f"row_{side}" not in pair:
        return name
    file = pair[f"file_{side}"]
    return one_line(f"{name} ({'row ' if file is None else f'{file}:'}{pair[f'row_{side}']})")


def print_around(around: Around, settings: Settings, file: TextIO) -> None:
    """The pairs on both sides of the threshold, the most similar first, and what they are."""
    above, below = around.above.to_pylist(), around.below.to_pylist()
    print_pairs(above[::-1], file)
    found = f"{len(above)} of the least similar pairs" if above else "no pair but copies"
    missed = count(len(below), "near miss", "near misses") if below else "no near miss"
    whose = (
        f"all {around.documents:,} distinct documents"
        if around.searched == around.documents
        else f"{around.searched:,} of {around.documents:,} distinct documents"
    )
    limit, sides, end = f"threshold {settings.threshold:g}", ("above", "below"), "down to half the"
    if settings.within is not None:
        limit, sides, end = f"distance {settings.within:g}", ("within", "beyond"), "up to twice the"
    noun = limit.split()[0]
    print(f"--- {limit}: {found} {sides[0]}, {missed} {sides[1]} ---", file=file)
    print_pairs(below, file)
    print(f"--- near misses of {whose}, {end} {noun} ---", file=file)


def _line(margin: str, name: str, text: Line) -> Line:
    before = (margin, Style(bold=True)), (_GAP, None), (name, Style("cyan")), (_GAP, None)
    return Line(*before, *text.pieces)


def _summary(pair: Mapping[str, Any]) -> str | None:
    """What differs, and how much; nothing of vectors, which have no words."""
    from nearly.text.difference import Difference

    unit = pair.get("unit", "word")  # results that were saved before have no other one
    if unit is None:
        return None
    summary = "too long to be compared word by word"
    if pair["difference"] is not None:
        told = pair["difference"], (), pair["differing"], pair["words"], unit
        summary = Difference(*told).summary
    return " " * (_NUMBER + len(_GAP)) + _shares(pair) + summary


def _shares(pair: Mapping[str, Any]) -> str:
    """How much of each stands in the other, where the measure is containment."""
    if "containment_a" not in pair:
        return ""
    a, b = (f"{pair[f'containment_{side}']:.0%}" for side in "ab")
    return f"{a} of the first, {b} of the second; "


def _cut_left(name: str, width: int) -> str:
    """The name in exactly this many cells; the end of a long path says more than its beginning."""
    from rich.cells import cell_len, set_cell_size

    while cell_len(name) > width:
        name = ELLIPSIS + name.removeprefix(ELLIPSIS)[1:]
    return set_cell_size(name, width)


def _texts(pair: Mapping[str, Any], width: int, *, colour: bool) -> tuple[Line, Line]:
    """Both texts from the same place on: from the beginning if the first difference is in sight."""
    a, b = (marked(_pieces(pair, side), colour=colour) for side in "ab")
    same, longer = _common_beginning(a.plain, b.plain), max(len(a.plain), len(b.plain))
    is_seen = same < width * 2 // 3 or same == longer
    # From a bit before the difference on, or further left where that leaves the line half empty.
    start = 0 if is_seen else max(0, min(same - width // 3, longer - width + 1))
    is_cut = start > 0 or min(pair["start_a"], pair["start_b"]) > 0
    before = [(ELLIPSIS, None)] if is_cut else []
    shown_a, shown_b = (Line(*before, *line.part(start).pieces).cut(width) for line in (a, b))
    return shown_a, shown_b


def _common_beginning(a: str, b: str) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((place for place, (x, y) in pairs if x != y), min(len(a), len(b)))


def _pieces(pair: Mapping[str, Any], side: str) -> Iterator[tuple[str, Mark | None]]:
    text, end = pair[f"text_{side}"], 0
    for mark in pair[f"marks_{side}"]:
        yield text[end : mark["start"]], None
        yield text[mark["start"] : mark["stop"]], DIFFERS
        end = mark["stop"]
    yield text[end:], None
