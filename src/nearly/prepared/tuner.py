"""What other bands and rows would do with the corpus of a result: found, missed, and its cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from nearly.advice.advice import explain
from nearly.advice.sample import CLOSENESSES, Vector
from nearly.errors import SettingsError
from nearly.measures.jaccard import Jaccard
from nearly.prepared.result import Prepared
from nearly.stages.search import BINS
from nearly.tuning import cost
from nearly.tuning.banding import (
    Banding,
    areas,
    expected_candidates,
    expected_meetings,
    expected_recall,
    explicit,
    for_recall,
)
from nearly.tuning.hashing import Closenesses
from nearly.view.evidence import can_sign
from nearly.view.overview import Bar

__all__ = ["MOST_BANDS", "MOST_ROWS", "Tuned", "can_tune", "tuned"]

MOST_BANDS: Final = 200
MOST_ROWS: Final = 30
#: Bars of the histogram.
BARS: Final = 50


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """One setting on one corpus. Numbers of pairs are expected ones."""

    bands: int
    rows: int
    threshold: float
    least: float  # threshold of the run: what lies below it is known of the drawn documents only
    find: tuple[int, int]  # bands and rows that the run had, or would have had by hashing
    is_of_run: bool
    documents: int  # distinct ones
    drawn: int  # of which all pairs are known; 0 where the usual corpus stands for this one
    agreement: int
    recall_at_threshold: float
    recall: float  # over the pairs that exist
    pairs: float  # from the threshold upwards
    missed: float
    candidates: float
    wasted: float  # candidates below the threshold
    meetings: float
    seconds: float
    memory: int
    false_positive_area: float
    false_negative_area: float
    curve: tuple[tuple[float, float], ...]
    bars: tuple[Bar, ...]  # pairs of the corpus by similarity

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def can_tune(prepared: Prepared) -> bool:
    """Whether bands of this measure can be tuned here."""
    return can_sign(prepared.found)


def tuned(
    prepared: Prepared, bands: int | None, rows: int | None, threshold: float | None
) -> Tuned:
    """What these bands and rows would do; what is None is as the run had it."""
    if not can_tune(prepared):
        raise SettingsError(
            "the bands of this result cannot be tuned here: its documents were not compared as "
            "plain sets of shingles; take nearly tune"
        )
    usual = _usual(prepared)
    settings = prepared.found.settings
    at = _checked(settings.threshold if threshold is None else threshold, settings.threshold)
    chosen = explicit(
        _whole("bands", usual.bands if bands is None else bands, MOST_BANDS),
        _whole("rows", usual.rows if rows is None else rows, MOST_ROWS),
        at,
        settings.recall,
        usual.hashing,
    )
    return _told(prepared, usual, chosen, at)


def _whole(name: str, given: int, most: int) -> int:
    if not 1 <= given <= most:
        raise SettingsError(f"{name} is {given:,}; give a whole number from 1 to {most}")
    return given


def _checked(threshold: float, least: float) -> float:
    if not least <= threshold <= 1:
        raise SettingsError(
            f"threshold is {threshold:g}; give a number from {least:g}, which the run had, to 1"
        )
    return threshold


def _usual(prepared: Prepared) -> Banding:
    """What the run had; where it compared everything, what hashing would have taken."""
    settings, numbers = prepared.found.settings, prepared.found.statistics
    hashing = Jaccard.of(settings).hash_functions()
    if numbers.bands is not None and numbers.rows is not None:
        return Banding(numbers.bands, numbers.rows, numbers.agreement or 0, hashing)
    return for_recall(
        settings.threshold,
        settings.recall,
        settings.permutations,
        documents=max(2, numbers.documents),
        hashing=hashing,
    )


def _told(prepared: Prepared, usual: Banding, chosen: Banding, at: float) -> Tuned:
    numbers = prepared.found.statistics
    documents = max(2, numbers.documents - numbers.copies - numbers.empty)
    counts = _pairs(prepared, usual, documents)
    known = [pair for pair in zip(CLOSENESSES.tolist(), counts.tolist(), strict=True) if pair[1]]
    all_pairs = documents * (documents - 1) / 2
    shares = [(closeness, number / all_pairs) for closeness, number in known]
    beside = areas(chosen.family, at, known)
    said = explain(chosen, at)
    size = _size(prepared, usual, documents)
    work = _work(size, chosen, shares)
    return Tuned(
        bands=chosen.bands,
        rows=chosen.rows,
        threshold=at,
        least=prepared.found.settings.threshold,
        find=(usual.bands, usual.rows),
        is_of_run=numbers.bands is not None,
        documents=documents,
        drawn=_drawn(prepared),
        agreement=chosen.agreement,
        recall_at_threshold=said["recall_at_threshold"],
        recall=expected_recall(chosen, at, known),
        pairs=float(sum(number for closeness, number in known if closeness >= at)),
        missed=beside.false_negative,
        candidates=expected_candidates(chosen, documents, shares),
        wasted=beside.false_positive,
        meetings=work.meetings,
        seconds=cost.seconds(size, work),
        memory=cost.memory(size, work),
        false_positive_area=said["false_positive_area"],
        false_negative_area=said["false_negative_area"],
        curve=tuple((s, chance) for s, chance in said["curve"]),
        bars=_bars(counts),
    )


def _drawn(prepared: Prepared) -> int:
    """n documents have n (n - 1) / 2 pairs."""
    pairs = int(prepared.array("strangers").sum())
    return round((1 + (1 + 8 * pairs) ** 0.5) / 2) if pairs else 0


def _pairs(prepared: Prepared, usual: Banding, documents: int) -> Vector:
    """Pairs of the corpus by similarity: those that were found, and below them the strangers."""
    all_pairs = documents * (documents - 1) / 2
    least = prepared.found.settings.threshold
    found = _found(prepared, usual)
    counts = _strangers(prepared, usual) * all_pairs
    return np.where(least > CLOSENESSES, counts, found)


def _found(prepared: Prepared, usual: Banding) -> Vector:
    """A pair stands for those that hashing missed beside it, by the chance that it had."""
    falling = -prepared.array("falling")
    counts = np.bincount(np.floor(falling * BINS + 1e-9).astype(np.int64), minlength=BINS + 1)
    found = counts.astype(float)
    if prepared.found.statistics.bands is not None:
        present = np.flatnonzero(counts)
        chances = [usual.recall(s) for s in CLOSENESSES[present].tolist()]
        found[present] /= np.maximum(chances, 0.01)
    return found


def _strangers(prepared: Prepared, usual: Banding) -> Vector:
    """Shares of all pairs by similarity; a corpus of which nothing is known is as usual."""
    strangers = prepared.array("strangers")
    if len(strangers):
        shares: Vector = strangers[1:] / max(1, strangers.sum())
        return shares
    shares = np.zeros(BINS + 1)
    for closeness, share in usual.hashing.pairs:
        shares[int(closeness * BINS)] += share
    return shares


def _work(size: cost.Corpus, chosen: Banding, shares: Closenesses) -> cost.Work:
    goes_on = sum(
        share * chosen.family.probability(s) * chosen.filter.probability(s) for s, share in shares
    )
    verified = goes_on * size.documents * (size.documents - 1) / 2
    return cost.Work(
        banding=chosen,
        signing=cost.signing_seconds(size, chosen),
        meetings=expected_meetings(chosen, size.documents, shares),
        verified=verified,
        verified_text=2 * verified * size.text / size.documents,
    )


def _size(prepared: Prepared, usual: Banding, documents: int) -> cost.Corpus:
    """Reading is what it took in the run, without the signing."""
    numbers = prepared.found.statistics
    text = int(documents * (prepared.members["bytes_a_text"] or 0))
    size = cost.Corpus(documents=documents, text=text, reading=0, threads=os.cpu_count() or 1)
    signing = 0.0 if numbers.bands is None else cost.signing_seconds(size, usual)
    return replace(size, reading=max(0.0, numbers.seconds.get("read and sign", 0.0) - signing))


def _bars(counts: Vector) -> tuple[Bar, ...]:
    """In equal steps; what is the same is in the last one."""
    whole = counts[:BINS].reshape(BARS, -1).sum(axis=1)
    whole[-1] += counts[BINS]
    edges: Sequence[float] = [place / BARS for place in range(BARS + 1)]
    return tuple(
        Bar(low=low, high=high, total=round(total))
        for low, high, total in zip(edges[:-1], edges[1:], whole.tolist(), strict=True)
    )
