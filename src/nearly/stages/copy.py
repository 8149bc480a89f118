"""Exact copies, which were set aside before the search, given back to its result."""

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearly.measures.number import Documents
from nearly.measures.pair import (
    PART,
    Nearness,
    Packed,
    Pairs,
    join_pairs,
    order_of,
    split_pairs,
)

__all__ = ["give_back_copies", "parts_with_copies"]


def give_back_copies(
    near: Pairs, copies: Documents, originals: Documents, same: float, *, all_pairs: bool
) -> Pairs:
    """The pairs of all documents: copies linked, or listed where all pairs are wanted."""
    if len(copies) == 0:
        return near
    parts = list(parts_with_copies(near, copies, originals, same, all_pairs=all_pairs))
    packed, nearness = map(np.concatenate, zip(*parts, strict=True))
    order = order_of(packed)
    first, second = split_pairs(packed[order])
    return Pairs(first=first, second=second, nearness=nearness[order])


def parts_with_copies(
    near: Pairs, copies: Documents, originals: Documents, same: float, *, all_pairs: bool
) -> Iterator[tuple[Packed, Nearness]]:
    """The same in any order, some pairs at a time."""
    give_back = _list_copies if all_pairs else _link_copies
    return give_back(near, copies, originals, same)


def _link_copies(
    near: Pairs, copies: Documents, originals: Documents, same: float
) -> Iterator[tuple[Packed, Nearness]]:
    """Each copy once, with its representative: linear in the corpus."""
    for part in near.parts():
        yield join_pairs(part.first, part.second), part.nearness.copy()
    for start in range(0, len(copies), PART):
        some = slice(start, start + PART)
        linked = join_pairs(originals[some], copies[some])
        yield linked, np.full(len(linked), same)


def _list_copies(
    near: Pairs, copies: Documents, originals: Documents, same: float
) -> Iterator[tuple[Packed, Nearness]]:
    """Every pair of documents: what holds for a representative holds for all of its copies."""
    groups = _Groups(copies, originals)
    for part in near.parts():
        for some in groups.cut(part.first, part.second):
            first, second, times = groups.across(part.first[some], part.second[some])
            yield join_pairs(first, second), np.repeat(part.nearness[some], times)
    copied = np.unique(originals)
    for some in groups.cut(copied, copied):
        first, second = groups.inside(copied[some])
        yield join_pairs(first, second), np.full(len(first), same)


class _Groups:
    """Each representative with its copies."""

    def __init__(self, copies: Documents, originals: Documents):
        order = np.lexsort((copies, originals))
        self._copies, self._originals = copies[order], originals[order]

    def _bounds(self, documents: Documents) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return (
            np.searchsorted(self._originals, documents, "left"),
            np.searchsorted(self._originals, documents, "right"),
        )

    def _member(
        self, documents: Documents, starts: npt.NDArray[np.int64], nth: npt.NDArray[np.int64]
    ) -> Documents:
        """The nth of each representative's group; the representative itself is the 0th."""
        if not len(self._copies):
            return documents
        return np.where(nth == 0, documents, self._copies[np.maximum(starts + nth - 1, 0)])

    def inside(self, originals: Documents) -> tuple[Documents, Documents]:
        """All pairs of each group: a member is above the diagonal with those that follow it."""
        first, second, _ = self.across(originals, originals)
        above = first < second
        return first[above], second[above]

    def cut(self, first: Documents, second: Documents) -> Iterator[slice]:
        """Runs of pairs of representatives that become no more than can be held, or one each."""
        ends = np.cumsum(self._sizes(first) * self._sizes(second)) // PART
        places = np.flatnonzero(np.diff(ends)) + 1
        for start, stop in itertools.pairwise([0, *places.tolist(), len(first)]):
            yield slice(start, stop)

    def _sizes(self, documents: Documents) -> npt.NDArray[np.int64]:
        """How many documents each representative stands for, itself included."""
        low, high = self._bounds(documents)
        return high - low + 1

    def across(
        self, first: Documents, second: Documents
    ) -> tuple[Documents, Documents, npt.NDArray[np.int64]]:
        """Each pair of representatives as all pairs of their groups, and how many each became."""
        (low_a, high_a), (low_b, high_b) = map(self._bounds, (first, second))
        widths = high_b - low_b + 1
        times = (high_a - low_a + 1) * widths
        pair = np.repeat(np.arange(len(first)), times)
        nth = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
        row, column = np.divmod(nth, widths[pair])
        return (
            self._member(first[pair], low_a[pair], row),
            self._member(second[pair], low_b[pair], column),
            times,
        )
