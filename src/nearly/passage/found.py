"""Passages and places as columns: numbers of documents, and places of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from nearly.passage.unit import Units

__all__ = ["Found", "Places", "covered", "found_of", "merged", "told_beyond"]

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Found:
    """Characters [start, end) of two documents each; `length` counts units of the first."""

    a: Whole
    b: Whole
    start_a: Whole
    end_a: Whole
    start_b: Whole
    end_b: Whole
    length: Whole
    likeness: npt.NDArray[np.float64]
    is_verbatim: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.a)

    def taken(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Found:
        """Some of them."""
        return Found(**{each.name: getattr(self, each.name)[which] for each in fields(self)})

    def in_order(self) -> Found:
        """By documents, then by where they stand."""
        names = ("end_b", "start_b", "end_a", "start_a", "b", "a")
        return self.taken(np.lexsort([getattr(self, name) for name in names]))

    @staticmethod
    def joined(parts: Sequence[Found]) -> Found:
        """Those of all parts, of which there is one at least."""
        names = [each.name for each in fields(Found)]
        return Found(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})

    @property
    def pairs(self) -> Whole:
        """Both documents as one number, which is in the order of the pairs."""
        return self.a << 32 | self.b


@dataclass(frozen=True, kw_only=True)
class Places:
    """Characters [start, end) of documents, each of one repeated passage."""

    passage: Whole
    document: Whole
    start: Whole
    end: Whole


def found_of(
    units: Units,
    documents: Sequence[npt.NDArray[np.uint32]],
    spans: npt.NDArray[np.uint32],
    likeness: npt.NDArray[np.float64],
    is_verbatim: npt.NDArray[np.bool_],
) -> Found:
    """Passages whose spans (from and to in a, from and to in b) count units of their documents."""
    a, b = (each.astype(np.int64) for each in documents)
    from_a, to_a, from_b, to_b = spans.astype(np.int64).T
    first_a, first_b = units.offsets[a], units.offsets[b]
    return Found(
        a=a,
        b=b,
        start_a=units.starts[first_a + from_a].astype(np.int64),
        end_a=units.ends[first_a + to_a - 1].astype(np.int64),
        start_b=units.starts[first_b + from_b].astype(np.int64),
        end_b=units.ends[first_b + to_b - 1].astype(np.int64),
        length=to_a - from_a,
        likeness=likeness,
        is_verbatim=is_verbatim,
    )


def told_beyond(found: Found, places: Places, first: int) -> Whole:
    """The documents of the second side that are told of, counted from its first."""
    everyone = np.unique(np.concatenate([found.b, places.document]))
    return everyone[everyone >= first] - first


def merged(runs: Found, others: Found) -> Found:
    """All others, and the runs that lie in none of them on both sides; in order."""
    kept = runs.taken(~_lie_inside(runs, others.taken(np.argsort(others.pairs, kind="stable"))))
    return Found.joined([kept, others]).in_order()


def _lie_inside(runs: Found, others: Found) -> npt.NDArray[np.bool_]:
    """Looks at the first of the others of each pair, then at the second of those that have one."""
    inside = np.zeros(len(runs), bool)
    pairs = others.pairs
    first, last = (np.searchsorted(pairs, runs.pairs, side) for side in ("left", "right"))
    open_ = np.flatnonzero(first < last)
    while len(open_):
        other = first[open_]
        inside[open_] = (
            (others.start_a[other] <= runs.start_a[open_])
            & (runs.end_a[open_] <= others.end_a[other])
            & (others.start_b[other] <= runs.start_b[open_])
            & (runs.end_b[open_] <= others.end_b[other])
        )
        first[open_] += 1
        open_ = open_[~inside[open_] & (first[open_] < last[open_])]
    return inside


def covered(groups: Whole, starts: Whole, ends: Whole, count: int) -> Whole:
    """Characters in the union of the spans of each group, of which there are `count`."""
    order = np.lexsort([starts, groups])
    group, start, end = groups[order], starts[order], ends[order]
    # Each group on a stretch of its own: what an earlier one reached is below all of a later one.
    base = group * (int(end.max(initial=0)) + 1)
    reached = np.maximum.accumulate(np.concatenate([[0], end + base]))[:-1]
    new = np.maximum(0, end + base - np.maximum(start + base, reached))
    return np.bincount(group, new, count).astype(np.int64)
