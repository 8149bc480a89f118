"""Verified pairs → tables of results: components gathered, clusters made, rows put in order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from nearly.engines.base import Cleaned, Found
from nearly.engines.spark.component import connect
from nearly.engines.spark.corpus import SparkCorpus, SparkPairs
from nearly.engines.spark.exchange import apart, deliver, each, kept, send
from nearly.engines.spark.near_pair import texts_travel
from nearly.engines.spark.partition import difference, group, lookup, row, search
from nearly.engines.spark.partition.border import Border
from nearly.engines.spark.partition.group import Group
from nearly.engines.spark.partition.row import Tables
from nearly.engines.spark.partition.share import NO_SHARES, shared_out
from nearly.engines.spark.partition.verification import Near
from nearly.engines.spark.session.result_frame import frame_of
from nearly.schemas import CLUSTERS, PAIRS, REMOVED, shaped, with_sides
from nearly.stages.survivor import Keep
from nearly.stages.table import read_shown
from nearly.text.unit import unit_of

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["cleaned", "found", "nearest", "shown"]

#: Tables of packed rows, and of each partition how many rows and first documents they have.
Ordered: TypeAlias = "tuple[RDD[Tables], list[dict[str, tuple[int, int]]]]"

#: Pairs of one component that one task lists; those of a larger one are listed by several.
MOST_PAIRS = 250_000
#: Where rows of results stand in the order of all: the columns that come first in them.
PLACES = [pa.field("first", pa.int64()), pa.field("second", pa.int64())]
#: Rows of clusters before the clusters are numbered.
_CLUSTERS = pa.schema([("id", pa.string()), ("weakest", pa.float64())])
_FATES = pa.schema(
    [*_CLUSTERS, ("goes", pa.bool_()), ("survivor", pa.string()), ("similarity", pa.float64())]
)


def found(
    session: SparkSession,
    corpus: SparkCorpus,
    near: SparkPairs,
    checkpoint: str | None,
    *,
    top: int,
) -> Found:
    """Pairs are listed where their component is, and ordered where their first document is."""
    corpus, near = _where_few_meet(corpus, near)
    of_pairs = with_sides(PAIRS, corpus.measure.sides)
    step = partial(row.found_rows, settings=corpus.settings)
    rows = send(step, _groups(corpus, near, checkpoint, in_shares=_may_share(corpus)))
    tables, counts = _in_order(corpus, rows, {"pairs": of_pairs, "clusters": _CLUSTERS})
    pairs = each(partial(row.table, name="pairs"), tables)
    clusters, cluster_count = _numbered(tables, counts)
    return Found(
        pairs=_frame(session, corpus, pairs, of_pairs),
        clusters=_frame(session, corpus, clusters, CLUSTERS),
        pair_count=_rows(counts, "pairs"),
        cluster_count=cluster_count,
        read_top=_top(corpus, near, pairs, top),
        read_difference=_difference(session, corpus, pairs, of_pairs),
    )


def cleaned(
    session: SparkSession,
    corpus: SparkCorpus,
    near: SparkPairs,
    keep: Keep,
    checkpoint: str | None,
) -> Cleaned:
    """Of each member of a cluster who stands for it; texts travel for what is not known."""
    corpus, near = _where_few_meet(corpus, near)
    groups = _groups(corpus, near, checkpoint, in_shares=False)
    rule: dict[str, Any] = {"settings": corpus.settings, "keep": keep}
    asks = send(partial(group.asks_for_survivors, **rule), groups, numbered=True)
    rows = send(partial(row.fate_rows, **rule), groups, texts_travel(corpus, asks))
    clusters, cluster_count = _numbered(*_in_order(corpus, rows, {"clusters": _FATES}))
    names = _shaped(corpus, REMOVED).names
    gone = send(partial(row.removed_rows, names=names), clusters)
    tables, counts = _in_order(corpus, gone, {"removed": REMOVED})
    removed = each(partial(row.table, name="removed"), tables)
    threshold = corpus.measure.threshold(corpus.settings)
    below = partial(row.count_below, measure=corpus.measure, threshold=threshold)
    return Cleaned(
        removed=_frame(session, corpus, removed, REMOVED),
        clusters=_frame(session, corpus, clusters, CLUSTERS),
        removed_count=_rows(counts, "removed"),
        below=sum(removed.map(below).collect()),
        cluster_count=cluster_count,
        read_kept=_kept(session, corpus, removed),
    )


def _where_few_meet(corpus: SparkCorpus, near: SparkPairs) -> tuple[SparkCorpus, SparkPairs]:
    """Together, as a small corpus is, unless there are enough pairs that several tasks are worth
    their while."""
    corpus = corpus.taken_apart() if len(near) > MOST_PAIRS else corpus
    return corpus, near.beside(corpus)


def _may_share(corpus: SparkCorpus) -> bool:
    """Whether no pair or cluster is decided by looking at all pairs of a component."""
    settings = corpus.settings
    return corpus.border is None and settings.cluster == "components" and not settings.all_pairs


def _groups(
    corpus: SparkCorpus, near: SparkPairs, checkpoint: str | None, *, in_shares: bool
) -> RDD[Group]:
    """Whole components, each in one partition; the pairs of very large ones in shares, if they
    may be."""
    partitions = corpus.partitions
    step_of_edges = partial(group.edges_of, border=corpus.border)
    edges = each(step_of_edges, near.states, corpus.repeats, numbered=True)
    labels = connect(edges, len(near) + corpus.links, partitions, folder=checkpoint)
    travelled = deliver(send(group.to_blocks, labels, near.states), partitions)
    shares = NO_SHARES
    if in_shares and len(near) > MOST_PAIRS:
        travelled = kept(travelled)
        crowds = each(partial(group.crowded, least=MOST_PAIRS // partitions), travelled)
        shares = shared_out(crowds.collect(), MOST_PAIRS, partitions)
    step = partial(group.pieces, border=corpus.border, shares=shares, partitions=partitions)
    pieces = send(step, corpus.signed, corpus.repeats, travelled, numbered=True)
    gather = partial(group.gathered, plan=corpus.plan, partitions=partitions)
    return kept(each(gather, deliver(pieces, partitions), numbered=True))


def _in_order(corpus: SparkCorpus, rows: RDD[Any], schemas: Mapping[str, pa.Schema]) -> Ordered:
    """Rows of some tables in the blocks of their first documents, and how many there are."""
    placed = {name: _placed(_shaped(corpus, schema)) for name, schema in schemas.items()}
    there = deliver(rows, corpus.partitions)
    tables = kept(each(partial(row.ordered, schemas=placed), there))
    return tables, tables.map(row.counts).collect()


def _numbered(
    tables: RDD[Tables], counts: Sequence[Mapping[str, tuple[int, int]]]
) -> tuple[RDD[bytes], int]:
    """Rows of clusters, numbered by their first members; and how many clusters there are."""
    starts = [0, *itertools.accumulate(count["clusters"][1] for count in counts)]
    step = partial(row.numbered_clusters, starts=starts)
    return each(step, tables, numbered=True), starts[-1]


def _rows(counts: Sequence[Mapping[str, tuple[int, int]]], table: str) -> int:
    return sum(count[table][0] for count in counts)


def _shaped(corpus: SparkCorpus, schema: pa.Schema) -> pa.Schema:
    return shaped(
        schema,
        corpus.plan.id_type,
        corpus.measure.value,
        with_places=corpus.plan.with_places,
    )


def _placed(schema: pa.Schema) -> pa.Schema:
    return pa.schema([*PLACES, *(field.with_nullable(True) for field in schema)])


def _frame(
    session: SparkSession, corpus: SparkCorpus, rows: RDD[bytes], schema: pa.Schema
) -> DataFrame:
    return frame_of(session, rows, _shaped(corpus, schema))


def _kept(
    session: SparkSession, corpus: SparkCorpus, removed: RDD[bytes]
) -> Callable[[], DataFrame]:
    """The rows of every block without those that go."""

    def read() -> DataFrame:
        gone = apart(removed, corpus.partitions) if corpus.is_together else removed
        rows = send(row.rows_kept, corpus.read.blocks, gone)
        return frame_of(session, rows, corpus.source.schema)

    return read


def _difference(
    session: SparkSession, corpus: SparkCorpus, pairs: RDD[bytes], schema: pa.Schema
) -> Callable[[], DataFrame]:
    """Fingerprints of both documents travel to each row; they are kept, for blocks are read."""

    def read() -> DataFrame:
        partitions = corpus.partitions
        asks = deliver(send(difference.asks_of_rows, pairs, numbered=True), partitions)
        step = partial(difference.fingerprints_of, skipped=corpus.nothing_skipped)
        there = deliver(send(step, corpus.blocks, asks, numbered=True), partitions)
        told = kept(each(difference.with_kinds, pairs, there))
        told_of = _shaped(corpus, schema).append(pa.field("difference", pa.string()))
        return frame_of(session, told, told_of)

    return read


def _top(
    corpus: SparkCorpus, near: SparkPairs, pairs: RDD[bytes], count: int
) -> Callable[[], pa.Table]:
    """The best of all partitions with their texts; of copies, where nothing else is near."""

    def read() -> pa.Table:
        is_listed = corpus.border is not None and corpus.settings.all_pairs
        if len(near) and not is_listed:
            return shown(corpus, nearest(near, count))
        step = partial(lookup.best_of_rows, measure=corpus.measure, count=count)
        best = lookup.gathered(pairs.map(step).collect())
        return shown(corpus, lookup.best_pairs(best, count=count))

    return read


def nearest(
    near: SparkPairs, count: int, *, least: bool = False, border: Border | None = None
) -> Near:
    """The most similar pairs of all partitions, or the least similar; across a border, if any."""
    best = partial(lookup.best_pairs, count=count, least=least)
    states = near.states.map(partial(search.across, border=border))
    return best(lookup.gathered(states.map(best).collect()))


def shown(corpus: SparkCorpus, pairs: Near) -> pa.Table:
    """A few pairs with their texts."""
    few = corpus.look_up(np.unique(np.concatenate(pairs[:2])))
    unit = unit_of(corpus.measure.name, corpus.source.facts())
    return read_shown(few, few.renumbered(pairs), corpus.measure, corpus.plan.id_type, unit)()
