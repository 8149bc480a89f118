"""Verbatim runs: everything that two documents share unit for unit, of at least a given length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.passage.found import Places
from nearly.passage.unit import Hashes, Numbers, Units

__all__ = ["Crowded", "gram_length", "shared_runs", "window_length"]

Rows = npt.NDArray[np.uint32]


def gram_length(least: int) -> int:
    """Units of the k-grams that winnowing chooses from."""
    return max(2, least // 2)


def window_length(least: int) -> int:
    """Neighbouring k-grams of which one is chosen."""
    return least - gram_length(least) + 1


@dataclass(frozen=True, kw_only=True)
class Crowded:
    """Chosen k-grams that stand in too many places to be compared, in the order of the text."""

    hashes: Hashes
    documents: npt.NDArray[np.int64]
    places: Numbers  # units of the document
    starts: npt.NDArray[np.int64]  # characters
    ends: npt.NDArray[np.int64]
    follows: npt.NDArray[np.uint8]  # whether the one chosen before it in the document is crowded

    @staticmethod
    def of(units: Units, hashes: Hashes, rows: Rows, k: int) -> Crowded:
        """By units: document, place, and whether it follows."""
        documents, places, follows = rows.T
        here = units.offsets[documents] + places
        return Crowded(
            hashes=hashes,
            documents=documents.astype(np.int64),
            places=np.ascontiguousarray(places),
            starts=units.starts[here].astype(np.int64),
            ends=units.ends[here + k - 1].astype(np.int64),
            follows=follows.astype(np.uint8),
        )

    @staticmethod
    def joined(parts: Sequence[Crowded]) -> Crowded:
        """Those of all parts, of which there is one at least."""
        names = [each.name for each in fields(Crowded)]
        columns = {name: [getattr(part, name) for part in parts] for name in names}
        return Crowded(**{name: np.concatenate(column) for name, column in columns.items()})

    def taken(self, which: npt.NDArray[np.bool_]) -> Crowded:
        """Some of them."""
        return Crowded(**{each.name: getattr(self, each.name)[which] for each in fields(self)})

    def spread(self, least: int) -> Places:
        """The places of repeated passages, which k-grams that come together make up."""
        k, window = gram_length(least), window_length(least)
        rows = _kernels.crowd_places(self.hashes, self.places, self.follows, k, window)
        passage, first, last = rows.astype(np.int64).T
        found = (passage, self.documents[first], self.starts[first], self.ends[last])
        order = np.lexsort(found[::-1])
        names = ("passage", "document", "start", "end")
        return Places(**{name: each[order] for name, each in zip(names, found, strict=True)})


def shared_runs(
    units: Units,
    groups: Numbers,
    sides: Numbers,
    *,
    one_sided: bool,
    least: int,
    crowd: int,
    known: Hashes | None = None,
) -> tuple[Rows, Crowded]:
    """Maximal runs (a, b, start_a, start_b, length), and what is crowded.

    Every run of at least `least` units is found. Where all that winnowing chose of a run stands in
    more than `crowd` places, or is known to be crowded, both documents have a place there instead
    of a run.
    """
    k = gram_length(least)
    corpus = (units.offsets, units.hashes, groups, sides, one_sided)
    runs, crowded = _kernels.shared_runs(*corpus, k, window_length(least), crowd, known)
    return runs, Crowded.of(units, *crowded, k)
