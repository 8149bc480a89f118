"""Connected components of pairs that lie in many partitions.

Each partition connects its own pairs first, which leaves at most one edge per document. If what is
left fits in one task, one task connects it. If not, stars are grown in rounds (Kiveris and
others, 2014): every document tells its greater neighbours of the least one, then its smaller
neighbours, until nothing changes. The label of a component is its first document.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearly import _kernels
from nearly.engines.spark.partition.number import Numbers, by_target, places_of
from nearly.engines.spark.partition.placement import place_of, scattered

__all__ = ["Edges", "contracted", "edges_by_document", "large_star", "small_star", "united"]


class Edges(NamedTuple):
    """Documents, and a smaller one that each of them is connected with."""

    documents: Numbers
    others: Numbers


def united(parts: Sequence[Edges]) -> Edges:
    """All of them as one."""
    columns = zip(*parts, strict=True) if parts else ([], [])
    return Edges(*(np.concatenate([np.empty(0, np.int64), *column]) for column in columns))


def contracted(edges: Edges) -> Edges:
    """The same components by fewest edges: each document but the first, with the first."""
    known = np.unique(np.concatenate(edges))
    a, b = (places_of(column, known) for column in edges)
    labels = _kernels.components(a, b, len(known))
    later = np.flatnonzero(labels != np.arange(len(known)))
    return Edges(known[later], known[labels[later]])


def edges_by_document(
    edges: Edges, *, partitions: int, both_ways: bool
) -> Iterator[tuple[int, Edges]]:
    """Each edge sent to where its document is, and to where its other one is."""
    if both_ways:
        edges = united([edges, Edges(edges.others, edges.documents)])
    targets = place_of(scattered(edges.documents), partitions)
    for target, columns in by_target(targets, *edges):
        yield target, Edges(*columns)


def large_star(edges: Edges) -> Edges:
    """Every greater neighbour of a document is connected with the document's least neighbour."""
    edges, least = _with_least(edges)
    is_greater = edges.others > edges.documents
    return _distinct(edges.others[is_greater], least[is_greater])


def small_star(edges: Edges) -> Edges:
    """A document and its smaller neighbours are connected with the least of them."""
    edges, least = _with_least(edges)
    documents = np.concatenate([edges.documents, edges.others])
    return _distinct(documents, np.concatenate([least, least]))


def _with_least(edges: Edges) -> tuple[Edges, Numbers]:
    """Edges by document, and for each the least of its document and all neighbours."""
    order = np.argsort(edges.documents, kind="stable")
    documents, others = edges.documents[order], edges.others[order]
    starts = np.flatnonzero(np.append(True, documents[1:] != documents[:-1])[: len(documents)])
    if not len(starts):
        return Edges(documents, others), others
    least = np.minimum(np.minimum.reduceat(others, starts), documents[starts])
    lengths = np.diff(np.append(starts, len(documents)))
    return Edges(documents, others), np.repeat(least, lengths)


def _distinct(documents: Numbers, others: Numbers) -> Edges:
    """Each edge once, without those from a document to itself."""
    real = documents != others
    edges = np.unique(np.stack([documents[real], others[real]], axis=1), axis=0)
    return Edges(edges[:, 0].copy(), edges[:, 1].copy())
