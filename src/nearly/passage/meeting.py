"""Where equal hashes of documents meet: which pairs of documents share them, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.passage.edited import MOST_DOCUMENTS
from nearly.passage.unit import Hashes, Numbers

__all__ = ["Meetings", "Pairs", "Sides", "both_of", "counted", "meetings", "packed"]

Whole = npt.NDArray[np.int64]
Pairs = npt.NDArray[np.uint64]  # both documents in one number, the second one in the low half


class Meetings(NamedTuple):
    """Pairs that share chosen k-grams; those that share rare runs of words, and how many."""

    pairs: Pairs
    rare: Pairs
    counts: Numbers
    frequent: Hashes  # chosen k-grams that stand in too many places to compare each with each
    crowded: Hashes  # those of them that documents share which are compared


class Sides(NamedTuple):
    """Who is compared with whom."""

    groups: Numbers
    sides: Numbers
    one_sided: bool

    def compares(self, a: Whole, b: Whole) -> npt.NDArray[np.bool_]:
        """Whether documents of each pair are."""
        differs: npt.NDArray[np.bool_] = self.groups[a] != self.groups[b]
        return differs & (self.sides[a] != self.sides[b]) if self.one_sided else differs


def meetings(came: Sequence[list[npt.NDArray[Any]]], sides: Sides, crowd: int) -> Meetings:
    """Of all chosen k-grams, and runs of words, that have some hashes."""
    chosen, rare = (_sorted([rows for kind, *rows in came if bool(kind) == k]) for k in (0, 1))
    hashes, documents, sizes = chosen
    is_many = sizes > crowd
    frequent = np.unique(hashes[is_many])
    pairs = _pairs(hashes[~is_many], documents[~is_many], crowd, sides)
    hashes, documents, sizes = rare
    is_few = sizes <= MOST_DOCUMENTS
    shared = _pairs(hashes[is_few], documents[is_few], MOST_DOCUMENTS, sides)
    met, counts = np.unique(shared, return_counts=True)
    crowded = _shared(chosen[0][is_many], chosen[1][is_many], sides)
    return Meetings(np.unique(pairs), met, counts.astype(np.uint32), frequent, crowded)


def _sorted(parts: Sequence[Sequence[npt.NDArray[Any]]]) -> tuple[Hashes, Whole, Whole]:
    """Hashes, documents, and how many rows have the hash; those alone are left out."""
    hashes = np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)])
    documents = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
    order = np.lexsort((documents, hashes))
    hashes, documents = hashes[order], documents[order]
    starts = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])[: len(hashes)])
    counts = np.diff(np.append(starts, len(hashes)))
    sizes = np.repeat(counts, counts)
    several = sizes > 1
    return hashes[several], documents[several], sizes[several]


def _pairs(hashes: Hashes, documents: Whole, most: int, sides: Sides) -> Pairs:
    """Every two documents that have a hash, which no more than `most` have."""
    found = [np.empty(0, np.uint64)]
    for step in range(1, most):
        equal = np.flatnonzero(hashes[step:] == hashes[:-step])
        a, b = documents[equal], documents[equal + step]
        compared = sides.compares(a, b)
        found.append(packed(a[compared], b[compared]))
    return np.concatenate(found)


def _shared(hashes: Hashes, documents: Whole, sides: Sides) -> Hashes:
    """The hashes of which any two documents are compared. If one document differs from the first
    in its group and one in its side, then two of the three differ in both."""
    once, firsts, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    first = documents[firsts][numbers]
    is_shared = np.bincount(numbers, sides.groups[documents] != sides.groups[first], len(once)) > 0
    if sides.one_sided:
        other = sides.sides[documents] != sides.sides[first]
        is_shared &= np.bincount(numbers, other, len(once)) > 0
    return once[is_shared]


def counted(parts: Sequence[Sequence[npt.NDArray[Any]]]) -> tuple[Pairs, Whole]:
    """Each pair once, with the sum of its counts."""
    pairs = np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)])
    counts = np.concatenate([np.empty(0, np.uint32), *(part[1] for part in parts)])
    once, numbers = np.unique(pairs, return_inverse=True)
    return once, np.bincount(numbers, counts, len(once)).astype(np.int64)


def packed(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> Pairs:
    """Two documents in one number."""
    return a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)


def both_of(pairs: Pairs) -> tuple[Whole, Whole]:
    """The inverse of `packed`."""
    low = np.uint64(0xFFFFFFFF)
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & low).astype(np.int64)
