"""Two texts side by side: Jaccard, containment both ways, and what a signature would say."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import string_array
from nearly.measures.dropped import dropped_shingles
from nearly.measures.jaccard import Jaccard
from nearly.measures.shingle import shingle_sets, signatures
from nearly.measures.stop_word import ENGLISH
from nearly.results import Comparison
from nearly.settings import Settings, SignatureSettings, TextSettings
from nearly.text.difference import difference

__all__ = ["compare_texts", "jaccard_of"]


def compare_texts(
    a: str, b: str, text: TextSettings, signature: SignatureSettings, name_a: str, name_b: str
) -> Comparison:
    """Compare two texts; where k is 'auto', it is decided on both."""
    settings = Settings(
        text=text,
        permutations=signature.permutations,
        scheme=signature.scheme,
        seed=signature.seed,
    )
    measure = Jaccard.of(settings).settled((len(a) + len(b)) / 2)
    text = measure.text
    texts = string_array([a, b])
    first, second, shared = _sets(texts, text, settings.seed)
    positions = settings.permutations
    dropped = dropped_shingles(text, settings.seed)
    signed = signatures(texts, text, settings.seed, settings.scheme, positions, dropped=dropped)
    agreeing = int(np.count_nonzero(signed[0] == signed[1])) if first and second else 0
    return Comparison(
        name_a=name_a,
        name_b=name_b,
        unit=text.unit,
        k=text.whole_k,
        shingles_a=first,
        shingles_b=second,
        shared=shared,
        jaccard=_ratio(shared, first + second - shared),
        jaccard_without_stop_words=_without_stop_words(texts, text, settings.seed),
        containment_of_a=_ratio(shared, first),
        containment_of_b=_ratio(shared, second),
        estimate=_ratio(agreeing, positions),
        permutations=positions,
        text_a=a,
        text_b=b,
        difference=difference(a, b),
    )


def _sets(texts: pa.LargeStringArray, text: TextSettings, seed: int) -> tuple[int, int, int]:
    """Sizes of both sets, and of what they share."""
    dropped = dropped_shingles(text, seed)
    (_, middle, end), hashes = shingle_sets(texts, text, seed, dropped=dropped)
    shared = _kernels.shared(hashes[:middle], hashes[middle:])
    return int(middle), int(end - middle), shared


def _without_stop_words(texts: pa.LargeStringArray, text: TextSettings, seed: int) -> float:
    """As the thesis's result.txt had it: the same texts once more, the common words left out."""
    words = text.stop_words or ENGLISH
    return _jaccard(texts, replace(text, stop_words=words, raw=False), seed)


def jaccard_of(a: str, b: str, text: TextSettings, seed: int) -> float:
    """The similarity of two texts; `k` has to be a number by now."""
    return _jaccard(string_array([a, b]), text, seed)


def _jaccard(texts: pa.LargeStringArray, text: TextSettings, seed: int) -> float:
    first, second, shared = _sets(texts, text, seed)
    return _ratio(shared, first + second - shared)


def _ratio(part: int, whole: int) -> float:
    return float(Fraction(part, whole)) if whole else 0.0
