"""Exact search of a few documents among all, block by block, to prove how much was found."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nearly.arrays import numbers_of, take_strings
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.border import Border
from nearly.engines.spark.partition.number import Numbers, numbered
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.measures.base import Measure
from nearly.stages.around import nearest_below

__all__ = [
    "Shared",
    "across",
    "near_misses",
    "only_sought",
    "search",
    "some_texts",
    "texts_of_block",
]


class Shared(Protocol):
    """Texts that every partition sees."""

    @property
    def value(self) -> Texts: ...


def some_texts(
    number: int,
    block: Block,
    representatives: Numbers,
    *,
    skipped: Skips,
    places: Mapping[int, Sequence[int]],
) -> Texts:
    """The texts of the representatives at some places of each block."""
    sought = representatives[list(places.get(number, []))]
    parts = list(texts_of_block(number, block, sought, skipped)) if len(sought) else []
    return texts_of(*joined_texts(parts))


def texts_of_block(number: int, block: Block, sought: Numbers, skipped: Skips) -> Iterator[Texts]:
    """The texts of those documents of a block that are sought, batch by batch."""
    for batch in block.documents(skipped):
        documents = numbered(number, numbers_of(batch.column("row")).astype(np.uint32))
        chosen = np.flatnonzero(np.isin(documents, sought)).astype(np.uint32)
        yield texts_of(documents[chosen], take_strings(batch.column("text"), chosen))


def search(
    number: int,
    block: Block,
    representatives: Numbers,
    *,
    skipped: Skips,
    sought: Shared,
    measure: Measure,
    threshold: Fraction,
    border: Border | None,
) -> Near:
    """Every pair of a sought document and one of a block that reaches the threshold."""
    coming = texts_of_block(number, block, representatives, skipped)
    parts = _pairs(coming, sought, measure, threshold)
    found = Near(*map(np.concatenate, zip(*parts, strict=True)))
    # Sought documents stand on the new side: they meet what does not stand there only.
    return found if border is None else _some(found, found.first < border.first_new)


def near_misses(
    number: int,
    block: Block,
    representatives: Numbers,
    *,
    skipped: Skips,
    sought: Shared,
    measure: Measure,
    threshold: Fraction,
    count: int,
    border: Border | None,
) -> Near:
    """The nearest pairs of a sought document and one of a block that miss the threshold."""
    coming = texts_of_block(number, block, representatives, skipped)
    least, limit = measure.least_near_miss(threshold), float(threshold)
    found = _pairs(coming, sought, measure, least)
    # Of each batch the nearest, so that no more is held.
    parts = [Near(*nearest_below(*across(pairs, border), limit, count)) for pairs in found]
    every = Near(*map(np.concatenate, zip(*parts, strict=True)))
    return Near(*nearest_below(*every, limit, count))


def _pairs(
    coming: Iterator[Texts], sought: Shared, measure: Measure, threshold: Fraction
) -> Iterator[Near]:
    """Pairs of a sought document and one of those that come, batch by batch."""
    known, texts = joined_texts([sought.value])
    index = measure.index(np.arange(len(known), dtype=np.uint32), texts, threshold)
    yield Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    for part in coming:
        documents, others = joined_texts([part])
        # A sought document is known by its place: it is not compared with itself.
        everyone = np.concatenate([known, documents])
        numbers = np.arange(len(known), len(everyone), dtype=np.uint32)
        is_sought = np.isin(documents, known)
        numbers[is_sought] = np.searchsorted(known, documents[is_sought])
        a, b, nearness = index.search(numbers, others)
        one, other = everyone[a], everyone[b]
        yield Near(np.minimum(one, other), np.maximum(one, other), nearness)


def across(pairs: Near, border: Border | None) -> Near:
    """Pairs of an old document and a new one; all where there is no border."""
    if border is None:
        return pairs
    is_crossing = (pairs.first < border.first_new) & (pairs.second >= border.first_new)
    return _some(pairs, is_crossing)


def _some(pairs: Near, chosen: npt.NDArray[np.bool_]) -> Near:
    return Near(pairs.first[chosen], pairs.second[chosen], pairs.nearness[chosen])


def only_sought(near: Near, *, sought: Shared) -> Near:
    """Pairs of which at least one document is sought."""
    documents = sought.value.documents
    chosen = np.isin(near.first, documents) | np.isin(near.second, documents)
    return _some(near, chosen)
