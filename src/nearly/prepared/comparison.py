"""Two results beside each other: pairs only here, only there, and what was set differently."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.prepared.identity import meetings
from nearly.prepared.listing import PairRow, rows_of
from nearly.prepared.result import Prepared

__all__ = ["Beside", "compare_results"]

#: Pairs of each side that are listed, the nearest first.
MOST_LISTED: Final = 25

Places = npt.NDArray[np.intp]
Whole = npt.NDArray[np.int32]


class Setting(NamedTuple):
    """What differs in how the two were made."""

    name: str
    here: str
    there: str


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What two results have in common, and what not."""

    pairs: tuple[int, int]
    clusters: tuple[int, int]
    documents: tuple[int, int]  # that are in pairs or clusters
    both: int  # pairs that are in both
    changed: int  # of these, pairs whose value differs
    only_here: int
    only_there: int
    clustered: tuple[int, int]  # documents that are in a cluster only here, and only there
    other_clusters: int  # documents that are in clusters of both, with other company
    here: tuple[PairRow, ...]
    there: tuple[PairRow, ...]
    settings: tuple[Setting, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"settings": [each._asdict() for each in self.settings]}


def compare_results(here: Prepared, there: Prepared, *, hidden: bool = False) -> Beside:
    """Pairs are the same if their documents are, by id or by place."""
    ours, theirs = _met("pair", here, there)
    values = here.array("pair_values")[ours], there.array("pair_values")[theirs]
    counts = len(here.array("order")), len(there.array("order"))
    return Beside(
        pairs=counts,
        clusters=(len(here.array("largest_first")), len(there.array("largest_first"))),
        documents=(here.documents.num_rows, there.documents.num_rows),
        both=len(ours),
        changed=int(np.count_nonzero(values[0] != values[1])),
        only_here=counts[0] - len(ours),
        only_there=counts[1] - len(theirs),
        **_clusters(here, there),
        here=_nearest(here, ours, hidden=hidden),
        there=_nearest(there, theirs, hidden=hidden),
        settings=tuple(_settings(here, there)),
    )


def _met(kind: str, here: Prepared, there: Prepared) -> tuple[Places, Places]:
    """Names, or pairs, that both have: where they stand in the order of their keys."""
    return meetings(
        (here.array(f"{kind}_keys"), here.array(f"{kind}_checks")),
        (there.array(f"{kind}_keys"), there.array(f"{kind}_checks")),
    )


def _nearest(side: Prepared, shared: Places, *, hidden: bool) -> tuple[PairRow, ...]:
    """Of the pairs that are not shared, those that come first."""
    order = side.array("order")
    is_other = np.ones(len(order), bool)
    is_other[side.array("pair_ranks")[shared]] = False
    chosen = order[np.flatnonzero(is_other)[:MOST_LISTED]]
    return tuple(rows_of(side, chosen, {}, hidden=hidden))


def _clusters(here: Prepared, there: Prepared) -> dict[str, Any]:
    at_ours, at_theirs = _met("name", here, there)
    ours, theirs = here.array("name_clusters")[at_ours], there.array("name_clusters")[at_theirs]
    in_both = (ours >= 0) & (theirs >= 0)
    totals = (int(side.array("cluster_starts")[-1]) for side in (here, there))
    alone = tuple(total - int(np.count_nonzero(in_both)) for total in totals)
    return {"clustered": alone, "other_clusters": _moved(ours[in_both], theirs[in_both])}


def _moved(ours: Whole, theirs: Whole) -> int:
    """Documents whose cluster has other members, of those that are in clusters of both."""
    if not len(ours):
        return 0
    sizes_ours, sizes_theirs = np.bincount(ours), np.bincount(theirs)
    # The cluster of ours that some member of each of theirs is in: that of all, if they stayed.
    one = np.zeros(len(sizes_theirs), np.int32)
    one[theirs] = ours
    is_same = sizes_ours[one] == sizes_theirs
    is_same[theirs[one[theirs] != ours]] = False
    return int(len(ours) - sizes_theirs[is_same].sum())


def _settings(here: Prepared, there: Prepared) -> list[Setting]:
    ours, theirs = (_plain(side) for side in (here, there))
    names = dict.fromkeys([*ours, *theirs])
    told = [Setting(name, str(ours.get(name)), str(theirs.get(name))) for name in names]
    return [each for each in told if each.here != each.there]


def _plain(side: Prepared) -> dict[str, Any]:
    settings: dict[str, Any] = side.found.settings.to_dict()
    text: dict[str, Any] = settings.pop("text")
    numbers = side.found.statistics
    told = {"measure": numbers.measure, "method": numbers.method, "documents": numbers.documents}
    return settings | text | told | {"group": side.members["group"]}
