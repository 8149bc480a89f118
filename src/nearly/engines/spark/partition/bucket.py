"""From keys to candidates, across partitions.

A document's keys travel to where its buckets are; the documents that share a bucket with others
are asked for their sketches there, and two that agree enough become a candidate. A bucket that
is too large for one task is cut into pieces of work that lie anywhere.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.block import SignedBlock
from nearly.documents.side import BOTH, NEW, OLD, Sides, by_side
from nearly.engines.spark.partition.border import Border, sides_here
from nearly.engines.spark.partition.number import (
    Numbers,
    Rows,
    blocks_of,
    by_target,
    numbered,
    places_of,
    rows_of,
)
from nearly.measures.pair import split_pairs
from nearly.stages.candidate import candidates, unique
from nearly.tuning.banding import Banding

__all__ = [
    "Ask",
    "Candidates",
    "Keys",
    "Shared",
    "Sketches",
    "Work",
    "compare",
    "count_crowd",
    "crowded",
    "keys_by_bucket",
    "shared",
    "sketches_asked_for",
]

#: A bucket of more documents than this is cut, so that no task waits for one bucket.
MOST_IN_BUCKET = 4_096
#: Pieces of a cut bucket in which all pairs are asked for: FIRSTS documents, each compared with
#: those after it, of which SECONDS come along.
FIRSTS, SECONDS = 512, 8_192

Words = npt.NDArray[np.uint64]


class Keys(NamedTuple):
    """Records of one block: for each band in turn the count of rows, and their keys in it.

    `both` are its documents that stand on both sides of a border.
    """

    block: int
    counts: npt.NDArray[np.int64]
    rows: Rows
    keys: npt.NDArray[np.uint32]
    both: Numbers


class Shared(NamedTuple):
    """The documents of buckets of two and more, bucket by bucket; buckets count from 0."""

    buckets: npt.NDArray[np.uint32]
    documents: Numbers
    sides: Sides | None  # if there is a border


class Work(NamedTuple):
    """Documents to be compared: those of one bucket stand in order, `hubs` as for candidates.

    `again` pairs of the first documents are compared elsewhere too.
    """

    buckets: npt.NDArray[np.uint32]
    documents: Numbers
    hubs: int
    again: int
    sides: Sides | None = None  # if there is a border


class Ask(NamedTuple):
    """Something about these rows is wanted in another partition."""

    asker: int
    rows: Rows


class Sketches(NamedTuple):
    """What was asked for."""

    documents: Numbers
    sketches: Words


class Candidates(NamedTuple):
    """Pairs, the first document before the second, and how many met in all."""

    first: Numbers
    second: Numbers
    meetings: int


def keys_by_bucket(
    block: int,
    rows: Rows,
    keys: npt.NDArray[np.uint32],
    is_chosen: npt.NDArray[np.bool_],
    both: Numbers,
    *,
    partitions: int,
) -> Iterator[tuple[int, Keys]]:
    """Each chosen document's key in each band, sent to where the bucket is."""
    counts, routed_rows, routed_keys = _kernels.route_keys(
        rows, keys, is_chosen.view(np.uint8), partitions
    )
    ends = np.cumsum(counts.sum(axis=1)).tolist()
    for target, (start, end) in enumerate(itertools.pairwise([0, *ends])):
        span = slice(start, end)
        yield target, Keys(block, counts[target], routed_rows[span], routed_keys[span], both)


