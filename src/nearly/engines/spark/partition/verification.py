"""Where candidates meet their texts: each pair in one partition, each text once in each that
needs it."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import spans, take_strings
from nearly.engines.spark.partition.bucket import Ask, Candidates
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, places_of, rows_of
from nearly.engines.spark.partition.placement import place_of, scattered
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness
from nearly.stages.verification import cut, verify_block

__all__ = [
    "Near",
    "Texts",
    "asks_for_texts",
    "compared",
    "each_once",
    "effort",
    "joined_texts",
    "pairs_by_place",
    "texts_of",
    "verified",
]

#: Documents whose numbers differ in these bits only meet in one place: neighbours are often alike.
PLACE_BITS = 10


class Texts(NamedTuple):
    """Documents in ascending order, with their texts."""

    documents: Numbers
    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]


class Near(NamedTuple):
    """Verified pairs, the first document before the second."""

    first: Numbers
    second: Numbers
    nearness: Nearness


def pairs_by_place(found: Candidates, *, partitions: int) -> Iterator[tuple[int, Candidates]]:
    """Candidates sent to where they are verified; a crowd of neighbours fills many places."""
    near = scattered(found.first >> PLACE_BITS, found.second >> PLACE_BITS)
    targets = place_of(near, partitions)
    meetings = found.meetings
    for target, (first, second) in by_target(targets, found.first, found.second):
        yield target, Candidates(first, second, meetings)
        meetings = 0
    if meetings:
        yield 0, Candidates(found.first[:0], found.second[:0], meetings)


def each_once(received: Sequence[Candidates]) -> Candidates:
    """A pair that was found in several buckets is one candidate."""
    pairs = np.concatenate(
        [np.empty((0, 2), np.int64), *(np.stack(part[:2], axis=1) for part in received)]
    )
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    is_new = np.append(True, (pairs[1:] != pairs[:-1]).any(axis=1))[: len(pairs)]
    kept = pairs[is_new]
    return Candidates(kept[:, 0].copy(), kept[:, 1].copy(), sum(part.meetings for part in received))


def effort(pairs: Candidates) -> tuple[int, int]:
    """How many pairs met, and how many were verified."""
    return pairs.meetings, len(pairs.first)


def asks_for_texts(here: int, pairs: Candidates) -> Iterator[tuple[int, Ask]]:
    """Every document of a pair is wanted once."""
    wanted = np.unique(np.concatenate([pairs.first, pairs.second]))
    for block, (theirs,) in by_target(blocks_of(wanted), wanted):
        yield block, Ask(here, rows_of(theirs))


def joined_texts(answers: Sequence[Texts]) -> tuple[Numbers, pa.LargeStringArray]:
    """All texts that came, in the order of their documents."""
    none = Texts(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.uint8))
    in_order = sorted((none, *answers), key=lambda part: part.documents[:1].tolist())
    documents = np.concatenate([part.documents for part in in_order])
    offsets = np.zeros(len(documents) + 1, np.int64)
    np.cumsum(np.concatenate([np.diff(part.offsets) for part in in_order]), out=offsets[1:])
    data = np.concatenate([part.data for part in in_order])
    buffers = (pa.py_buffer(offsets), pa.py_buffer(data))
    texts = pa.LargeStringArray.from_buffers(len(documents), *buffers)
    if (documents[1:] >= documents[:-1]).all():
        return documents, texts
    order = np.argsort(documents).astype(np.uint32)
    return documents[order], take_strings(texts, order)


def texts_of(documents: Numbers, texts: pa.LargeStringArray) -> Texts:
    """Some texts, packed to be sent."""
    offsets, data = spans(texts)
    return Texts(documents, offsets - offsets[0], data[offsets[0] : offsets[-1]])


def verified(
    pairs: Candidates, answers: Sequence[Texts], *, measure: Measure, threshold: Fraction
) -> Near:
    """Those pairs that reach the threshold, with exact nearness."""
    documents, texts = joined_texts(answers)
    first, second = places_of(pairs.first, documents), places_of(pairs.second, documents)
    nearness = compared(texts, first, second, measure, threshold)
    near = ~np.isnan(nearness)
    return Near(pairs.first[near], pairs.second[near], nearness[near])


def compared(
    texts: pa.LargeStringArray,
    first: Documents,
    second: Documents,
    measure: Measure,
    threshold: Fraction | None,
) -> Nearness:
    """Block by block, so that no more is held than fits."""
    nearness = np.empty(len(first))
    read = partial(take_strings, texts)
    for block in cut(first, second, np.diff(spans(texts)[0])):
        nearness[block] = verify_block(measure, read, first[block], second[block], threshold)
    return nearness
