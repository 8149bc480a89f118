"""How alike any two documents of a corpus are: some of them compared with each other, exactly.

A result holds what is similar. What bands cost depends on all the other pairs, too, of which some
documents that are drawn at random tell enough.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import column_of
from nearly.measures.jaccard import Jaccard
from nearly.stages.search import BINS
from nearly.view.evidence import can_sign
from nearly.view.result import Result

__all__ = ["Drawn", "count_strangers"]

#: Documents that are drawn, and the bytes that they may have together.
DRAWN: Final = 1_000
MOST_BYTES: Final = 2**24


class Drawn:
    """Some texts of all that pass by, each with the same chance; the same ones by the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._lots = np.zeros(0)
        self._texts = pa.array([], pa.large_string())

    def add(self, texts: pa.Array) -> None:
        """Let texts pass by; those with the least lots stay."""
        lots = np.append(self._lots, self._random.random(len(texts)))
        stay = np.argsort(lots, kind="stable")[:DRAWN]
        self._texts = pa.concat_arrays([self._texts, texts]).take(column_of(stay))
        self._lots = lots[stay]

    @property
    def texts(self) -> pa.Array:
        """Those that stayed, as many as fit."""
        sizes = pc.binary_length(self._texts).to_numpy(zero_copy_only=False)
        return self._texts.slice(0, int(np.searchsorted(np.cumsum(sizes), MOST_BYTES, "right")))


def count_strangers(result: Result, texts: pa.Array) -> npt.NDArray[np.int64]:
    """Pairs of these texts by similarity; the first number counts those that share nothing.

    Nothing where the measure is none whose bands can be tuned here.
    """
    if not can_sign(result) or len(texts) < 2:
        return np.zeros(0, np.int64)
    numbers: Any = np.arange(len(texts), dtype=np.uint32)
    index = Jaccard.of(result.settings).index(numbers, texts, None)
    met = index.count(numbers, texts, BINS).sum(axis=0, dtype=np.int64) // 2
    apart = len(texts) * (len(texts) - 1) // 2 - int(met.sum())
    return np.append(apart, met)
