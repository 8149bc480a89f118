"""Exact copies, which were set aside before the search, given back to its result."""

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.number import Documents
from nearly.measures.pair import PART, Nearness, Packed, Pairs, in_order, join_pairs

__all__ = ["give_back_copies", "parts_with_copies"]


def give_back_copies(
    near: Pairs, copies: Documents, originals: Documents, same: float, *, all_pairs: bool
) -> Pairs:
    """The pairs of all documents: copies linked, or listed where all pairs are wanted."""
    if len(copies) == 0:
        return near
    return in_order(parts_with_copies(near, copies, originals, same, all_pairs=all_pairs))


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
            yield groups.pairs(part.first[some], part.second[some], part.nearness[some])
    copied = np.flatnonzero(np.bincount(originals)).astype(originals.dtype)
    for some in groups.cut(copied, copied):
        yield groups.pairs(copied[some], copied[some], np.full(len(copied[some]), same))


class _Groups:
    """Each representative with its copies."""

    def __init__(self, copies: Documents, originals: Documents):
        self._copies = copies[np.lexsort((copies, originals))]
        self._starts = np.append(0, np.cumsum(np.bincount(originals)))

    def cut(self, first: Documents, second: Documents) -> Iterator[slice]:
        """Runs of pairs of representatives that become no more than can be held, or one each."""
        self._make_room(max(int(first.max(initial=0)), int(second.max(initial=0))))
        ends = np.cumsum(self._sizes(first) * self._sizes(second)) // PART
        places = np.flatnonzero(np.diff(ends)) + 1
        for start, stop in itertools.pairwise([0, *places.tolist(), len(first)]):
            yield slice(start, stop)

    def _make_room(self, document: int) -> None:
        """Documents after the last one that has a copy have none."""
        missing = max(0, document + 2 - len(self._starts))
        self._starts = np.append(self._starts, np.repeat(self._starts[-1:], missing))

    def _sizes(self, documents: Documents) -> npt.NDArray[np.int64]:
        """How many documents each representative stands for, itself included."""
        sizes: npt.NDArray[np.int64] = np.diff(self._starts)[documents] + 1
        return sizes

    def pairs(
        self, first: Documents, second: Documents, nearness: Nearness
    ) -> tuple[Packed, Nearness]:
        """Each pair of representatives as all pairs of their groups; of one and itself, as those
        inside its group."""
        return _kernels.pairs_of_copies(first, second, nearness, self._starts, self._copies)
