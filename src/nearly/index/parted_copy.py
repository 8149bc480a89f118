"""What parts of a new index know of each other: which ids and contents came in an earlier one.

Every part tells digests of its ids and contents; equal ones meet, and whoever came later is told to
its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.arrays import by_target
from nearly.documents.identity import id_digests
from nearly.engines.base import Parts
from nearly.index.creation import settle
from nearly.index.making import Making
from nearly.index.parted_plan import Numbers, Plan
from nearly.sources import Skipped

__all__ = ["Told", "joined", "later_contents", "later_ids", "nobody", "weighed_parts"]

U64 = npt.NDArray[np.uint64]


class Weighed(NamedTuple):
    """What others have to know of the documents of a part, in order."""

    id_digests: U64
    digests: U64


class Told(NamedTuple):
    """What the driver has to know of a part."""

    documents: int
    extent: int
    next_row: int
    skipped: Skipped


def weighed_parts(parts: Parts, plan: Plan, skipped: Skipped) -> tuple[Plan, Any, list[Told]]:
    """All parts, weighed as what all documents decide asks for."""
    glimpses = parts.collect(parts.each(_glimpse, parts.blocks, plan=parts.share(plan)))
    extent = sum(each[0] for each in glimpses) / max(1, sum(each[1] for each in glimpses))
    weighed: Any = None
    told: list[Told] = []

    def weigh(making: Making, met: Skipped) -> float:
        nonlocal weighed, told
        shared = parts.share(replace(plan, making=making))
        both = parts.each(_weigh, parts.blocks, plan=shared)
        weighed, told = parts.each(_first, both), parts.collect(parts.each(_second, both))
        for each in told:
            met.merge(each.skipped)
        return sum(each.extent for each in told) / max(1, sum(each.documents for each in told))

    making = settle(plan.making, extent, skipped, weigh)
    firsts = np.cumsum([0, *(each.documents for each in told[:-1])])
    # Without what was worked out here: it is worked out where it is needed.
    return replace(plan, making=replace(making), firsts=firsts), weighed, told


def _glimpse(block: tuple[Any, Any], *, plan: Plan) -> tuple[int, int]:
    """The extent of the first documents of a part, and how many these are."""
    for batch in block[0].documents(plan.skipped.another()):
        if batch.num_rows:
            return plan.making.measure.extent(batch.column("text")), batch.num_rows
    return 0, 0


def _weigh(block: tuple[Any, Any], *, plan: Plan) -> tuple[Weighed, Told]:
    readable, _ = block
    skipped = plan.skipped.another()
    reading = plan.reading(readable, 0)
    ids, contents = [np.empty((0, 2), np.uint64)], [np.empty((0, 2), np.uint64)]
    for _, names, texts in reading.numbered_batches(readable, skipped):
        ids.append(id_digests(names))
        contents.append(plan.making.measure.weigh(texts).digests)
    next_row = (reading.next_row or 0) + reading.numbered
    told = Told(reading.documents, reading.extent, next_row, skipped)
    return Weighed(np.concatenate(ids), np.concatenate(contents)), told


def _first(both: tuple[Weighed, Told]) -> Weighed:
    return both[0]


def _second(both: tuple[Weighed, Told]) -> Told:
    return both[1]


class Digests(NamedTuple):
    """Some documents of a part, in order, and the digests of their ids or contents."""

    digests: U64
    documents: Numbers


def later_ids(parts: Parts, plan: Any, weighed: Any) -> Any:
    """Of each part the documents whose id came before, as lists."""
    sent = parts.exchange(_send_ids, weighed, numbered=True, plan=plan)
    return parts.exchange(_later, sent, plan=plan)


def later_contents(parts: Parts, plan: Any, weighed: Any, dropped: Any) -> Any:
    """The same of contents, of the documents that are left."""
    sent = parts.exchange(_send_contents, weighed, dropped, numbered=True, plan=plan)
    return parts.exchange(_later, sent, plan=plan)


def _send_ids(number: int, weighed: Weighed, *, plan: Plan) -> Iterator[tuple[int, Digests]]:
    documents = plan.firsts[number] + np.arange(len(weighed.id_digests))
    yield from _to_meet(weighed.id_digests, documents, len(plan.firsts))


def _send_contents(
    number: int, weighed: Weighed, dropped: Sequence[Numbers], *, plan: Plan
) -> Iterator[tuple[int, Digests]]:
    documents = plan.firsts[number] + np.arange(len(weighed.digests))
    stays = ~np.isin(documents, joined(dropped))
    yield from _to_meet(weighed.digests[stays], documents[stays], len(plan.firsts))


def _to_meet(digests: U64, documents: Numbers, parts: int) -> Iterator[tuple[int, Digests]]:
    for target, (some, theirs) in by_target(digests[:, 0] % np.uint64(parts), digests, documents):
        yield target, Digests(some, theirs)


def _later(received: Sequence[Digests], *, plan: Plan) -> Iterator[tuple[int, Numbers]]:
    """Who has what an earlier document had, sent to its part."""
    if not received:
        return
    in_order = sorted(received, key=lambda part: int(part.documents[0]))
    documents = np.concatenate([part.documents for part in in_order])
    first = _kernels.first_seen(np.concatenate([part.digests for part in in_order]))
    later = documents[first != np.arange(len(first))]
    owners = np.searchsorted(plan.firsts, later, side="right") - 1
    for part, (theirs,) in by_target(owners, later):
        yield part, theirs


def nobody(weighed: Weighed) -> list[Numbers]:  # noqa: ARG001
    """Of a source whose ids cannot repeat."""
    return []


def joined(received: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, np.int64), *received])
