"""Whole components, each in one partition with all that is known of its documents.

What is decided inside a component, clusters, survivors and the pairs to report, is decided by the
functions that decide it on one machine: documents are numbered anew from 0, in the same order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.documents.number import Documents
from nearly.engines.spark.partition.bucket import Ask, Candidates
from nearly.engines.spark.partition.component import Edges, united
from nearly.engines.spark.partition.copy import Copies
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, places_of, rows_of
from nearly.engines.spark.partition.packet import pack, together, unpack
from nearly.engines.spark.partition.placement import place_of, scattered
from nearly.engines.spark.partition.verification import (
    Near,
    Texts,
    asks_for_texts,
    joined_texts,
    similarities,
)
from nearly.settings import Settings
from nearly.stages.cluster import Clusters, cluster
from nearly.stages.copy import link_copies, spell_out_copies
from nearly.stages.pair import Packed, Pairs, join_pairs, split_pairs
from nearly.stages.survivor import Keep, Removed, by_best_copy, rank, survivors

__all__ = ["Group", "Member", "Piece", "gathered", "pieces", "to_blocks"]


class Member(NamedTuple):
    """Documents of some components, as packed batches of document, id and what `keep` looks at."""

    batch: bytes


#: What is sent to where a component is gathered.
Piece = Member | Near | Copies


def to_blocks(edges: Edges, near: Near) -> Iterator[tuple[int, Edges | Near]]:
    """Labels to the blocks of their documents, pairs to those of their first ones."""
    firsts = np.unique(edges.others)
    labelled = united([edges, Edges(firsts, firsts)])
    for block, columns in by_target(blocks_of(labelled.documents), *labelled):
        yield block, Edges(*columns)
    for block, (first, second, similarity) in by_target(blocks_of(near.first), *near):
        yield block, Near(first, second, similarity)


def pieces(
    facts: pa.RecordBatch,
    copies: Copies,
    received: Sequence[Edges | Near],
    partitions: int,
) -> Iterator[tuple[int, Piece]]:
    """All that a block knows of components, sent to where each is gathered.

    `facts` are the documents of the block by `row`. The label of a component is its first
    document, which may lie in another block.
    """
    edges = [part for part in received if isinstance(part, Edges)]
    documents = np.concatenate([np.empty(0, np.int64), *(part.documents for part in edges)])
    labels = np.concatenate([np.empty(0, np.int64), *(part.others for part in edges)])
    documents, places = np.unique(documents, return_index=True)
    targets = place_of(scattered(labels[places]), partitions)
    rows = numbers_of(facts.column("row"))
    named = facts.take(column_of(np.searchsorted(rows, rows_of(documents))))
    batch = _as_members(named, documents)
    for target, (some,) in by_target(targets, np.arange(len(documents))):
        yield target, Member(pack(batch.take(column_of(some))))
    for part in received:
        if isinstance(part, Near):
            theirs = targets[places_of(part.first, documents)]
            for target, (first, second, similarity) in by_target(theirs, *part):
                yield target, Near(first, second, similarity)
    if len(copies.documents):
        theirs = targets[places_of(copies.documents, documents)]
        for target, columns in by_target(theirs, *copies):
            yield target, Copies(*columns)


def _as_members(facts: pa.RecordBatch, documents: Numbers) -> pa.RecordBatch:
    """Facts by document instead of by row."""
    columns = [column_of(documents), *facts.columns[1:]]
    return pa.record_batch(columns, names=["document", *facts.schema.names[1:]])


@dataclass(frozen=True, kw_only=True)
class Group:
    """The documents of whole components in ascending order: a small corpus of contenders."""

    documents: Numbers
    facts: pa.RecordBatch
    near: Pairs
    copies: Documents
    originals: Documents

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def also(self) -> list[pa.Array]:
        """See `Contenders`."""
        return [self.facts.column("also")] if "also" in self.facts.schema.names else []

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        """See `Contenders`."""
        counts: npt.NDArray[np.int64] = numbers_of(self.facts.column("characters"))
        return counts[documents]

    def ids(self, documents: Documents) -> pa.Array:
        """The ids of these documents, in the given order."""
        return self.facts.column("id").take(column_of(documents))

    def pairs(self, settings: Settings) -> Pairs:
        """All pairs to report, with copies."""
        give_back = spell_out_copies if settings.all_pairs else link_copies
        return give_back(self.near, self.copies, self.originals)

    def order(self, keep: Keep | None) -> Documents:
        """All documents, those that should rather survive first."""
        if keep is None:
            return np.arange(len(self), dtype=np.uint32)
        return rank(self, self.near, keep)

    def clusters(self, settings: Settings, keep: Keep | None) -> Clusters:
        """Components or leaders."""
        order = self.order(keep)
        leading = order if keep is None else by_best_copy(order, self)
        return cluster(self.near, self.copies, self.originals, leading, settings.cluster)

    def unknown(self, settings: Settings, keep: Keep) -> Packed:
        """Pairs of a removed document and its survivor whose similarity is not known yet."""
        asked: list[Packed] = []

        def take_note(pairs: Packed, _: Fraction) -> Pairs:
            asked.append(pairs)
            first, second = split_pairs(pairs)
            return Pairs(first=first, second=second, similarity=np.zeros(len(pairs)))

        survivors(self, self.clusters(settings, keep), self.order(keep), take_note)
        return np.setdiff1d(asked[0], join_pairs(self.near.first, self.near.second))

    def asks(self, here: int, settings: Settings, keep: Keep) -> Iterator[tuple[int, Ask]]:
        """For the texts of the unknown pairs."""
        first, second = split_pairs(self.unknown(settings, keep))
        pairs = Candidates(self.documents[first], self.documents[second], 0)
        yield from asks_for_texts(here, pairs)

    def removed(self, settings: Settings, keep: Keep, answers: Sequence[Texts]) -> Removed:
        """What goes, and how similar it is to what stays for it."""
        unknown = self.unknown(settings, keep)
        first, second = split_pairs(unknown)
        known, texts = joined_texts(answers)
        a, b = (places_of(self.documents[column], known) for column in (first, second))
        pairs = np.concatenate([unknown, join_pairs(self.near.first, self.near.second)])
        similarity = np.concatenate(
            [similarities(texts, a, b, settings, Fraction(0)), self.near.similarity]
        )
        by_pair = np.argsort(pairs)

        def look_up(sought: Packed, _: Fraction) -> Pairs:
            low, high = split_pairs(sought)
            found = by_pair[np.searchsorted(pairs, sought, sorter=by_pair)]
            return Pairs(first=low, second=high, similarity=similarity[found])

        return survivors(self, self.clusters(settings, keep), self.order(keep), look_up)


def gathered(received: Sequence[Piece], no_facts: pa.RecordBatch) -> Group:
    """The components that came to one partition."""
    members = [unpack(part.batch) for part in received if isinstance(part, Member)]
    facts = together([_as_members(no_facts, np.empty(0, np.int64)), *members])
    documents: Numbers = numbers_of(facts.column("document"))
    order = np.argsort(documents)
    documents = documents[order]
    near = [part for part in received if isinstance(part, Near)]
    copies = [part for part in received if isinstance(part, Copies)]
    later = [part.documents for part in copies]
    earlier = [part.originals for part in copies]
    return Group(
        documents=documents,
        facts=facts.take(column_of(order)),
        near=_renumbered(near, documents),
        copies=places_of(np.concatenate([np.empty(0, np.int64), *later]), documents),
        originals=places_of(np.concatenate([np.empty(0, np.int64), *earlier]), documents),
    )


def _renumbered(near: Sequence[Near], documents: Numbers) -> Pairs:
    """Pairs in order, by new numbers."""
    none = Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    first, second, similarity = map(np.concatenate, zip(none, *near, strict=True))
    packed = join_pairs(places_of(first, documents), places_of(second, documents))
    order = np.argsort(packed)
    low, high = split_pairs(packed[order])
    return Pairs(first=low, second=high, similarity=similarity[order])
