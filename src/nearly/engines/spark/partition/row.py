"""The rows of result tables: made where a component is, ordered where its first document is."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of, truths_of
from nearly.documents.packet import no_rows, pack, together, unpack
from nearly.engines.spark.partition.group import Group
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, places_of, rows_of
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import Texts
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.settings import Settings
from nearly.stages.cluster import Clusters
from nearly.stages.survivor import Keep
from nearly.stages.table import place_columns, side_columns

__all__ = [
    "Rows",
    "Tables",
    "cluster_rows",
    "count_below",
    "counts",
    "fate_rows",
    "found_rows",
    "numbered_clusters",
    "ordered",
    "pair_rows",
    "removed_rows",
    "rows_kept",
    "table",
]


#: Packed rows by the table they belong to.
Tables = dict[str, bytes]


class Rows(NamedTuple):
    """Packed rows of one table."""

    table: str
    packed: bytes


def found_rows(group: Group, *, settings: Settings) -> Iterator[tuple[int, Rows]]:
    """Pairs and members of clusters, sent to the blocks of their first documents."""
    yield from _by_block("pairs", pair_rows(group, settings))
    yield from _by_block("clusters", cluster_rows(group, settings))


def pair_rows(group: Group, settings: Settings) -> pa.RecordBatch:
    """All pairs of some components: both documents, both ids, how near they are."""
    pairs = group.pairs(settings)
    columns = [
        column_of(group.documents[pairs.first]),
        column_of(group.documents[pairs.second]),
        group.ids(pairs.first),
        group.ids(pairs.second),
        column_of(group.measure.shown(pairs.nearness)),
    ]
    names = ["first", "second", "id_a", "id_b", group.measure.value]
    more = side_columns(group, pairs, group.measure)
    more |= place_columns(group, id_a=pairs.first, id_b=pairs.second)
    return pa.record_batch([*columns, *more.values()], names=[*names, *more])


def cluster_rows(group: Group, settings: Settings, keep: Keep | None = None) -> pa.RecordBatch:
    """All members of clusters: the first one of each, the member, its id, the weakest pair.

    Where a share of a cluster's pairs is, only its first member tells the weakest of these.
    """
    clusters = group.clusters(settings, keep)
    connecting = group.connecting(settings, keep)
    weakest = group.measure.shown(clusters.weakest(connecting, group.measure.same))
    columns = [
        column_of(group.documents[_first_members(clusters)]),
        column_of(group.documents[clusters.members]),
        group.ids(clusters.members),
        column_of(weakest[clusters.numbers]),
    ]
    names = ["first", "second", "id", "weakest"]
    places = place_columns(group, id=clusters.members)
    rows = pa.record_batch([*columns, *places.values()], names=[*names, *places])
    is_told = group.is_home[clusters.members] | (clusters.members == _first_members(clusters))
    return rows if is_told.all() else rows.filter(truths_of(is_told))


def fate_rows(
    group: Group, answers: Sequence[Texts], *, settings: Settings, keep: Keep
) -> Iterator[tuple[int, Rows]]:
    """Members of clusters, and whether each goes, who stands for it, and how near they are."""
    rows = cluster_rows(group, settings, keep)
    members = places_of(numbers_of(rows.column("second")), group.documents)
    removed = group.removed(settings, keep, answers)
    survivor = np.arange(len(group), dtype=np.uint32)
    nearness = np.full(len(group), group.measure.same)
    survivor[removed.documents] = removed.survivors
    nearness[removed.documents] = removed.nearness
    fates = {
        "goes": truths_of(survivor[members] != members),
        "survivor": group.ids(survivor[members]),
        group.measure.value: column_of(group.measure.shown(nearness[members])),
        **place_columns(group, survivor=survivor[members]),
    }
    columns = [*rows.columns, *fates.values()]
    names = [*rows.schema.names, *fates]
    yield from _by_block("clusters", pa.record_batch(columns, names=names))


def _first_members(clusters: Clusters) -> Documents:
    starts = np.flatnonzero(np.append(True, np.diff(clusters.numbers) > 0)[: len(clusters.numbers)])
    return clusters.members[starts][clusters.numbers]


def _by_block(table: str, rows: pa.RecordBatch) -> Iterator[tuple[int, Rows]]:
    """Rows sent to the block of their first document."""
    documents: Numbers = numbers_of(rows.column("first"))
    for block, (some,) in by_target(blocks_of(documents), np.arange(len(documents))):
        yield block, Rows(table, pack(rows.take(column_of(some))))


def ordered(received: Sequence[Rows], *, schemas: Mapping[str, pa.Schema]) -> Tables:
    """Each table's rows, which came from everywhere, in order."""
    return {
        name: _ordered([part.packed for part in received if part.table == name], schema)
        for name, schema in schemas.items()
    }


