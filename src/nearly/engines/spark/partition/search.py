"""Exact search of a few documents among all, block by block, to prove how much was found."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from nearly.arrays import numbers_of, take_strings
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.number import Numbers, numbered
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.measures.base import Measure

__all__ = ["Shared", "only_sought", "search", "some_texts"]


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
    parts = list(_texts(number, block, sought, skipped)) if len(sought) else []
    return texts_of(*joined_texts(parts))


def _texts(number: int, block: Block, sought: Numbers, skipped: Skips) -> Iterator[Texts]:
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
) -> Near:
    """Every pair of a sought document and one of a block that reaches the threshold."""
    known, texts = joined_texts([sought.value])
    index = measure.index(np.arange(len(known), dtype=np.uint32), texts, threshold)
    found = [Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for part in _texts(number, block, representatives, skipped):
        documents, others = joined_texts([part])
        # A sought document is known by its place: it is not compared with itself.
        everyone = np.concatenate([known, documents])
        numbers = np.arange(len(known), len(everyone), dtype=np.uint32)
        is_sought = np.isin(documents, known)
        numbers[is_sought] = np.searchsorted(known, documents[is_sought])
        a, b, nearness = index.search(numbers, others)
        one, other = everyone[a], everyone[b]
        found.append(Near(np.minimum(one, other), np.maximum(one, other), nearness))
    return Near(*map(np.concatenate, zip(*found, strict=True)))


def only_sought(near: Near, *, sought: Shared) -> Near:
    """Pairs of which at least one document is sought."""
    documents = sought.value.documents
    chosen = np.isin(near.first, documents) | np.isin(near.second, documents)
    return Near(near.first[chosen], near.second[chosen], near.nearness[chosen])
