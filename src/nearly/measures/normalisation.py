"""Normalisation: texts as their shingles are cut from them.

What it does, step by step, is said in `nearly.textbook.normalise`. Here it is done for
whole Arrow arrays by a kernel, with the Unicode tables of one fixed version, so that the
answer does not depend on the Python that runs it.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans, string_array
from nearly.settings import TextSettings
from nearly.text.composition import NormalForm, with_marks_in_order

__all__ = ["normalise", "steps"]

Bytes = npt.NDArray[np.uint8]

#: Bytes of a long text that are Python strings at a time.
PIECE: Final = 2**18
#: The kernel's answer for a text that may be out of its normal form, and has code points
#: that the kernel's Unicode does not know.
_HAS_UNASSIGNED = 2


def normalise(texts: pa.LargeStringArray, settings: TextSettings) -> pa.LargeStringArray:
    """The normalised texts; with `raw`, the very array that was given."""
    if settings.raw:
        return texts
    if settings.form != "none":
        texts = _in_normal_form(texts, settings.form)
    words = settings.unit == "word"
    offsets, text = _kernels.normalise(*spans(texts), words=words, **steps(settings))
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(text))


class Steps(TypedDict):
    """What a kernel does with a text."""

    fold_case: bool
    drop_accents: bool
    drop_digits: bool
    drop_punctuation: bool
    keep_mentions: bool
    space: str
    stop_words: str


def steps(settings: TextSettings) -> Steps:
    """As settings say."""
    return {
        "fold_case": settings.case == "fold",
        "drop_accents": settings.accents == "drop",
        "drop_digits": settings.digits == "drop",
        "drop_punctuation": settings.punctuation == "drop",
        "keep_mentions": settings.mentions == "keep",
        "space": settings.space,
        "stop_words": _stop_words(settings),
    }


def _in_normal_form(texts: pa.LargeStringArray, form: NormalForm) -> pa.LargeStringArray:
    """Only texts that may be out of the form go through Python: few, in most corpora."""
    offsets, data = spans(texts)
    states = _kernels.settled(offsets, data, form=form)
    if not states.any():
        return texts
    view, lengths = data.data, np.diff(offsets)
    formed = bytearray()
    copied = int(offsets[0])
    for i in np.flatnonzero(states).tolist():
        start, end = int(offsets[i]), int(offsets[i + 1])
        formed += view[copied:start]
        before = len(formed)
        for piece, state in _pieces(data[start:end], int(states[i]), form):
            formed += _formed(piece, state, form)
        lengths[i] = len(formed) - before
        copied = end
    formed += view[copied : int(offsets[-1])]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(formed))


def _pieces(text: Bytes, state: int, form: NormalForm) -> Iterator[tuple[Bytes, int]]:
    """A long text in pieces that have their normal forms each by itself, and the state of each."""
    if len(text) <= PIECE:
        yield text, state
        return
    ends = np.concatenate([np.zeros(1, np.int64), _kernels.ends_of_pieces(text, form, PIECE)])
    states = _kernels.settled(ends, text, form=form)
    for (start, end), state in zip(pairwise(ends.tolist()), states.tolist(), strict=True):
        yield text[start:end], state


def _formed(piece: Bytes, state: int, form: NormalForm) -> memoryview | bytes:
    if not state:
        return piece.data
    text = with_marks_in_order(piece, form)
    if state == _HAS_UNASSIGNED:
        return _normalise_around_unassigned(text, form).encode()
    return unicodedata.normalize(form, text).encode()


def _normalise_around_unassigned(text: str, form: NormalForm) -> str:
    """As if this Python did not know more code points than the kernel's Unicode does.

    A code point that is not assigned neither changes nor joins its neighbours.
    """
    runs = groupby(text, key=lambda c: _kernels.is_assigned(ord(c)))
    return "".join(
        unicodedata.normalize(form, "".join(run)) if assigned else "".join(run)
        for assigned, run in runs
    )


@lru_cache(maxsize=8)
def _stop_words(settings: TextSettings) -> str:
    """The stop words as they look in a normalised text, with a space between them."""
    if not settings.stop_words:
        return ""
    without = replace(settings, stop_words=(), unit="char", space="collapse")
    words = normalise(string_array(settings.stop_words), without).to_pylist()
    return " ".join(sorted({word for word in words if " " not in word}))
