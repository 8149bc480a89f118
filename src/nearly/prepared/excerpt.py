"""A pair in a few words: what differs, and both texts around the first difference."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from nearly.text.difference import difference
from nearly.text.unit import Unit

__all__ = ["Excerpt", "Seen", "seen"]

#: Longer texts are compared on the page of their pair only.
LONGEST: Final = 20_000
#: Characters before what differs, of what differs, and after it.
BEFORE: Final = 30
DIFFERING: Final = 40
AFTER: Final = 50
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Excerpt:
    """A piece of a text: what differs first, and what stands beside it."""

    before: str
    differing: str
    after: str


@dataclass(frozen=True)
class Seen:
    """What a list says of a pair."""

    summary: str | None = None  # of the difference, in words
    a: Excerpt | None = None
    b: Excerpt | None = None


def seen(a: str | None, b: str | None, unit: Unit | None) -> Seen:
    """Compare two texts by unit, unless they are long or cannot be read."""
    if a is None or b is None or len(a) + len(b) > LONGEST:
        return Seen()
    if unit is None:
        return Seen(None, _excerpt(a, 0, 0), _excerpt(b, 0, 0))
    found = difference(a, b, unit)
    first = found.first
    if first is None:
        return Seen(found.summary, _excerpt(a, 0, 0), _excerpt(b, 0, 0))
    return Seen(
        found.summary,
        _excerpt(a, first.start_a, first.stop_a),
        _excerpt(b, first.start_b, first.stop_b),
    )


def _excerpt(text: str, start: int, stop: int) -> Excerpt:
    begin, end = max(0, start - BEFORE), stop + AFTER
    if stop - start > DIFFERING:
        stop = end = start + DIFFERING
    return Excerpt(
        ("…" if begin else "") + _plain(text[begin:start]),
        _plain(text[start:stop]),
        _plain(text[stop:end]) + ("…" if end < len(text) else ""),
    )


def _plain(piece: str) -> str:
    return _SPACE.sub(" ", piece)
