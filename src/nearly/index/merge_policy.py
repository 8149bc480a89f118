"""Which segments to merge: a pure function of their sizes.

Segments have a level by their size, each level four times the one before. Four segments of one
level are merged into one of the next: so their number grows with the logarithm of the documents,
and a document is written again once a level. A segment of which much is gone is written anew.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["LARGEST", "Size", "at_once", "choose"]

#: Segments of a level that are merged.
FAN: Final = 4
#: Documents of a segment of the lowest level.
SMALLEST: Final = 1024
#: Segments do not grow beyond this by themselves: a merge has to fit in memory.
LARGEST: Final = 2**22
#: The share of a segment that may be gone.
GONE: Final = 0.25


class Size(NamedTuple):
    """Of a segment: its documents, and how many of them are gone."""

    documents: int
    gone: int


def choose(sizes: Sequence[Size]) -> list[int]:
    """The places of segments that should become one; none if all is well."""
    for place, size in enumerate(sizes):
        if size.gone > GONE * size.documents:
            return [place]
    levels: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        levels.setdefault(level_of(size.documents), []).append(place)
    for _, places in sorted(levels.items()):
        merged = places[:FAN]
        if len(merged) == FAN and sum(sizes[place].documents for place in merged) <= LARGEST:
            return merged
    return []


def at_once(sizes: Sequence[Size]) -> list[list[int]]:
    """Groups of segments that should become one each, none of which waits for another."""
    groups: list[list[int]] = []
    left = list(range(len(sizes)))
    while chosen := choose([sizes[place] for place in left]):
        groups.append([left[place] for place in chosen])
        left = [place for place in left if place not in groups[-1]]
    return groups


def level_of(documents: int) -> int:
    """0 up to the smallest size, then one more for every factor of `FAN`."""
    level, most = 0, SMALLEST
    while documents > most:
        level, most = level + 1, most * FAN
    return level
