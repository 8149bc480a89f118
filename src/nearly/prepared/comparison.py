"""Two results beside each other: pairs only here, only there, and what was set differently."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly import _kernels
from nearly.arrays import column_of, spans
from nearly.documents.place import keys
from nearly.prepared.listing import PairRow, rows_of
from nearly.prepared.result import Prepared

__all__ = ["Beside", "compare_results"]

#: Pairs of each side that are listed, the nearest first.
MOST_LISTED: Final = 25

Whole = npt.NDArray[np.int64]


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
    other_clusters: int  # documents of both that have other company
    here: tuple[PairRow, ...]
    there: tuple[PairRow, ...]
    settings: tuple[Setting, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"settings": [each._asdict() for each in self.settings]}


def compare_results(here: Prepared, there: Prepared, *, hidden: bool = False) -> Beside:
    """Pairs are the same if their documents are, by id or by place."""
    names = _names(here)
    numbers = places_of(_names(there), names)
    ours, theirs = _pairs(here, np.arange(len(names))), _pairs(there, numbers)
    both, at_ours, at_theirs = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    values = [
        side.array("falling")[side.array("rank")[places]]
        for side, places in ((here, at_ours), (there, at_theirs))
    ]
    only_ours = _others(len(ours), at_ours)
    only_theirs = _others(len(theirs), at_theirs)
    return Beside(
        pairs=(len(ours), len(theirs)),
        clusters=(len(here.array("largest_first")), len(there.array("largest_first"))),
        documents=(len(names), len(numbers)),
        both=len(both),
        changed=int(np.count_nonzero(values[0] != values[1])),
        only_here=len(only_ours),
        only_there=len(only_theirs),
        other_clusters=_moved(here, there, numbers),
        here=_nearest(here, only_ours, hidden=hidden),
        there=_nearest(there, only_theirs, hidden=hidden),
        settings=tuple(_settings(here, there)),
    )


def _names(side: Prepared) -> pa.Array:
    return keys(side.documents, "id").cast(pa.large_string()).combine_chunks()


def places_of(wanted: pa.Array, known: pa.Array) -> Whole:
    """Where each wanted name stands among the known ones, which differ; -1 where it does not.

    By hashes, which take half the time of a table of a million names.
    """
    if not len(known):
        return np.full(len(wanted), -1, np.int64)
    ours, theirs = (_kernels.hash_units(*spans(each)) for each in (known, wanted))
    by_hash, in_turn = np.argsort(ours), np.argsort(theirs)
    found = np.minimum(np.searchsorted(ours[by_hash], theirs[in_turn]), len(ours) - 1)
    places = np.empty(len(wanted), np.int64)
    places[in_turn] = by_hash[found]
    is_equal = pc.equal(known.take(column_of(places)), wanted).to_numpy(zero_copy_only=False)
    lost = np.flatnonzero(~is_equal & (ours[places] == theirs))
    places[~is_equal] = -1
    if len(lost):  # other names of the same hash
        some = pc.fill_null(pc.index_in(wanted.take(column_of(lost)), known), -1)
        places[lost] = some.to_numpy()
    return places


def _pairs(side: Prepared, numbers: Whole) -> Whole:
    """Each pair as one number of its two documents; those that the other has not, as themselves."""
    first, second = numbers[side.array("first")], numbers[side.array("second")]
    low, high = np.minimum(first, second), np.maximum(first, second)
    packed: Whole = low * 2**32 + high
    unknown = low < 0
    packed[unknown] = -1 - np.flatnonzero(unknown)  # equal to none
    return packed


def _others(count: int, known: Whole) -> Whole:
    is_other = np.ones(count, bool)
    is_other[known] = False
    return np.flatnonzero(is_other)


def _nearest(side: Prepared, pairs: Whole, *, hidden: bool) -> tuple[PairRow, ...]:
    ranks = side.array("rank")[pairs]
    chosen = pairs[np.argsort(ranks, kind="stable")[:MOST_LISTED]].astype(np.int32)
    return tuple(rows_of(side, chosen, {}, hidden=hidden))


def _moved(here: Prepared, there: Prepared, numbers: Whole) -> int:
    """Documents of both whose cluster has other members, as far as both know them.

    Documents are numbered by cluster, so those of a cluster of theirs lie together.
    """
    ours, theirs = (_clusters(side) for side in (here, there))
    shared = np.flatnonzero(numbers >= 0)
    here_in, there_in = ours[numbers[shared]], theirs[shared]
    clustered = (here_in >= 0) & (there_in >= 0)
    here_in, there_in = here_in[clustered], there_in[clustered]
    if not len(here_in):
        return 0
    starts = np.flatnonzero(np.diff(there_in, prepend=-1))
    sizes = np.diff(starts, append=len(there_in))
    low, high = np.minimum.reduceat(here_in, starts), np.maximum.reduceat(here_in, starts)
    is_same = (low == high) & (np.bincount(here_in)[low] == sizes)
    return int(len(here_in) - sizes[is_same].sum())


def _clusters(side: Prepared) -> Whole:
    """The cluster of each document; -1 of those that are in none."""
    starts = side.array("cluster_starts")
    found = np.full(side.documents.num_rows, -1, np.int64)
    found[: int(starts[-1])] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return found


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