def count_crowd(here: Shared, *, hubs: int) -> tuple[int, int]:
    """How many pairs would be compared, and how many documents lie in the largest bucket."""
    sizes = np.bincount(here.buckets).astype(np.int64)
    if here.sides is not None:
        met = meetings_of(here.buckets, here.sides, hubs)
        return int(met.sum()), int(sizes.max(initial=0))
    firsts = np.minimum(sizes, hubs) if hubs else sizes
    return int((firsts * sizes - firsts * (firsts + 1) // 2).sum()), int(sizes.max(initial=0))


def crowded(
    here: int, shared: Shared, *, partitions: int, hubs: int
) -> Iterator[tuple[int, Work | Ask]]:
    """Work for the documents that share a bucket, and a question to the block of each."""
    buckets, documents, sides = shared
    sizes = np.bincount(buckets)
    is_hot = sizes[buckets] > MOST_IN_BUCKET
    sides_of_usual = None if sides is None else sides[~is_hot]
    usual = Work(buckets[~is_hot], documents[~is_hot], hubs, 0, sides_of_usual)
    if len(usual.documents):
        yield here, usual
        yield from _asks(here, usual.documents)
    ends = np.cumsum(sizes[sizes > MOST_IN_BUCKET])
    hot = np.split(documents[is_hot], ends[:-1]) if len(ends) else []
    if sides is None:
        pieces = [piece for bucket in hot for piece in _cut(bucket, hubs)]
    else:
        their = np.split(sides[is_hot], ends[:-1]) if len(ends) else []
        every = zip(hot, their, strict=True)
        pieces = [piece for bucket, some in every for piece in cut_by_side(bucket, some, hubs)]
    done, total = 0, sum(_cost(piece) for piece in pieces)
    for piece in pieces:
        elsewhere = (here + done * partitions // total) % partitions
        done += _cost(piece)
        yield elsewhere, piece
        yield from _asks(elsewhere, piece.documents)


def _cost(piece: Work) -> int:
    """Pairs that are compared in a piece of one bucket."""
    if piece.sides is not None:
        return int(meetings_of(piece.buckets, piece.sides, piece.hubs).sum())
    return piece.hubs * (len(piece.documents) - piece.hubs) + piece.hubs * (piece.hubs - 1) // 2


def shared(messages: Sequence[Keys], *, border: Border | None) -> Shared:
    """Those who are not alone in a bucket."""
    received = sorted(messages, key=lambda part: part.block)
    buckets, found = [np.empty(0, np.uint32)], [np.empty(0, np.int64)]
    count = 0
    ends = [np.cumsum(part.counts) for part in received]
    for band in range(len(received[0].counts) if received else 0):
        spans = [
            slice(end[band] - part.counts[band], end[band])
            for part, end in zip(received, ends, strict=True)
        ]
        keys = np.concatenate([part.keys[span] for part, span in zip(received, spans, strict=True)])
        places = _kernels.shared_keys(keys)
        if len(places) == 0:
            continue
        documents = np.concatenate(
            [
                numbered(part.block, part.rows[span])
                for part, span in zip(received, spans, strict=True)
            ]
        )[places]
        order = np.argsort(keys[places], kind="stable")
        in_order = keys[places][order]
        is_new = np.append(True, in_order[1:] != in_order[:-1])
        buckets.append((np.cumsum(is_new) - 1 + count).astype(np.uint32))
        found.append(documents[order])
        count += int(is_new.sum())
    documents = np.concatenate(found)
    both = np.concatenate([np.empty(0, np.int64), *(part.both for part in received)])
    sides = None if border is None else sides_here(documents, both, border)
    return Shared(np.concatenate(buckets), documents, sides)


def _cut(bucket: Numbers, hubs: int) -> Iterator[Work]:
    """Pieces that together compare what the whole bucket would have compared."""
    step = hubs or FIRSTS
    for start in range(0, len(bucket) if hubs == 0 else 1, step):
        firsts = bucket[start : start + step]
        rest = bucket[start + step :]
        within = len(firsts) * (len(firsts) - 1) // 2
        for i in range(0, max(1, len(rest)), SECONDS):
            documents = np.concatenate([firsts, rest[i : i + SECONDS]])
            same = np.zeros(len(documents), np.uint32)
            yield Work(same, documents, len(firsts), within if i else 0)


def meetings_of(buckets: npt.NDArray[np.uint32], sides: Sides, hubs: int) -> npt.NDArray[np.int64]:
    """How many pairs of each bucket are compared across a border."""
    count = int(buckets.max()) + 1 if len(buckets) else 0
    old, both, new = (
        np.bincount(buckets[sides == side], minlength=count) for side in (OLD, BOTH, NEW)
    )
    some_old, some_both = (np.minimum(each, hubs or each) for each in (old, both))
    across = some_old * (both + new) + (old - some_old) * some_both
    within = some_both * (both + new) - some_both * (some_both + 1) // 2
    met: npt.NDArray[np.int64] = across + within
    return met


def cut_by_side(bucket: Numbers, sides: Sides, hubs: int) -> Iterator[Work]:
    """Pieces of one bucket that together compare what the whole would have compared: rectangles of
    old documents with others, and those of both sides with all that follow them."""
    old, both, new = (bucket[sides == side] for side in (OLD, BOTH, NEW))
    others = np.concatenate([both, new])
    if hubs:
        yield from _rectangles(old[:hubs], others)
        yield from _rectangles(old[hubs:], both[:hubs])
    else:
        yield from _rectangles(old, others)
    for start in range(0, min(len(both), hubs or len(both)), FIRSTS):
        firsts = both[start : start + min(FIRSTS, hubs or FIRSTS)]
        rest = others[start + len(firsts) :]
        within = len(firsts) * (len(firsts) - 1) // 2
        for i in range(0, max(1, len(rest)), SECONDS):
            yield _piece(firsts, rest[i : i + SECONDS], BOTH, within if i else 0)


def _rectangles(some: Numbers, others: Numbers) -> Iterator[Work]:
    for i in range(0, len(some), FIRSTS):
        for j in range(0, len(others), SECONDS):
            yield _piece(some[i : i + FIRSTS], others[j : j + SECONDS], OLD, 0)


def _piece(firsts: Numbers, seconds: Numbers, side: int, again: int) -> Work:
    """The first documents, of a side, are compared with the others, which do not meet."""
    documents = np.concatenate([firsts, seconds])
    sides = np.repeat(np.array([side, NEW], np.uint8), [len(firsts), len(seconds)])
    return Work(np.zeros(len(documents), np.uint32), documents, 0, again, sides)


def _asks(asker: int, documents: Numbers) -> Iterator[tuple[int, Ask]]:
    wanted = np.unique(documents)
    for block, (theirs,) in by_target(blocks_of(wanted), wanted):
        yield block, Ask(asker, rows_of(theirs))


def sketches_asked_for(
    number: int, signed: SignedBlock, received: Sequence[Work | Ask]
) -> Iterator[tuple[int, Sketches]]:
    """What others want to know of a block's documents."""
    for ask in received:
        if isinstance(ask, Ask):
            places = np.searchsorted(signed.rows, ask.rows)
            yield ask.asker, Sketches(numbered(number, ask.rows), signed.sketches[places])


def compare(
    received: Sequence[Work | Ask], answers: Sequence[Sketches], *, banding: Banding
) -> Candidates:
    """The pairs of documents whose sketches agree enough, each once."""
    work = [part for part in received if isinstance(part, Work)]
    if not work:
        return Candidates(np.empty(0, np.int64), np.empty(0, np.int64), 0)
    documents = np.concatenate([part.documents for part in answers])
    order = np.argsort(documents)
    documents = documents[order]
    sketches = np.concatenate([part.sketches for part in answers])[order]
    found, meetings = [], 0
    for part in work:
        places, cuts = by_side(part.sides)
        numbers = places_of(part.documents[places], documents)
        buckets = part.buckets[places]
        pairs, met = candidates(buckets, numbers, sketches, banding, hubs=part.hubs, cuts=cuts)
        found.append(pairs)
        meetings += met - part.again
    first, second = split_pairs(unique(np.concatenate(found), 0, 2**64 - 1))
    return Candidates(documents[first], documents[second], meetings)
