"""From verified pairs to clusters."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.frozen import dataclass
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed, Pairs, in_order
from nearly.settings import Clustering

__all__ = ["Clusters", "InOrder", "cluster", "numbered"]

#: Puts packed pairs in order that come some at a time; all of them may not fit in memory.
InOrder = Callable[[Iterable[tuple[Packed, Nearness]]], Pairs]


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Members of clusters of two and more, cluster by cluster, each in ascending order.

    Clusters are numbered by their first members. `labels` is the document that a cluster was
    built around: the first one of a component, or the leader.
    """

    members: Documents
    numbers: npt.NDArray[np.int64]
    labels: Documents

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return int(self.numbers[-1]) + 1 if len(self.numbers) else 0

    def weakest(self, pairs: Pairs, same: float) -> Nearness:
        """The least nearness of a pair inside each cluster; `same` where all are copies."""
        least = np.full(self.count, same)
        number_of = self._numbers_by_document(pairs)
        for part in pairs.parts():
            first, second = number_of[part.first], number_of[part.second]
            inside = (first == second) & (first >= 0)
            np.minimum.at(least, first[inside], part.nearness[inside])
        return least

    def _numbers_by_document(self, pairs: Pairs) -> npt.NDArray[np.int64]:
        columns = (self.members, *(part.second for part in pairs.parts()))
        last = max((int(column.max()) for column in columns if len(column)), default=0)
        number_of = np.full(last + 1, -1, np.int64)
        number_of[self.members] = self.numbers
        return number_of


def cluster(
    near: Pairs,
    copies: Documents,
    originals: Documents,
    order: Documents,
    method: Clustering,
    in_order: InOrder = in_order,
) -> Clusters:
    """Connected components, or greedy leaders in the given order of all documents.

    Copies go where their representative goes: what is verified of it is verified of them.
    """
    if method == "leader":
        labels = _leaders(near, order, in_order)
    else:
        labels = _components(near, len(order))
    labels[copies] = labels[originals]
    return numbered(labels)


def _leaders(near: Pairs, order: Documents, in_order: InOrder) -> Documents:
    """The leader of each document, itself where it leads; `order` says who comes first."""
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    leaders = _kernels.Leaders(len(order))
    for part in in_order(_ranked(near, rank)).parts():
        leaders.add(part.first, part.second, part.nearness)
    labels = np.empty(len(order), np.uint32)
    labels[order] = order[leaders.ranks()]
    return labels


def _ranked(near: Pairs, rank: Documents) -> Iterator[tuple[Packed, Nearness]]:
    """Pairs of ranks, the later one in the upper half."""
    for part in near.parts():
        first, second = rank[part.first], rank[part.second]
        later = np.maximum(first, second).astype(np.uint64)
        yield later << np.uint64(32) | np.minimum(first, second), part.nearness.copy()


def _components(near: Pairs, documents: int) -> Documents:
    """The lowest document that each one is connected with; what parts connect is connected."""
    labels = np.arange(documents, dtype=np.uint32)
    for part in near.parts():
        labels = _kernels.components(labels[part.first], labels[part.second], documents)[labels]
    return labels


def numbered(labels: Documents) -> Clusters:
    """Clusters of documents that have one label; a document alone is none."""
    sizes = np.bincount(labels, minlength=len(labels))
    members = np.flatnonzero(sizes[labels] > 1).astype(np.uint32)
    _, starts, which = np.unique(labels[members], return_index=True, return_inverse=True)
    rank = np.empty(len(starts), np.int64)
    rank[np.argsort(starts)] = np.arange(len(starts))
    numbers = rank[which]
    together = np.argsort(numbers, kind="stable")
    members = members[together]
    return Clusters(members=members, numbers=numbers[together], labels=labels[members])
