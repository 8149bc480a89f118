"""Blind labelling: a random sample of pairs, judged without their similarity, and its outcome."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nearly.errors import SettingsError
from nearly.prepared.listing import Filter, chosen_pairs
from nearly.prepared.mark import Marks
from nearly.prepared.pair import OnePair, one_pair
from nearly.prepared.result import Prepared
from nearly.stages.audit import draw, interval

__all__ = ["Labelling", "labelling"]

#: The most pairs of a sample.
LARGEST = 2_000


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """How far it is; the precision is that of the pairs that are labelled same or different."""

    size: int
    total: int  # pairs from which the sample was drawn
    seed: int
    low: float | None
    same: int
    different: int
    unsure: int
    precision: float | None  # None before the first one is judged
    lowest: float  # of the interval, at 95% confidence
    highest: float
    next: OnePair | None  # None where all are labelled

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; of the next pair, nothing that would give it away."""
        plain = asdict(self) | {"next": None}
        if self.next is not None:
            view = self.next.view
            shown = {"pair": self.next.pair, "text_a": view.text_a, "text_b": view.text_b}
            plain["next"] = shown | {"name_a": view.name_a, "name_b": view.name_b}
        return plain


def labelling(
    prepared: Prepared,
    labels: Marks,
    *,
    size: int,
    seed: int,
    low: float | None = None,
    hidden: bool = False,
) -> Labelling:
    """The sample that a seed draws, and what is known of it."""
    if not 1 <= size <= LARGEST:
        raise SettingsError(f"size is {size}; give a number from 1 to {LARGEST:,}")
    chosen = chosen_pairs(prepared, Filter(low=low), {})
    sample = np.random.default_rng(seed).permutation(chosen[draw(len(chosen), size, seed)])
    known = labels.known()
    said = [known[pair].mark for pair in sample.tolist() if pair in known]
    waiting = [pair for pair in sample.tolist() if pair not in known]
    judged = np.array([mark == "same" for mark in said if mark != "unsure"], np.int64)
    share = len(judged) / max(len(chosen), 1)
    lowest, highest = interval(np.ones_like(judged), judged, share=share)
    return Labelling(
        size=len(sample),
        total=len(chosen),
        seed=seed,
        low=low,
        same=said.count("same"),
        different=said.count("different"),
        unsure=said.count("unsure"),
        precision=float(judged.mean()) if len(judged) else None,
        lowest=lowest,
        highest=highest,
        next=one_pair(prepared, waiting[0], Filter(), {}, hidden=hidden) if waiting else None,
    )
