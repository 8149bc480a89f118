"""The pairs across a border: of an old document and a new one each.

Old documents come first, so the first document of each pair is the old one.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearly.measures.number import Documents
from nearly.measures.pair import PART, Nearness, Packed, Pairs, in_order, join_pairs

__all__ = ["crossing", "pairs_across", "parts_across"]

Part = tuple[Packed, Nearness]


def crossing(pairs: Pairs, old: int) -> Pairs:
    """Those of an old document and a new one; all of them where there is no border."""
    if not old:
        return pairs
    return pairs.at(np.flatnonzero((pairs.first < old) & (pairs.second >= old)))


def pairs_across(
    near: Pairs, copies: Documents, originals: Documents, old: int, same: float, *, all_pairs: bool
) -> Pairs:
    """All that `parts_across` gives, in order."""
    return in_order(parts_across(near, copies, originals, old, same, all_pairs=all_pairs))


def parts_across(
    near: Pairs,
    copies: Documents,
    originals: Documents,
    old: int,
    same: float,
    *,
    all_pairs: bool,
) -> Iterator[Part]:
    """The pairs of old and new documents in any order, some at a time; the first `old` are old.

    New copies are linked to their original, if it is old; where all pairs are wanted, what holds
    for a representative holds for all of its copies.
    """
    if not all_pairs:
        yield from _linked(near, copies, originals, old, same)
        return
    olds, news = _Copies(copies, originals, 0, old), _Copies(copies, originals, old, 2**32)
    for part in near.parts():
        for one, other in ((part.first, part.second), (part.second, part.first)):
            yield from _listed(one, other, part.nearness, olds, news)
    shared = np.unique(originals[originals < old])
    yield from _listed(shared, shared, np.full(len(shared), same), olds, news)


def _linked(
    near: Pairs, copies: Documents, originals: Documents, old: int, same: float
) -> Iterator[Part]:
    for part in near.parts():
        yield join_pairs(part.first, part.second), part.nearness.copy()
    crossing = np.flatnonzero((originals < old) & (copies >= old))
    for start in range(0, len(crossing), PART):
        some = crossing[start : start + PART]
        yield join_pairs(originals[some], copies[some]), np.full(len(some), same)


def _listed(
    one: Documents, other: Documents, nearness: Nearness, olds: "_Copies", news: "_Copies"
) -> Iterator[Part]:
    """Old documents that have the text of one with new documents that have that of the other."""
    widths = news.count(other)
    times = olds.count(one) * widths
    ends = np.cumsum(times) // PART
    cuts = (np.flatnonzero(np.diff(ends)) + 1).tolist()
    for start, stop in itertools.pairwise([0, *cuts, len(one)]):
        some = slice(start, stop)
        pair = np.repeat(np.arange(start, stop), times[some])
        nth = np.arange(len(pair)) - np.repeat(np.cumsum(times[some]) - times[some], times[some])
        row, column = np.divmod(nth, np.maximum(1, widths[pair]))
        first, second = olds.member(one[pair], row), news.member(other[pair], column)
        yield join_pairs(first, second), nearness[pair]


class _Copies:
    """The documents of one side that have the text of a representative, itself among them."""

    def __init__(self, copies: Documents, originals: Documents, low: int, high: int):
        self._low, self._high = low, high
        here = (copies >= low) & (copies < high)
        order = np.lexsort((copies[here], originals[here]))
        self._copies, self._originals = copies[here][order], originals[here][order]

    def _is_here(self, documents: Documents) -> npt.NDArray[np.int64]:
        return ((documents >= self._low) & (documents < self._high)).astype(np.int64)

    def count(self, documents: Documents) -> npt.NDArray[np.int64]:
        """How many there are of each representative."""
        starts = np.searchsorted(self._originals, documents, "left")
        ends = np.searchsorted(self._originals, documents, "right")
        return ends - starts + self._is_here(documents)

    def member(self, documents: Documents, nth: npt.NDArray[np.int64]) -> Documents:
        """The nth of each; a representative that is here is the 0th."""
        place = np.searchsorted(self._originals, documents, "left") + nth - self._is_here(documents)
        itself = (nth == 0) & (self._is_here(documents) == 1)
        if not len(self._copies):
            return documents
        return np.where(itself, documents, self._copies[np.where(itself, 0, place)])
