"""Clusters: the largest first, and one with its members, its links and what is not linked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.errors import MissingError
from nearly.prepared.link import Links, links_among, near_misses
from nearly.prepared.result import Prepared
from nearly.prepared.survivor import Survivor, survivors_of

__all__ = ["ClusterList", "OneCluster", "list_clusters", "one_cluster"]

#: Clusters of a page, and members of one that are named there.
PAGE: Final = 25
NAMED: Final = 5
#: Members of one cluster that are drawn.
MOST_DRAWN: Final = 200


class ClusterRow(NamedTuple):
    """A cluster in a list; only the first members are named."""

    cluster: int
    size: int
    weakest: float
    members: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ClusterList:
    """One page of clusters."""

    total: int
    page: int
    pages: int
    rows: tuple[ClusterRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"rows": [row._asdict() for row in self.rows]}


@dataclass(frozen=True, kw_only=True)
class OneCluster:
    """A cluster; of a large one, the members with the most links."""

    cluster: int
    size: int
    value: str
    least: float  # the threshold of the run
    weakest: float
    weakest_pair: int | None  # None where only copies are linked
    links: Links
    total_links: int
    documents: tuple[int, ...]
    names: tuple[str, ...]
    survivors: tuple[Survivor, ...]
    is_compared: bool  # whether members that are not linked were compared too

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        survivors = [each._asdict() for each in self.survivors]
        return vars(self) | {"links": self.links.rows(), "survivors": survivors}


def list_clusters(prepared: Prepared, *, page: int = 1, hidden: bool = False) -> ClusterList:
    """The largest first, of equals in the order of the source."""
    order = prepared.array("largest_first")
    pages = max(1, -(-len(order) // PAGE))
    page = min(max(page, 1), pages)
    shown = order[(page - 1) * PAGE : page * PAGE].tolist()
    rows = tuple(_row(prepared, cluster, hidden=hidden) for cluster in shown)
    return ClusterList(total=len(order), page=page, pages=pages, rows=rows)


def _row(prepared: Prepared, cluster: int, *, hidden: bool) -> ClusterRow:
    members = prepared.members_of(cluster)
    names = prepared.names(members[:NAMED], hidden=hidden)
    return ClusterRow(cluster, len(members), _weakest(prepared, cluster), tuple(names))


def _weakest(prepared: Prepared, cluster: int) -> float:
    first = prepared.members_of(cluster).start
    value: float = prepared.found.clusters["weakest"][first].as_py()
    return value


def one_cluster(prepared: Prepared, cluster: int, *, hidden: bool = False) -> OneCluster:
    """A cluster by its number."""
    clusters = len(prepared.array("largest_first"))
    if not 0 <= cluster < clusters:
        raise MissingError(
            f"there is no cluster {cluster}; the result has {clusters:,}, numbered from 0"
        )
    pairs = prepared.links_inside(cluster)
    drawn = _drawn(prepared, cluster)
    found = links_among(prepared, pairs, drawn)
    missed = near_misses(prepared, drawn, found)
    settings = prepared.found.settings
    return OneCluster(
        cluster=cluster,
        size=len(prepared.members_of(cluster)),
        value=prepared.value,
        least=settings.threshold if settings.within is None else settings.within,
        weakest=_weakest(prepared, cluster),
        weakest_pair=_farthest(prepared, pairs),
        links=found if missed is None else found + missed,
        total_links=len(pairs),
        documents=tuple(drawn.tolist()),
        names=tuple(prepared.names(drawn.tolist(), hidden=hidden)),
        survivors=tuple(survivors_of(prepared, cluster, hidden=hidden)),
        is_compared=missed is not None,
    )


def _farthest(prepared: Prepared, pairs: npt.NDArray[np.int32]) -> int | None:
    """Of equals, the first."""
    if not len(pairs):
        return None
    ranks = prepared.array("falling")[prepared.array("rank")[pairs]]
    return int(pairs[int(np.argmax(ranks))])


def _drawn(prepared: Prepared, cluster: int) -> npt.NDArray[np.int64]:
    """All members; of too many, those with the most links, in the order of the cluster."""
    members = prepared.members_of(cluster)
    starts = prepared.array("link_starts")[members.start : members.stop + 1]
    most = np.argsort(-np.diff(starts), kind="stable")[:MOST_DRAWN]
    return np.sort(most) + members.start
