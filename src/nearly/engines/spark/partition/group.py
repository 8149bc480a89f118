"""Whole components, each in one partition with all that is known of its documents.

What is decided inside a component, clusters, survivors and the pairs to report, is decided by the
functions that decide it on one machine: documents are numbered anew from 0, in the same order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.documents.block import SignedBlock
from nearly.documents.packet import pack, together, unpack
from nearly.documents.place import Places
from nearly.engines.spark.partition import share
from nearly.engines.spark.partition.border import Border
from nearly.engines.spark.partition.bucket import Ask, Candidates
from nearly.engines.spark.partition.component import Edges, united
from nearly.engines.spark.partition.copy import Copies, Repeats, told
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, places_of
from nearly.engines.spark.partition.share import Shares
from nearly.engines.spark.partition.signed_block import PLACE_COLUMNS, Plan, labels_of, no_labels
from nearly.engines.spark.partition.verification import (
    Near,
    Texts,
    asks_for_texts,
    compared,
    joined_texts,
)
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed, Pairs, join_pairs, split_pairs
from nearly.settings import Settings
from nearly.stages.cluster import Clusters, cluster, numbered
from nearly.stages.copy import give_back_copies
from nearly.stages.crossing import pairs_across
from nearly.stages.survivor import Keep, Removed, by_best_copy, rank, survivors

__all__ = [
    "Group",
    "Member",
    "Piece",
    "asks_for_survivors",
    "crowded",
    "edges_of",
    "gathered",
    "pieces",
    "to_blocks",
]


class Member(NamedTuple):
    """Documents of some components, as packed batches of document, id and what `keep` looks at."""

    batch: bytes


#: What is sent to where a component is gathered.
Piece = Member | Near | Copies


def edges_of(number: int, near: Near, known: Repeats, *, border: Border | None) -> Edges:
    """What connects documents: pairs, and copies with their originals."""
    return united([Edges(near.second, near.first), Edges(*told(number, known, border))])


def to_blocks(edges: Edges, near: Near) -> Iterator[tuple[int, Edges | Near]]:
    """Labels to the blocks of their documents, pairs to those of their first ones."""
    firsts = np.unique(edges.others)
    labelled = united([edges, Edges(firsts, firsts)])
    for block, columns in by_target(blocks_of(labelled.documents), *labelled):
        yield block, Edges(*columns)
    for block, (first, second, nearness) in by_target(blocks_of(near.first), *near):
        yield block, Near(first, second, nearness)


def crowded(received: Sequence[Edges | Near], *, least: int) -> Shares:
    """The components that have at least so many of the pairs that came to a block."""
    labelled = _labelled(received)
    return share.crowded(_labels_of(labelled, _near_of(received).first), least)


def pieces(
    number: int,
    signed: SignedBlock,
    known: Repeats,
    received: Sequence[Edges | Near],
    *,
    border: Border | None,
    shares: Shares,
    partitions: int,
) -> Iterator[tuple[int, Piece]]:
    """All that a block knows of components, sent to where each is gathered.

    The label of a component is its first document, which may lie in another block.
    """
    labelled, near = _labelled(received), _near_of(received)
    batch = _as_members(labels_of(signed, labelled.documents, known.stretches), labelled)
    for target, (some,) in by_target(*_places_of_members(labelled.others, shares, partitions)):
        yield target, Member(pack(batch.take(column_of(some))))
    labels = _labels_of(labelled, near.first)
    theirs = share.places_of_pairs(labels, near.first, shares, partitions)
    for target, (first, second, nearness) in by_target(theirs, *near):
        yield target, Near(first, second, nearness)
    copies = told(number, known, border)
    theirs = share.homes(_labels_of(labelled, copies.documents), partitions)
    for target, columns in by_target(theirs, *copies):
        yield target, Copies(*columns)


def _labelled(received: Sequence[Edges | Near]) -> Edges:
    """The documents of a block, in order, and the labels of their components."""
    documents, labels = united([part for part in received if isinstance(part, Edges)])
    documents, places = np.unique(documents, return_index=True)
    return Edges(documents, labels[places])


def _labels_of(labelled: Edges, documents: Numbers) -> Numbers:
    return labelled.others[places_of(documents, labelled.documents)]


def _near_of(received: Sequence[Piece] | Sequence[Edges | Near]) -> Near:
    none = Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    parts = (part for part in received if isinstance(part, Near))
    return Near(*map(np.concatenate, zip(none, *parts, strict=True)))


def _places_of_members(labels: Numbers, shares: Shares, partitions: int) -> tuple[Numbers, Numbers]:
    """Where members are needed, and which: everyone at home, and in each share of a component."""
    homes, counts = share.homes(labels, partitions).astype(np.int64), shares.of(labels)
    members = np.repeat(np.arange(len(labels)), counts)
    further = np.arange(len(members)) - np.repeat(np.cumsum(counts) - counts, counts)
    return (homes[members] + further) % partitions, members


def _as_members(labels: pa.RecordBatch, labelled: Edges) -> pa.RecordBatch:
    """Labels by document instead of by row, with the first document of each one's component."""
    columns = [*map(column_of, labelled), *labels.columns[1:]]
    return pa.record_batch(columns, names=["document", "component", *labels.schema.names[1:]])


