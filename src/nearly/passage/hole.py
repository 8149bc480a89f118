"""Text that is left out: units of it become holes, which are like nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.passage.unit import HOLE, Hashes, Units, cut
from nearly.settings import PassageSettings, Unit

__all__ = [
    "SPAN",
    "LeftOut",
    "common_grams",
    "fewest_documents",
    "gram_counts",
    "grams_of",
    "ignored_grams",
    "units_of",
    "with_holes",
]

#: Grams of text that is left out, by their unit.
LeftOut = Mapping[Unit, Hashes]

#: Units of a run that is recognised as text to leave out.
SPAN: Final = {"word": 5, "char": 25}
_BASE: Final = np.uint64(0xD6E8FEB86659FD93)
_HOLE: Final = np.uint64(0x9E3779B97F4A7C15)


def units_of(settings: PassageSettings) -> list[Unit]:
    """What is compared: units that runs consist of, and words that edited passages consist of."""
    return [settings.unit] if settings.unit == "word" or settings.verbatim else ["char", "word"]


def ignored_grams(texts: pa.LargeStringArray, settings: PassageSettings) -> LeftOut:
    """All grams of some texts."""
    return {
        unit: grams_of(cut(texts, settings, unit=unit), SPAN[unit])
        for unit in (units_of(settings) if len(texts) else [])
    }


def with_holes(units: Units, grams: Hashes, span: int, documents: npt.NDArray[np.integer]) -> Units:
    """The same units, where those of the given grams are holes.

    A hole is like no other: it has a hash of the document's number and its place there, whatever
    other documents are looked at.
    """
    found = np.isin(_grams(units, span), grams)
    covered = np.zeros(len(units.hashes) + 1, np.int64)
    places = np.flatnonzero(found)
    np.add.at(covered, places, 1)
    np.add.at(covered, np.minimum(places + span, len(covered) - 1), -1)
    is_hole = np.cumsum(covered)[:-1] > 0
    places = np.arange(len(units.hashes)) - units.offsets[units.documents] + 1
    alone = (documents[units.documents].astype(np.uint64) << 32 | places.astype(np.uint64)) * _HOLE
    return replace(
        units,
        hashes=np.where(is_hole, alone, units.hashes),
        numbers=np.where(is_hole, HOLE, units.numbers),
    )


def grams_of(units: Units, span: int) -> Hashes:
    """All grams of some texts."""
    return np.unique(_grams(units, span)[_is_inside(units, span)])


def common_grams(units: Units, span: int, percentage: float) -> Hashes:
    """Those that stand in at least this percentage of the documents, and in two or more."""
    grams, counts = gram_counts(units, span)
    return grams[counts >= fewest_documents(percentage, len(units.offsets) - 1)]


def gram_counts(units: Units, span: int) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """All grams, and in how many documents each stands."""
    inside = _is_inside(units, span)
    both = np.stack([_grams(units, span)[inside], units.documents[inside].astype(np.uint64)], 1)
    once = np.unique(both, axis=0)
    grams, counts = np.unique(once[:, 0], return_counts=True)
    return grams, counts


def fewest_documents(percentage: float, documents: int) -> float:
    """In how many documents a gram stands at least that is common."""
    return max(2.0, percentage / 100 * documents)


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
