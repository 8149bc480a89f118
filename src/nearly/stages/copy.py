"""Exact copies, which were set aside before the search, given back to its result."""

import numpy as np
import numpy.typing as npt

from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Pairs, join_pairs, split_pairs

__all__ = ["give_back_copies"]


def give_back_copies(
    near: Pairs, copies: Documents, originals: Documents, same: float, *, all_pairs: bool
) -> Pairs:
    """The pairs of all documents: copies linked, or listed where all pairs are wanted."""
    if len(copies) == 0:
        return near
    give_back = _list_copies if all_pairs else _link_copies
    return give_back(near, copies, originals, same)


def _link_copies(near: Pairs, copies: Documents, originals: Documents, same: float) -> Pairs:
    """Each copy once, with its representative: linear in the corpus."""
    first = np.concatenate([near.first, originals])
    second = np.concatenate([near.second, copies])
    nearness = np.concatenate([near.nearness, np.full(len(copies), same)])
    return _ordered(first, second, nearness)


def _list_copies(near: Pairs, copies: Documents, originals: Documents, same: float) -> Pairs:
    """Every pair of documents: what holds for a representative holds for all of its copies."""
    groups = _Groups(copies, originals)
    first, second, times = groups.across(near.first, near.second)
    one, other = groups.inside(np.unique(originals))
    return _ordered(
        np.concatenate([first, one]),
        np.concatenate([second, other]),
        np.concatenate([np.repeat(near.nearness, times), np.full(len(one), same)]),
    )


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

    def _member(self, documents: Documents, nth: npt.NDArray[np.int64]) -> Documents:
        """The nth of each representative's group; the representative itself is the 0th."""
        places = np.searchsorted(self._originals, documents, "left") + nth - 1
        if not len(self._copies):
            return documents
        return np.where(nth == 0, documents, self._copies[np.maximum(places, 0)])

    def inside(self, originals: Documents) -> tuple[Documents, Documents]:
        """All pairs of each group: a member is above the diagonal with those that follow it."""
        first, second, _ = self.across(originals, originals)
        above = first < second
        return first[above], second[above]

    def across(
        self, first: Documents, second: Documents
    ) -> tuple[Documents, Documents, npt.NDArray[np.int64]]:
        """Each pair of representatives as all pairs of their groups, and how many each became."""
        sizes = [high - low + 1 for low, high in map(self._bounds, (first, second))]
        times = sizes[0] * sizes[1]
        pair = np.repeat(np.arange(len(first)), times)
        nth = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
        width = sizes[1][pair]
        return (
            self._member(first[pair], nth // width),
            self._member(second[pair], nth % width),
            times,
        )


def _ordered(first: Documents, second: Documents, nearness: Nearness) -> Pairs:
    packed = join_pairs(first, second)
    order = np.argsort(packed, kind="stable")
    low, high = split_pairs(packed[order])
    return Pairs(first=low, second=high, nearness=nearness[order])
