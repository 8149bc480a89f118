"""The rows of result tables: made where a component is, ordered where its first document is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nearly.arrays import column_of, numbers_of, truths_of
from nearly.documents.number import Documents
from nearly.engines.spark.partition.group import Group
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, places_of, rows_of
from nearly.engines.spark.partition.packet import pack, together, unpack
from nearly.engines.spark.partition.verification import Texts
from nearly.schemas import REMOVED
from nearly.settings import Settings
from nearly.stages.cluster import Clusters
from nearly.stages.survivor import Keep
from nearly.stages.table import without_rows

__all__ = [
    "Rows",
    "Tables",
    "by_block",
    "cluster_rows",
    "counts",
    "fate_rows",
    "numbered_clusters",
    "ordered",
    "pair_rows",
    "removed_rows",
    "rows_without",
]


#: Packed rows by the table they belong to.
Tables = dict[str, bytes]


class Rows(NamedTuple):
    """Packed rows of one table."""

    table: str
    packed: bytes


def pair_rows(group: Group, settings: Settings) -> pa.RecordBatch:
    """All pairs of some components: both documents, both ids, similarity."""
    pairs = group.pairs(settings)
    columns = [
        column_of(group.documents[pairs.first]),
        column_of(group.documents[pairs.second]),
        group.ids(pairs.first),
        group.ids(pairs.second),
        column_of(pairs.similarity),
    ]
    return pa.record_batch(columns, names=["first", "second", "id_a", "id_b", "similarity"])


def cluster_rows(group: Group, settings: Settings, keep: Keep | None = None) -> pa.RecordBatch:
    """All members of clusters: the first one of each, the member, its id, the weakest pair."""
    clusters = group.clusters(settings, keep)
    columns = [
        column_of(group.documents[_first_members(clusters)]),
        column_of(group.documents[clusters.members]),
        group.ids(clusters.members),
        column_of(clusters.weakest(group.near)[clusters.numbers]),
    ]
    return pa.record_batch(columns, names=["first", "second", "id", "weakest"])


def fate_rows(
    group: Group, answers: Sequence[Texts], settings: Settings, keep: Keep
) -> pa.RecordBatch:
    """The same, and whether each goes, who stands for it, and how similar they are."""
    rows = cluster_rows(group, settings, keep)
    members = places_of(numbers_of(rows.column("second")), group.documents)
    removed = group.removed(settings, keep, answers)
    survivor = np.arange(len(group), dtype=np.uint32)
    similarity = np.ones(len(group))
    survivor[removed.documents] = removed.survivors
    similarity[removed.documents] = removed.similarity
    fates = {
        "goes": truths_of(survivor[members] != members),
        "survivor": group.ids(survivor[members]),
        "similarity": column_of(similarity[members]),
    }
    columns = [*rows.columns, *fates.values()]
    return pa.record_batch(columns, names=[*rows.schema.names, *fates])


def _first_members(clusters: Clusters) -> Documents:
    starts = np.flatnonzero(np.append(True, np.diff(clusters.numbers) > 0)[: len(clusters.numbers)])
    return clusters.members[starts][clusters.numbers]


def by_block(rows: pa.RecordBatch, column: str) -> Iterator[tuple[int, bytes]]:
    """Rows sent to the block of a document."""
    documents: Numbers = numbers_of(rows.column(column))
    for block, (some,) in by_target(blocks_of(documents), np.arange(len(documents))):
        yield block, pack(rows.take(column_of(some)))


def ordered(received: Sequence[bytes], schema: pa.Schema) -> bytes:
    """Rows that came from everywhere, by their first and second document."""
    none = pa.RecordBatch.from_pylist([], schema=schema)
    rows = together([none, *map(unpack, received)])
    first, second = (numbers_of(rows.column(name)) for name in ("first", "second"))
    return pack(rows.take(column_of(np.lexsort((second, first)))))


def counts(rows: pa.RecordBatch) -> tuple[int, int]:
    """How many rows there are, and how many different first documents."""
    return rows.num_rows, len(np.unique(numbers_of(rows.column("first"))))


def numbered_clusters(rows: pa.RecordBatch, start: int) -> bytes:
    """Ordered rows of clusters with the number of each, counted from `start`."""
    first = numbers_of(rows.column("first"))
    is_new = np.append(True, first[1:] != first[:-1])[: len(first)]
    numbers = column_of(np.cumsum(is_new, dtype=np.int64) - 1 + start)
    return pack(rows.append_column("cluster", numbers))


def removed_rows(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Of numbered rows of clusters, those of removed documents, which now come first."""
    gone = rows.filter(rows.column("goes"))
    names = ["second", "first", *REMOVED.names]
    return gone.select(names).rename_columns(["first", "second", *REMOVED.names])


def rows_without(batches: Iterable[pa.RecordBatch], removed: pa.RecordBatch) -> Iterator[bytes]:
    """All rows of a block but those of removed documents."""
    gone = rows_of(numbers_of(removed.column("first"))).astype(np.int64)
    for batch in without_rows(batches, gone):
        yield pack(batch)
