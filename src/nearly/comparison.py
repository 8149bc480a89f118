"""Two texts side by side: Jaccard, containment both ways, and what a signature would say."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import string_array
from nearly.results import Comparison
from nearly.settings import Settings
from nearly.stages.signature import signatures
from nearly.stages.stop_word import ENGLISH
from nearly.stages.verification import shingle_sets
from nearly.tuning.method import auto_k

__all__ = ["compare"]


def compare(a: str, b: str, *, name_a: str = "a", name_b: str = "b", **options: Any) -> Comparison:
    """Compare two texts. Takes the settings that `find` takes; `k` is decided on both."""
    settings = Settings.of(**options)
    if settings.text.k == "auto":
        settings = settings.with_k(auto_k(settings.text.unit, (len(a) + len(b)) / 2))
    texts = string_array([a, b])
    first, second, shared = _sets(texts, settings)
    positions = settings.permutations
    signed = signatures(texts, settings, positions)
    agreeing = int(np.count_nonzero(signed[0] == signed[1])) if first and second else 0
    return Comparison(
        name_a=name_a,
        name_b=name_b,
        unit=settings.text.unit,
        k=settings.text.whole_k,
        shingles_a=first,
        shingles_b=second,
        shared=shared,
        jaccard=_ratio(shared, first + second - shared),
        jaccard_without_stop_words=_without_stop_words(texts, settings),
        containment_of_a=_ratio(shared, first),
        containment_of_b=_ratio(shared, second),
        estimate=_ratio(agreeing, positions),
        permutations=positions,
    )


def _sets(texts: pa.LargeStringArray, settings: Settings) -> tuple[int, int, int]:
    """Sizes of both sets, and of what they share."""
    (_, middle, end), hashes = shingle_sets(texts, settings)
    shared = _kernels.shared(hashes[:middle], hashes[middle:])
    return int(middle), int(end - middle), shared


def _without_stop_words(texts: pa.LargeStringArray, settings: Settings) -> float:
    """As the thesis's result.txt had it: the same texts once more, the common words left out."""
    words = settings.text.stop_words or ENGLISH
    text = replace(settings.text, stop_words=words, raw=False)
    first, second, shared = _sets(texts, replace(settings, text=text))
    return _ratio(shared, first + second - shared)


def _ratio(part: int, whole: int) -> float:
    return float(Fraction(part, whole)) if whole else 0.0
