"""On which side of a border a document stands: documents of one side only never meet.

Where new documents are compared with old ones, the old ones come first, so a border is a number: of
documents, or on a cluster of blocks. A document may stand on both sides. If all pairs are asked
for, one that has copies beyond the border stands for them too; and new documents that are to be
cleaned meet old ones and each other.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from nearly.measures.number import Documents

__all__ = ["BOTH", "NEW", "OLD", "Cuts", "Sides", "by_side", "may_meet", "partners", "sides_of"]

#: In the order in which the documents of a bucket stand.
OLD, BOTH, NEW = range(3)

#: The side of each document.
Sides = npt.NDArray[np.uint8]
#: Some of the documents.
Places = npt.NDArray[Any] | slice
#: Where the documents of the old side end, and those of the new side begin.
Cuts = tuple[int, int]


def sides_of(
    documents: int,
    old: int,
    copies: Documents,
    originals: Documents,
    *,
    both: bool,
    cleaning: bool,
) -> Sides:
    """The sides of all documents, of which the first `old` are old.

    `both`: an old document stands for its new copies too.
    """
    sides = np.full(documents, OLD, np.uint8)
    sides[old:] = BOTH if cleaning else NEW
    if both:
        sides[originals[(originals < old) & (copies >= old)]] = BOTH
    return sides


def may_meet(one: Sides, other: Sides | np.uint8) -> npt.NDArray[np.bool_]:
    """Whether two documents are compared, pair by pair."""
    met: npt.NDArray[np.bool_] = (one != other) | (one == BOTH)
    return met


def by_side(sides: Sides | None) -> tuple[Places, Cuts | None]:
    """The places of some documents side by side, and where the sides lie; as they are where there
    is no border."""
    if sides is None:
        return slice(None), None
    order = np.argsort(sides, kind="stable")
    old, new = np.searchsorted(sides[order], [BOTH, NEW]).tolist()
    return order, (old, new)


def partners(sides: Sides | None) -> list[tuple[Places, Places]]:
    """The places of the documents of each side, and of those that these are compared with."""
    if sides is None:
        return [(slice(None), slice(None))]
    found = [(sides == side, may_meet(sides, np.uint8(side))) for side in (OLD, BOTH, NEW)]
    return [(some, others) for some, others in found if some.any() and others.any()]
