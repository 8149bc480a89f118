"""A result at a glance, cut at any higher threshold without a new run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from nearly.prepared.result import Prepared
from nearly.view.overview import Bar, Overview, Sharer

__all__ = ["Cut", "Glance", "cut", "glance"]

#: Steps of a threshold that is dragged, from the lowest to the highest.
STEPS: Final = 500


class Cut(NamedTuple):
    """What is left at a threshold; clusters are unknown where leaders made them."""

    at: float
    pairs: int
    clusters: int | None
    clustered: int | None
    largest: int | None


@dataclass(frozen=True, kw_only=True)
class Glance:
    """The whole overview, and what is left at each step of the threshold."""

    overview: Overview
    cuts: tuple[Cut, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return self.overview.to_dict() | {"cuts": [each._asdict() for each in self.cuts]}


def glance(prepared: Prepared, *, hidden: bool = False) -> Glance:
    """What there is to see first."""
    plain = dict(prepared.members["overview"])
    sharers = plain.pop("sharers")
    names = prepared.names([document for document, _ in sharers], hidden=hidden)
    counts = [pairs for _, pairs in sharers]
    shown = Overview(
        **plain
        | {
            "values": tuple(Bar(**bar) for bar in plain["values"]),
            "sizes": tuple(Bar(**bar) for bar in plain["sizes"]),
            "alarms": tuple(plain["alarms"]),
            "sharers": tuple(map(Sharer, names, counts)),
        }
    )
    steps = [cut(prepared, at) for at in _steps(prepared)]
    return Glance(overview=shown, cuts=tuple(steps))


def _steps(prepared: Prepared) -> list[float]:
    settings, falling = prepared.found.settings, prepared.array("falling")
    if prepared.value == "distance":
        most = float(settings.within or 0)
        values = np.unique(falling)
        steps = values if len(values) <= STEPS else np.linspace(0, most, STEPS + 1)
        return [float(step) for step in steps]
    low = settings.threshold
    # In decimals, so that a step is the number that is read.
    return [round(low + (1 - low) * step / STEPS, 4) for step in range(STEPS + 1)]


def cut(prepared: Prepared, at: float) -> Cut:
    """What reaches a threshold, or lies within a distance."""
    low, high = (at, None) if prepared.value == "similarity" else (None, at)
    _, pairs = prepared.span(low, high)
    if not prepared.can_cut:
        return Cut(at, pairs, None, None, None)
    counts = (int(prepared.array(n)[pairs]) for n in ("clusters", "clustered", "largest"))
    return Cut(at, pairs, *counts)
