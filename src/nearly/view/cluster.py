"""A cluster: its members, its pairs, and the weakest link that holds it together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.documents.place import keys
from nearly.view.label import Labels
from nearly.view.result import Result, value_of

__all__ = ["ClusterView", "largest_clusters", "links_of"]

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ClusterView:
    """Documents that are linked by pairs; only some of them may be named."""

    number: int
    size: int
    members: tuple[str, ...]
    weakest: float
    weakest_pair: tuple[str, str] | None  # None where only copies are linked


def links_of(pairs: pa.Table, members: pa.Table, number: int) -> pa.Table:
    """The pairs of one cluster."""
    inside = keys(members.filter(pc.equal(members["cluster"], number)), "id").combine_chunks()
    first, second = (pc.is_in(keys(pairs, column), inside) for column in ("id_a", "id_b"))
    return pairs.filter(pc.and_(first, second))


def largest_clusters(
    result: Result, labels: Labels, most: int, named: int
) -> Iterator[ClusterView]:
    """The largest ones, of equals those that come first; each with its first members."""
    members, pairs = result.clusters, result.pairs
    numbers = members["cluster"].to_numpy()
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    sizes = np.diff(starts, append=len(numbers))
    weakest = _weakest(result, len(starts))
    for place in np.argsort(-sizes, kind="stable")[:most].tolist():
        start, size, pair = int(starts[place]), int(sizes[place]), int(weakest[place])
        link = pairs.slice(pair, 1)
        ends = (labels.of(link, "id_a")[0], labels.of(link, "id_b")[0]) if pair >= 0 else None
        yield ClusterView(
            number=int(numbers[start]),
            size=size,
            members=tuple(labels.of(members.slice(start, min(size, named)), "id")),
            weakest=members["weakest"][start].as_py(),
            weakest_pair=ends,
        )


def _weakest(result: Result, clusters: int) -> Whole:
    """The place of each cluster's farthest pair, of equals of the first; -1 where it has none.

    With leaders, pairs may lie between clusters.
    """
    members, pairs = result.clusters, result.pairs
    of_member = np.unique(members["cluster"].to_numpy(), return_inverse=True)[1]
    known = keys(members, "id").combine_chunks()
    first, second = (_clusters(keys(pairs, c), known, of_member) for c in ("id_a", "id_b"))
    value = value_of(pairs)
    farness = pairs[value].to_numpy() * (-1 if value == "similarity" else 1)
    order = np.lexsort((-np.arange(len(farness)), farness))
    order = order[((first == second) & (first >= 0))[order]]
    found = np.full(clusters, -1, np.int64)
    found[first[order]] = order  # the last one written stays: the farthest, of equals the first
    return found


def _clusters(documents: pa.ChunkedArray, known: pa.Array, of_member: Whole) -> Whole:
    """The cluster of each document; -1 of those that are in none."""
    places: Whole = pc.fill_null(pc.index_in(documents, known), -1).to_numpy()
    return np.append(of_member, -1)[places]
