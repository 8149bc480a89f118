"""A pair: both texts, what they share and where they differ, and how much of each is shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import column_of, string_array
from nearly.documents.lookup import named_pairs
from nearly.measures.dropped import dropped_shingles
from nearly.measures.shingle import shingle_sets
from nearly.settings import Settings
from nearly.text.difference import difference
from nearly.text.match import Matched, match
from nearly.text.unit import unit_of
from nearly.view.label import Labels
from nearly.view.result import Result, same_value, value_of

__all__ = ["Overlap", "PairView", "most_similar", "overlap", "pair_views", "ranked", "side_by_side"]


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How many shingles two documents have, and share."""

    first: int
    second: int
    shared: int

    @property
    def of_first(self) -> float:
        """The share of the first document that is in the second."""
        return float(Fraction(self.shared, self.first))

    @property
    def of_second(self) -> float:
        """The share of the second document that is in the first."""
        return float(Fraction(self.shared, self.second))


@dataclass(frozen=True, kw_only=True)
class PairView:
    """Two documents side by side; without texts where these cannot be read."""

    name_a: str
    name_b: str
    value: float
    text_a: str | None = None
    text_b: str | None = None
    summary: str | None = None  # of the difference, in words
    matched: Matched | None = None
    overlap: Overlap | None = None
    terms: tuple[str, ...] = ()  # that the documents are of, if terms were asked for


def ranked(result: Result, *, same: bool) -> npt.NDArray[np.intp]:
    """The places of pairs, the most similar first: of those that are the same, or of all others."""
    value = value_of(result.pairs)
    values = result.pairs[value].to_numpy()
    nearness = values if value == "similarity" else -values
    equal = same_value(result)
    is_same = np.zeros(len(values), bool) if equal is None else values == equal
    chosen = np.flatnonzero(is_same == same)
    return chosen[np.argsort(-nearness[chosen], kind="stable")]


def most_similar(result: Result, most: int, *, same: bool) -> pa.Table:
    """At most `most` pairs, the most similar first."""
    return result.pairs.take(column_of(ranked(result, same=same)[:most]))


def pair_views(result: Result, pairs: pa.Table, labels: Labels) -> Iterator[PairView]:
    """Some pairs with their texts, which are read at once."""
    names = zip(labels.of(pairs, "id_a"), labels.of(pairs, "id_b"), strict=True)
    values = pairs[value_of(pairs)].to_pylist()
    if result.read_texts is None or not values:
        for (a, b), value in zip(names, values, strict=True):
            yield PairView(name_a=a, name_b=b, value=value)
        return
    named = named_pairs(result.read_texts, pairs)
    documents = list(dict.fromkeys([*named.first, *named.second]))
    texts = dict(zip(documents, named.read(documents), strict=True))
    ends = zip(named.first, named.second, strict=True)
    for (a, b), value, (first, second) in zip(names, values, ends, strict=True):
        yield side_by_side(result, (a, b), value, (texts[first], texts[second]))


def side_by_side(
    result: Result, names: tuple[str, str], value: float, texts: tuple[str, str]
) -> PairView:
    """A pair with its texts, and what they share."""
    source = result.statistics.source or {}
    unit = unit_of(result.statistics.measure, source)
    return PairView(
        name_a=names[0],
        name_b=names[1],
        value=value,
        text_a=texts[0],
        text_b=texts[1],
        summary=None if unit is None else difference(*texts, unit).summary,
        matched=match(*texts),
        overlap=overlap(texts, result.settings, value) if "items" not in source else None,
    )


def overlap(texts: Sequence[str], settings: Settings, similarity: float) -> Overlap | None:
    """What two texts share, if it is what their similarity was made of.

    A run may have dropped shingles that this pair cannot tell, or have counted in another way:
    numbers that do not agree with the similarity are not shown.
    """
    text = settings.text
    if settings.bag or settings.weights or text.k == "auto":
        return None
    dropped = dropped_shingles(text, settings.seed)
    both = string_array(list(texts))
    (_, middle, end), hashes = shingle_sets(both, text, settings.seed, dropped=dropped)
    found = Overlap(
        first=int(middle),
        second=int(end - middle),
        shared=_kernels.shared(hashes[:middle], hashes[middle:]),
    )
    together = found.first + found.second - found.shared
    agrees = bool(found.shared) and float(Fraction(found.shared, together)) == similarity
    return found if agrees else None