def _ordered(received: Sequence[bytes], schema: pa.Schema) -> bytes:
    """Rows by their first and second document."""
    rows = together([no_rows(schema), *(unpack(part).select(schema.names) for part in received)])
    first, second = (numbers_of(rows.column(name)) for name in ("first", "second"))
    return pack(rows.take(column_of(np.lexsort((second, first)))))


def counts(tables: Tables) -> dict[str, tuple[int, int]]:
    """Of each table, how many rows there are, and how many different first documents."""
    return {name: _counts(unpack(packed)) for name, packed in tables.items()}


def _counts(rows: pa.RecordBatch) -> tuple[int, int]:
    return rows.num_rows, len(np.unique(numbers_of(rows.column("first"))))


def table(tables: Tables, *, name: str) -> bytes:
    """The rows of one table."""
    return tables[name]


def numbered_clusters(number: int, tables: Tables, *, starts: Sequence[int]) -> bytes:
    """Ordered rows of clusters with the number of each; each block counts from its start."""
    rows = _with_weakest(unpack(tables["clusters"]))
    numbers = np.cumsum(_is_new(numbers_of(rows.column("first"))), dtype=np.int64)
    return pack(rows.append_column("cluster", column_of(numbers - 1 + starts[number])))


def _with_weakest(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Each member once, with the weakest pair of all shares of its cluster."""
    first, second, weakest = (
        numbers_of(rows.column(name)) for name in ("first", "second", "weakest")
    )
    is_member = _is_new(first) | _is_new(second)
    if is_member.all():
        return rows
    of_cluster = np.minimum.reduceat(weakest, np.flatnonzero(_is_new(first)))
    told = of_cluster[np.cumsum(_is_new(first)) - 1]
    at = rows.schema.names.index("weakest")
    return rows.set_column(at, "weakest", column_of(told)).filter(truths_of(is_member))


def _is_new(column: Numbers) -> npt.NDArray[np.bool_]:
    """Where a value is another than the one before."""
    return np.append(True, column[1:] != column[:-1])[: len(column)]


def removed_rows(packed: bytes, *, names: Sequence[str]) -> Iterator[tuple[int, Rows]]:
    """Of numbered rows of clusters, those of removed documents, which now come first."""
    rows = unpack(packed)
    gone = rows.filter(rows.column("goes")).select(["second", "first", *names])
    yield from _by_block("removed", gone.rename_columns(["first", "second", *names]))


def count_below(removed: bytes, *, measure: Measure, threshold: Fraction) -> int:
    """How many removed documents are not as near to their survivor as that."""
    shown = numbers_of(unpack(removed).column(measure.value))
    return int((measure.shown(shown) < float(threshold)).sum())  # shown twice is as it was


def rows_kept(block: Block, removed: bytes) -> Iterator[bytes]:
    """All rows of a block but those of removed documents."""
    gone = rows_of(numbers_of(unpack(removed).column("first"))).astype(np.int64)
    for batch in block.kept(gone):
        yield pack(batch)
