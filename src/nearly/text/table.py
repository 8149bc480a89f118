"""Differences as columns: of every pair the kind, of a few pairs the texts around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from nearly.text.difference import Difference, difference
from nearly.text.kind import fingerprint, kind_of_fingerprints

__all__ = ["MARKS", "excerpt_columns", "with_difference"]

#: Documents whose texts are held at once.
AT_ONCE: Final = 10_000
#: Characters of an excerpt, and how many of them stand before the first difference.
ROOM: Final = 300
BEFORE: Final = 100
#: Where an excerpt differs: starts and stops of pieces.
MARKS: Final = pa.list_(pa.struct([("start", pa.int32()), ("stop", pa.int32())]))


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


def excerpt_columns(texts_a: Sequence[str], texts_b: Sequence[str]) -> dict[str, pa.Array]:
    """Of each pair of texts, what differs and both texts around the first difference.

    `difference` is its kind, `differing` of `words` differ. `text_a` is the piece of the text that
    begins at `start_a`, and `marks_a` says where it differs; the same for b.
    """
    rows = [_row(a, b) for a, b in zip(texts_a, texts_b, strict=True)]
    return {
        name: pa.array([row[name] for row in rows], kind)
        for name, kind in (
            ("difference", pa.string()),
            ("differing", pa.int64()),
            ("words", pa.int64()),
            *((f"{name}_{side}", kind) for side in "ab" for name, kind in _SIDE),
        )
    }


_SIDE: Final = (("text", pa.string()), ("start", pa.int64()), ("marks", MARKS))


def _row(a: str, b: str) -> dict[str, Any]:
    found = difference(a, b)
    first = found.first
    starts = (0, 0) if first is None else (first.start_a - BEFORE, first.start_b - BEFORE)
    row: dict[str, Any] = {
        "difference": found.kind,
        "differing": found.differing,
        "words": found.words,
    }
    for side, text, start in zip("ab", (a, b), starts, strict=True):
        begin = max(0, start)
        row[f"text_{side}"] = text[begin : begin + ROOM]
        row[f"start_{side}"] = begin
        row[f"marks_{side}"] = _marks(found, side, begin)
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
