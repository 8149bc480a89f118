"""What stands in many documents that lie in parts, to be left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nearly.arrays import by_target
from nearly.engines.base import Parts
from nearly.passage.hole import SPAN, LeftOut, fewest_documents, gram_counts, units_of
from nearly.passage.part import Known, Message, Part
from nearly.passage.unit import Hashes, cut

__all__ = ["with_common"]


def with_common(parts: Parts, texts: Any, known: Known) -> LeftOut:
    """What is left out, and the grams that are in more documents than the settings allow."""
    settings = known.settings
    if settings.common is None:
        return known.left_out
    shared = parts.share(known)
    counted = parts.exchange(_grams_by_hash, texts, known=shared)
    least = parts.share(fewest_documents(settings.common, len(known.who.groups)))
    found = parts.collect(parts.each(_common_here, counted, known=shared, least=least))
    none = np.empty(0, np.uint64)
    return {
        unit: np.unique(np.concatenate([known.left_out.get(unit, none), *some]))
        for unit, some in zip(units_of(settings), zip(*found, strict=True), strict=True)
    }


def _grams_by_hash(part: Part, *, known: Known) -> Iterator[tuple[int, Message]]:
    """In how many documents of a part grams stand, to where they are summed."""
    for number, unit in enumerate(units_of(known.settings)):
        grams, counts = gram_counts(cut(part.texts, known.settings, unit=unit), SPAN[unit])
        for target, columns in by_target(known.part_for(grams), grams, counts):
            yield target, [np.array(number), *columns]


def _common_here(came: Sequence[Message], *, known: Known, least: float) -> list[Hashes]:
    """For each unit the grams that are common, of those that came."""
    found = []
    for number, _ in enumerate(units_of(known.settings)):
        rows = [columns for which, *columns in came if which == number]
        grams = np.concatenate([np.empty(0, np.uint64), *(some for some, _ in rows)])
        counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in rows)])
        once, places = np.unique(grams, return_inverse=True)
        found.append(once[np.bincount(places, counts, len(once)) >= least])
    return found
