"""Normal forms of texts with many marks in a row, in linear time."""

import unicodedata
from contextlib import suppress
from itertools import chain, groupby
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from nearly import _kernels

__all__ = ["MOST_MARKS", "NormalForm", "composed", "with_marks_in_order"]

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
Bytes = npt.NDArray[np.uint8]

#: Marks in a row that are left to Python to put in order.
MOST_MARKS: Final = 64


def composed(text: str) -> str:
    """The text in the normal form NFC, as this Python knows it."""
    if len(text) > MOST_MARKS and not text.isascii():
        with suppress(UnicodeEncodeError):  # of half a pair, which has no UTF-8
            text = with_marks_in_order(np.frombuffer(text.encode(), np.uint8), "NFC")
    return unicodedata.normalize("NFC", text)


def with_marks_in_order(piece: Bytes, form: NormalForm) -> str:
    """The text with long runs of marks as the normal form has them.

    Python puts a run in order in the square of its length, and is quick where it is so already.
    """
    if len(piece) <= MOST_MARKS or not len(runs := _kernels.mark_runs(piece, MOST_MARKS)):
        return _decoded(piece)
    parts, done = [], 0
    for start, end in runs.tolist():
        parts += [_decoded(piece[done:start]), _in_order(_decoded(piece[start:end]), form)]
        done = end
    return "".join([*parts, _decoded(piece[done:])])


def _in_order(marks: str, form: NormalForm) -> str:
    apart: NormalForm = "NFKD" if "K" in form else "NFD"
    decomposed = marks.translate({ord(c): unicodedata.normalize(apart, c) for c in set(marks)})
    runs = groupby(decomposed, key=lambda c: unicodedata.combining(c) != 0)
    return "".join(chain.from_iterable(sorted(run, key=unicodedata.combining) for _, run in runs))


def _decoded(piece: Bytes) -> str:
    return piece.tobytes().decode("utf-8", "replace")
