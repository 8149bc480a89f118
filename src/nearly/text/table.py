"""Differences as columns: of every pair the kind, of a few pairs the texts around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from nearly.arrays import Bytes, characters_in, column_of, string_array
from nearly.text.kind import fingerprint, kind_of_fingerprints

if TYPE_CHECKING:
    from nearly.text.difference import Difference
    from nearly.text.unit import Unit

__all__ = ["MARKS", "Glimpse", "excerpt_columns", "glimpse", "with_difference"]

#: Documents whose texts are held at once.
AT_ONCE: Final = 10_000
#: Characters of an excerpt, and how many of them stand before the first difference.
ROOM: Final = 300
BEFORE: Final = 100
#: Bytes of a text from which on only a piece is looked at, and bytes of that piece.
LONGEST: Final = 2**20
PIECE: Final = 2**14
#: Where an excerpt differs: starts and stops of pieces.
ENDS: Final = ("start", "stop")
MARKS: Final = pa.list_(pa.struct([(end, pa.int32()) for end in ENDS]))


def with_difference(
    pairs: pa.Table,
    first: Sequence[Any],
    second: Sequence[Any],
    read_texts: Callable[[Sequence[Any]], Sequence[str]],
) -> pa.Table:
    """The pairs with a column `difference`; no more is held of a text than its fingerprint.

    `first` and `second` are the documents of each pair, as `read_texts` takes them.
    """
    documents = list(dict.fromkeys([*first, *second]))
    known: dict[Any, bytes] = {}
    for start in range(0, len(documents), AT_ONCE):
        some = documents[start : start + AT_ONCE]
        known.update(zip(some, map(fingerprint, read_texts(some)), strict=True))
    ends = zip(first, second, strict=True)
    kinds = [kind_of_fingerprints(known[a], known[b]) for a, b in ends]
    return pairs.append_column("difference", pa.array(kinds, pa.string()))


class Glimpse(NamedTuple):
    """Both texts of a pair; of long ones a piece, which begins after so many characters."""

    a: str
    b: str
    before: int = 0
    is_whole: bool = True


def glimpse(a: Bytes, b: Bytes) -> Glimpse:
    """Both texts, or what stands around their first difference."""
    if max(len(a), len(b)) <= LONGEST:
        return Glimpse(_text(a), _text(b))
    start = max(0, _first_difference(a, b) - 4 * BEFORE)  # a character has four bytes at most
    while start > 0 and a[start] & 0xC0 == 0x80:
        start -= 1
    piece = slice(start, start + PIECE)
    return Glimpse(_text(a[piece]), _text(b[piece]), characters_in(a[:start]), is_whole=False)


def _text(piece: Bytes) -> str:
    return piece.tobytes().decode(errors="ignore")  # a piece may end inside a character


def _first_difference(a: Bytes, b: Bytes) -> int:
    """Where the bytes of two texts differ first, or the shorter one ends."""
    shorter = min(len(a), len(b))
    for start in range(0, shorter, LONGEST):
        stop = min(start + LONGEST, shorter)
        differs = a[start:stop] != b[start:stop]
        if differs.any():
            return start + int(np.argmax(differs))
    return shorter


def excerpt_columns(seen: Sequence[Glimpse], unit: Unit | None) -> dict[str, pa.Array]:
    """Of each pair of texts, what differs and both texts around the first difference.

    `difference` is its kind, `differing` of `words` differ, or of whatever `unit` says; these are
    null where a text is too long to be compared word by word. Without a unit, nothing is compared.
    `text_a` is the piece of the text that begins at `start_a`, and `marks_a` says where it differs;
    the same for b.
    """
    rows = [_row(*each, unit) for each in seen]
    return {
        name: _column([row[name] for row in rows], kind)
        for name, kind in (
            ("difference", pa.string()),
            ("differing", pa.int64()),
            ("words", pa.int64()),
            ("unit", pa.string()),
            *((f"{name}_{side}", kind) for side in "ab" for name, kind in _SIDE),
        )
    }


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """See `nearly.arrays`: `pa.array` would import pandas, and is left to long texts."""
    if None in values:
        return pa.array(values, kind)
    if kind == pa.string():
        return string_array(values, kind)
    if kind == pa.int64():
        return column_of(np.array(values, np.int64))
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    edges = [np.array([mark[end] for marks in values for mark in marks], np.int32) for end in ENDS]
    pieces = pa.StructArray.from_arrays(
        [column_of(edge) for edge in edges], fields=list(kind.value_type)
    )
    return pa.ListArray.from_arrays(column_of(ends), pieces, type=kind)


_SIDE: Final = (("text", pa.string()), ("start", pa.int64()), ("marks", MARKS))


def _row(a: str, b: str, before: int, is_whole: bool, unit: Unit | None) -> dict[str, Any]:
    from nearly.text.difference import difference  # not needed before somebody looks

    found = None if unit is None else difference(a, b, unit)
    first = None if found is None else found.first
    starts = (0, 0) if first is None else (first.start_a - BEFORE, first.start_b - BEFORE)
    told = found if is_whole else None
    row: dict[str, Any] = {
        "difference": None if told is None else told.kind,
        "differing": None if told is None else told.differing,
        "words": None if told is None else told.words,
        "unit": None if found is None else found.unit,
    }
    for side, text, start in zip("ab", (a, b), starts, strict=True):
        begin = max(0, start)
        row[f"text_{side}"] = text[begin : begin + ROOM]
        row[f"start_{side}"] = before + begin
        row[f"marks_{side}"] = [] if found is None else _marks(found, side, begin)
    return row


def _marks(found: Difference, side: str, begin: int) -> list[dict[str, int]]:
    pieces = (
        (getattr(span, f"start_{side}") - begin, getattr(span, f"stop_{side}") - begin)
        for span in found.spans
        if span.kind != "equal"
    )
    return [
        {"start": max(0, start), "stop": min(stop, ROOM)}
        for start, stop in pieces
        if start < ROOM and start < stop and stop > 0
    ]
