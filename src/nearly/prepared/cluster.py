"""Clusters: the largest first, and one with its members, its links and what is not linked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.arrays import string_array
from nearly.errors import MissingError
from nearly.measures.choice import choose_measure
from nearly.measures.pair import Nearness
from nearly.prepared.result import Prepared

__all__ = ["ClusterList", "OneCluster", "list_clusters", "one_cluster"]

#: Clusters of a page, and members of one that are named there.
PAGE: Final = 25
NAMED: Final = 5
#: Members of one cluster that are drawn, and how many are all compared with each other.
MOST_DRAWN: Final = 200
MOST_COMPARED: Final = 60
#: Characters of all members together that are compared at once.
MOST_TEXT: Final = 2_000_000


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


class Link(NamedTuple):
    """Two members, by their places among those that are drawn, and how near they are.

    A near miss is not in the result: `pair` is None.
    """

    a: int
    b: int
    value: float
    pair: int | None


class Survivor(NamedTuple):
    """Who stays by a rule of `dedup --keep`."""

    rule: str
    member: int
    name: str
    why: str


@dataclass(frozen=True, kw_only=True)
class OneCluster:
    """A cluster; of a large one, the members with the most links."""

    cluster: int
    size: int
    value: str
    least: float  # the threshold of the run
    weakest: float
    weakest_pair: int | None  # None where only copies are linked
    links: tuple[Link, ...]
    total_links: int
    documents: tuple[int, ...]
    names: tuple[str, ...]
    survivors: tuple[Survivor, ...]
    is_compared: bool  # whether members that are not linked were compared too

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        plain["links"] = [link._asdict() for link in self.links]
        plain["survivors"] = [each._asdict() for each in self.survivors]
        return plain


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
    found = _links(prepared, pairs, drawn)
    missed = _near_misses(prepared, drawn, found)
    settings = prepared.found.settings
    return OneCluster(
        cluster=cluster,
        size=len(prepared.members_of(cluster)),
        value=prepared.value,
        least=settings.threshold if settings.within is None else settings.within,
        weakest=_weakest(prepared, cluster),
        weakest_pair=_farthest(prepared, pairs),
        links=(*found, *(missed or ())),
        total_links=len(pairs),
        documents=tuple(drawn.tolist()),
        names=tuple(prepared.names(drawn.tolist(), hidden=hidden)),
        survivors=tuple(_survivors(prepared, cluster, hidden=hidden)),
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


def _links(
    prepared: Prepared, pairs: npt.NDArray[np.int32], drawn: npt.NDArray[np.int64]
) -> list[Link]:
    first, second = prepared.array("first")[pairs], prepared.array("second")[pairs]
    inside = np.isin(first, drawn) & np.isin(second, drawn)
    places = (np.searchsorted(drawn, column[inside]).tolist() for column in (first, second))
    chosen = pairs[inside]
    values = prepared.values_of(chosen)
    return [Link(*link) for link in zip(*places, values, chosen.tolist(), strict=True)]


def _near_misses(
    prepared: Prepared, drawn: npt.NDArray[np.int64], found: list[Link]
) -> list[Link] | None:
    """Members that are not linked, compared exactly; None where that is too much, or unknown."""
    texts = _texts(prepared, drawn)
    if texts is None:
        return None
    linked = {(min(link.a, link.b), max(link.a, link.b)) for link in found}
    everyone = ((a, b) for b in range(len(texts)) for a in range(b))
    unlinked = [pair for pair in everyone if pair not in linked]
    if not unlinked:
        return []
    first, second = np.array(unlinked, np.uint32).T.copy()
    values = _compared(prepared, texts, first, second)
    return [Link(a, b, float(v), None) for (a, b), v in zip(unlinked, values, strict=True)]


def _texts(prepared: Prepared, drawn: npt.NDArray[np.int64]) -> list[str] | None:
    settings, source = prepared.found.settings, prepared.found.statistics.source or {}
    is_known = not settings.common and not {"items", "vector"} & set(source)
    if prepared.texts is None or not is_known or len(drawn) > MOST_COMPARED:
        return None
    texts = [prepared.texts.of(document) for document in drawn.tolist()]
    whole = [text for text in texts if text is not None]
    is_small = sum(map(len, whole)) <= MOST_TEXT
    return whole if len(whole) == len(texts) and is_small else None


def _compared(
    prepared: Prepared,
    texts: list[str],
    first: npt.NDArray[np.uint32],
    second: npt.NDArray[np.uint32],
) -> Nearness:
    measure = choose_measure(prepared.found.statistics.measure, prepared.found.settings, None)
    nearness = measure.compare(string_array(texts), first, second, None)
    return measure.shown(np.nan_to_num(nearness, nan=0.0))


def _survivors(prepared: Prepared, cluster: int, *, hidden: bool) -> list[Survivor]:
    """By the rules that need nothing but the documents."""
    members = prepared.members_of(cluster)
    if prepared.texts is None or len(members) > MOST_DRAWN:
        return []
    places = prepared.texts.in_source(np.arange(members.start, members.stop))
    lengths = np.array([len(prepared.texts.of(each) or "") for each in members])
    chosen = (
        ("first", int(np.argmin(places)), "stands first in the source"),
        ("last", int(np.argmax(places)), "stands last in the source"),
        ("longest", _first_of(-lengths, places), "has the most characters: {:,}"),
        ("shortest", _first_of(lengths, places), "has the fewest characters: {:,}"),
    )
    names = prepared.names([members.start + member for _, member, _ in chosen], hidden=hidden)
    return [
        Survivor(rule, members.start + member, name, why.format(int(lengths[member])))
        for (rule, member, why), name in zip(chosen, names, strict=True)
    ]


def _first_of(preference: npt.NDArray[np.int64], places: npt.NDArray[np.int32]) -> int:
    """The least; of equals the one that stands first in the source."""
    return int(np.lexsort((places, preference))[0])
