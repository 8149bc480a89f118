"""Exact search of a few documents among all, block by block, to prove how much was found."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import numbers_of, take_strings
from nearly.engines.spark.partition.number import Numbers, numbered
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.settings import Settings
from nearly.stages.verification import shingle_sets

__all__ = ["only_these", "search", "texts_of_some"]


def texts_of_some(
    number: int, batches: Iterable[pa.RecordBatch], sought: Numbers
) -> Iterator[Texts]:
    """The texts of those documents of a block that are sought, batch by batch."""
    for batch in batches:
        documents = numbered(number, numbers_of(batch.column("row")).astype(np.uint32))
        chosen = np.flatnonzero(np.isin(documents, sought)).astype(np.uint32)
        yield texts_of(documents[chosen], take_strings(batch.column("text"), chosen))


def search(sought: Texts, block: Iterable[Texts], settings: Settings, threshold: Fraction) -> Near:
    """Every pair of a sought document and one of a block that reaches the threshold."""
    known, texts = joined_texts([sought])
    places = np.arange(len(known), dtype=np.uint32)
    sets = shingle_sets(texts, settings)
    index = _kernels.SoughtIndex(places, *sets, threshold.numerator, threshold.denominator)
    found = [Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for part in block:
        documents, others = joined_texts([part])
        # A sought document is known by its place: it is not compared with itself.
        everyone = np.concatenate([known, documents])
        numbers = np.arange(len(known), len(everyone), dtype=np.uint32)
        is_sought = np.isin(documents, known)
        numbers[is_sought] = np.searchsorted(known, documents[is_sought])
        a, b, similarity = index.search(numbers, *shingle_sets(others, settings))
        one, other = everyone[a], everyone[b]
        found.append(Near(np.minimum(one, other), np.maximum(one, other), similarity))
    return Near(*map(np.concatenate, zip(*found, strict=True)))


def only_these(near: Near, sought: Numbers) -> Near:
    """Pairs of which at least one document is sought."""
    chosen = np.isin(near.first, sought) | np.isin(near.second, sought)
    return Near(near.first[chosen], near.second[chosen], near.similarity[chosen])