@dataclass(frozen=True, kw_only=True)
class Group:
    """The documents of whole components in ascending order: a small corpus of contenders."""

    documents: Numbers
    labels: pa.RecordBatch
    components: Documents  # the first one of each one's component
    is_home: npt.NDArray[np.bool_]  # or only a share of the component's pairs is here
    near: Pairs
    copies: Documents
    originals: Documents
    measure: Measure
    border: Border | None

    @cached_property
    def old(self) -> int:
        """See `Contenders`."""
        return 0 if self.border is None else int(self.documents.searchsorted(self.border.first_new))

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def rule_column(self) -> list[pa.Array]:
        """See `Contenders`."""
        return [self.labels.column("rule")] if "rule" in self.labels.schema.names else []

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        """See `Contenders`."""
        counts: npt.NDArray[np.int64] = numbers_of(self.labels.column("characters"))
        return counts[documents]

    def sizes_of(self, documents: Documents) -> npt.NDArray[np.uint32]:
        """See `Labelled`."""
        sizes: npt.NDArray[np.uint32] = numbers_of(self.labels.column("size"))
        return sizes[documents]

    def ids(self, documents: Documents) -> pa.Array:
        """See `Labelled`."""
        return self.labels.column("id").take(column_of(documents))

    @property
    def ids_repeat(self) -> bool:
        """See `Labelled`."""
        return PLACE_COLUMNS[0] in self.labels.schema.names

    def places(self, documents: Documents) -> Places:
        """See `Labelled`."""
        return Places(*map(self.labels.column, PLACE_COLUMNS)).take(documents)

    def pairs(self, settings: Settings) -> Pairs:
        """All pairs to report, with copies."""
        known, same = (self.near, self.copies, self.originals), self.measure.same
        if self.border is not None:
            return pairs_across(*known, self.old, same, all_pairs=settings.all_pairs)
        return give_back_copies(*known, same, all_pairs=settings.all_pairs)

    def order(self, keep: Keep | None) -> Documents:
        """All documents, those that should rather survive first."""
        if keep is None:
            return np.arange(len(self), dtype=np.uint32)
        return rank(self, self.near, keep)

    def clusters(self, settings: Settings, keep: Keep | None) -> Clusters:
        """Components, which are known where there is no border; or leaders."""
        if settings.cluster == "components" and self.border is None:
            return numbered(self.components)
        order = self.order(keep)
        leading = order if keep is None else by_best_copy(order, self)
        connecting = self.connecting(settings, keep)
        copies = len(self.copies) if connecting is self.near else 0
        return cluster(
            connecting, self.copies[:copies], self.originals[:copies], leading, settings.cluster
        )

    def connecting(self, settings: Settings, keep: Keep | None) -> Pairs:
        """What clusters are made of: across a border, only pairs that are reported."""
        return self.near if self.border is None or keep is not None else self.pairs(settings)

    def unknown(self, settings: Settings, keep: Keep) -> Packed:
        """Pairs of a removed document and its survivor that have not been compared."""
        asked: list[Packed] = []

        def take_note(pairs: Packed) -> Nearness:
            asked.append(pairs)
            return np.zeros(len(pairs))

        self._survivors(settings, keep, take_note)
        return np.setdiff1d(asked[0], join_pairs(self.near.first, self.near.second))

    def removed(self, settings: Settings, keep: Keep, answers: Sequence[Texts]) -> Removed:
        """What goes, and how near it is to what stays for it."""
        unknown = self.unknown(settings, keep)
        first, second = split_pairs(unknown)
        known, texts = joined_texts(answers)
        a, b = (places_of(self.documents[column], known) for column in (first, second))
        pairs = np.concatenate([unknown, join_pairs(self.near.first, self.near.second)])
        now = compared(texts, a, b, self.measure, None)
        nearness = np.concatenate([now, self.near.nearness])
        by_pair = np.argsort(pairs)

        def look_up(sought: Packed) -> Nearness:
            found: Nearness = nearness[by_pair[np.searchsorted(pairs, sought, sorter=by_pair)]]
            return found

        return self._survivors(settings, keep, look_up)

    def _survivors(
        self, settings: Settings, keep: Keep, compare: Callable[[Packed], Nearness]
    ) -> Removed:
        clusters, order = self.clusters(settings, keep), self.order(keep)
        return survivors(self, clusters, order, self.near, compare, self.measure.same)


def asks_for_survivors(
    here: int, group: Group, *, settings: Settings, keep: Keep
) -> Iterator[tuple[int, Ask]]:
    """For the texts of removed documents and survivors that have not been compared."""
    first, second = split_pairs(group.unknown(settings, keep))
    pairs = Candidates(group.documents[first], group.documents[second], 0)
    yield from asks_for_texts(here, pairs)


def gathered(number: int, received: Sequence[Piece], *, plan: Plan, partitions: int) -> Group:
    """The components that came to one partition, or shares of them."""
    members = [unpack(part.batch) for part in received if isinstance(part, Member)]
    nobody = Edges(np.empty(0, np.int64), np.empty(0, np.int64))
    labels = together([_as_members(no_labels(plan), nobody), *members])
    labels = labels.take(column_of(np.argsort(numbers_of(labels.column("document")))))
    documents, components = (numbers_of(labels.column(name)) for name in ("document", "component"))
    copies = [part for part in received if isinstance(part, Copies)]
    later = [part.documents for part in copies]
    earlier = [part.originals for part in copies]
    return Group(
        documents=documents,
        labels=labels,
        components=places_of(components, documents),
        is_home=share.homes(components, partitions) == number,
        near=_renumbered(_near_of(received), documents),
        copies=places_of(np.concatenate([np.empty(0, np.int64), *later]), documents),
        originals=places_of(np.concatenate([np.empty(0, np.int64), *earlier]), documents),
        measure=plan.measure,
        border=plan.border,
    )


def _renumbered(near: Near, documents: Numbers) -> Pairs:
    """Pairs in order, by new numbers."""
    first, second, nearness = near
    packed = join_pairs(places_of(first, documents), places_of(second, documents))
    order = np.argsort(packed)
    low, high = split_pairs(packed[order])
    return Pairs(first=low, second=high, nearness=nearness[order])
