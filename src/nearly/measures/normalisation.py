"""Normalisation: texts as their shingles are cut from them.

What it does, step by step, is said in `nearly.textbook.normalise`. Here it is done for
whole Arrow arrays by a kernel, with the Unicode tables of one fixed version, so that the
answer does not depend on the Python that runs it.
"""

import unicodedata
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Literal

import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans, string_array, truths_of
from nearly.settings import TextSettings

__all__ = ["normalise"]

_NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: The kernel's answer for a text that may be out of its normal form, and has code points
#: that the kernel's Unicode does not know.
_HAS_UNASSIGNED = 2


def normalise(texts: pa.LargeStringArray, settings: TextSettings) -> pa.LargeStringArray:
    """The normalised texts; with `raw`, the very array that was given."""
    if settings.raw:
        return texts
    if settings.form != "none":
        texts = _in_normal_form(texts, settings.form)
    offsets, text = _kernels.normalise(
        *spans(texts),
        fold_case=settings.case == "fold",
        drop_accents=settings.accents == "drop",
        drop_digits=settings.digits == "drop",
        drop_punctuation=settings.punctuation == "drop",
        keep_mentions=settings.mentions == "keep",
        words=settings.unit == "word",
        space=settings.space,
        stop_words=_stop_words(settings),
    )
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(text))


def _in_normal_form(texts: pa.LargeStringArray, form: _NormalForm) -> pa.LargeStringArray:
    """Only texts that may be out of the form go through Python: few, in most corpora."""
    settled = _kernels.settled(*spans(texts), form=form)
    if not settled.any():
        return texts
    import pyarrow.compute as pc  # slow to import, and seldom needed

    unsettled = truths_of(settled != 0)
    normalised = [
        _normalise_around_unassigned(text, form)
        if state == _HAS_UNASSIGNED
        else unicodedata.normalize(form, text)
        for text, state in zip(
            texts.filter(unsettled).to_pylist(), settled[settled != 0].tolist(), strict=True
        )
    ]
    return pc.replace_with_mask(texts, unsettled, string_array(normalised))


def _normalise_around_unassigned(text: str, form: _NormalForm) -> str:
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
