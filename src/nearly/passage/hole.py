"""Text that is left out: units of it become holes, which are like nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from nearly.passage.unit import Hashes, Units

__all__ = ["common_grams", "with_holes"]

#: Units of a run that is recognised as text to leave out.
SPAN: Final = {"word": 5, "char": 25}
_BASE: Final = np.uint64(0xD6E8FEB86659FD93)
_HOLE: Final = np.uint64(0x9E3779B97F4A7C15)


def with_holes(units: Units, grams: Hashes, span: int) -> Units:
    """The same units, where those of the given grams are holes."""
    found = np.isin(_grams(units, span), grams)
    covered = np.zeros(len(units.hashes) + 1, np.int64)
    places = np.flatnonzero(found)
    np.add.at(covered, places, 1)
    np.add.at(covered, np.minimum(places + span, len(covered) - 1), -1)
    is_hole = np.cumsum(covered)[:-1] > 0
    alone = (np.arange(len(units.hashes), dtype=np.uint64) + np.uint64(1)) * _HOLE
    return replace(units, hashes=np.where(is_hole, alone, units.hashes))


def grams_of(units: Units, span: int) -> Hashes:
    """All grams of some texts."""
    return np.unique(_grams(units, span)[_is_inside(units, span)])


def common_grams(units: Units, span: int, percentage: float) -> Hashes:
    """Those that stand in at least this percentage of the documents, and in two or more."""
    inside = _is_inside(units, span)
    both = np.stack([_grams(units, span)[inside], units.documents[inside].astype(np.uint64)], 1)
    once = np.unique(both, axis=0)
    grams, counts = np.unique(once[:, 0], return_counts=True)
    least = max(2.0, percentage / 100 * (len(units.offsets) - 1))
    return grams[counts >= least]


def _grams(units: Units, span: int) -> Hashes:
    """The gram that begins at each unit; 0 where the document ends before it does."""
    hashes = np.zeros(len(units.hashes), np.uint64)
    count = len(hashes) - span + 1
    if count > 0:
        for i in range(span):
            hashes[:count] = hashes[:count] * _BASE + units.hashes[i : i + count]
    return np.where(_is_inside(units, span), hashes, np.uint64(0))


def _is_inside(units: Units, span: int) -> npt.NDArray[np.bool_]:
    ends = np.repeat(units.offsets[1:], np.diff(units.offsets))
    return np.arange(len(units.hashes)) + span <= ends
