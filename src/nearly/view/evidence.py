"""How two documents came to be a pair: their signatures, and the bands in which they met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearly.arrays import string_array
from nearly.measures.dropped import dropped_shingles
from nearly.measures.jaccard import Jaccard
from nearly.measures.shingle import signatures
from nearly.tuning.banding import Banding
from nearly.view.result import Result

__all__ = ["Evidence", "can_sign", "evidence"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What hashing saw of a pair."""

    estimate: float  # of the similarity: the share of positions that agree
    positions: int
    bands: int | None  # None where all pairs were compared, and no bands were needed
    rows: int | None
    met: tuple[int, ...]  # the bands in which they fell into one bucket, from 1


def evidence(result: Result, texts: tuple[str, str]) -> Evidence | None:
    """Sign both texts again; None where that needs more than the two of them."""
    if not can_sign(result):
        return None
    settings, statistics = result.settings, result.statistics
    text = settings.text
    both = string_array(list(texts))
    dropped = dropped_shingles(text, settings.seed)
    positions = settings.permutations
    signed = signatures(both, text, settings.seed, settings.scheme, positions, dropped=dropped)
    bands, rows = statistics.bands, statistics.rows
    return Evidence(
        estimate=float(np.mean(signed[0] == signed[1])),
        positions=positions,
        bands=bands,
        rows=rows,
        met=() if bands is None or rows is None else _met(result, both, Banding(bands, rows)),
    )


def can_sign(result: Result) -> bool:
    """Whether a document's signature can be made of its text alone."""
    settings, statistics = result.settings, result.statistics
    has_texts = not {"items", "vector"} & set(statistics.source or {})
    is_decided = not (settings.bag or settings.weights or settings.common)
    is_text = has_texts and settings.text.k != "auto"
    return statistics.measure == "jaccard" and is_decided and is_text


def _met(result: Result, both: object, banding: Banding) -> tuple[int, ...]:
    keys = Jaccard.of(result.settings).sign(both, banding).keys
    first, second = keys.reshape(2, -1)
    return tuple((np.flatnonzero(first == second) + 1).tolist())
