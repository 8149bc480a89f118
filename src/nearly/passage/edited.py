"""Edited passages: pairs of documents that share rare words in a row, aligned.

What the kernel does is said in `alignment.hpp`. The numbers here were tuned by cross-validation on
the training part of PAN 2013's text alignment; bench/passages.py measures them.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.stop_word import ENGLISH
from nearly.passage.unit import Hashes, Numbers, Units
from nearly.settings import Stems

__all__ = ["aligned", "worth_aligning"]

#: Words in a row that make a pair of documents worth aligning, in how few documents, how many.
GRAM: Final = 3
MOST_DOCUMENTS: Final = 8
LEAST_SHARED: Final = 5

#: Rarity: minus the logarithm of a stem's share of all words, from BASE to CAP; 0 where its share
#: is above FREQUENT. A small corpus is taken for one of FEWEST words.
BASE: Final = 4.0
CAP: Final = 10.0
FREQUENT: Final = 0.004
FEWEST: Final = 20_000

ALIGNMENT: Final[dict[str, Any]] = {
    "most_meetings": 2,
    "gap": 160,
    "least_density": 0.12,
    "steadiness": 0.4,
    "least_evidence": 45.0,
    "least_scrap": 12.0,
    "least_condensed": 70.0,
    "fewest_scraps": 3,
    "widening": 2.0,
    "greatest_scrap": 0.7,
    "reach": 180,
    "snap": 40,
}

#: Pairs that a thread aligns at a time.
_SLICE: Final = 500


def worth_aligning(
    units: Units, groups: Numbers, sides: Numbers, *, one_sided: bool
) -> npt.NDArray[np.uint32]:
    """Pairs of documents that share enough rare runs of words: two columns."""
    pairs = _kernels.rare_pairs(
        units.offsets,
        units.hashes,
        groups,
        sides,
        one_sided,
        GRAM,
        MOST_DOCUMENTS,
        LEAST_SHARED,
    )
    return np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], 1).astype(np.uint32)


def aligned(
    units: Units, pairs: npt.NDArray[np.uint32], stems: Stems, threads: int
) -> npt.NDArray[np.uint32]:
    """Passages of these pairs: number of the pair, first word and end in a, and in b."""
    names, frequent = _stemmed(units.dictionary, stems)
    order = np.array(sorted(names), np.uint64)
    numbers = np.array([names[key] for key in order.tolist()], np.uint32)
    stem = _looked_up(units.hashes, order, numbers)
    rarity = _rarities(stem, frequent)
    settings = _kernels.Alignment(**ALIGNMENT)

    def work(start: int) -> npt.NDArray[np.uint32]:
        piece = pairs[start : start + _SLICE]
        a, b = (np.ascontiguousarray(piece[:, side]) for side in (0, 1))
        found, _ = _kernels.align(
            units.offsets, stem, rarity, units.starts, units.ends, units.begins, a, b, settings
        )
        found[:, 0] += np.uint32(start)
        return found

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, range(0, len(pairs), _SLICE)))
    return np.concatenate(parts) if parts else np.empty((0, 5), np.uint32)


def _stemmed(dictionary: Mapping[int, str], stems: Stems) -> tuple[dict[int, int], list[int]]:
    """The number of each word's stem, from 1 on; and the numbers of those that say nothing."""
    words = list(dictionary.values())
    roots = _stemmer().stemWords(words) if stems == "english" else words
    numbers: dict[str, int] = {}
    named = {
        key: numbers.setdefault(root, len(numbers) + 1)
        for key, root in zip(dictionary, roots, strict=True)
    }
    empty = set(ENGLISH)
    return named, [numbers[r] for w, r in zip(words, roots, strict=True) if w in empty]


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def _looked_up(hashes: Hashes, keys: Hashes, numbers: Numbers) -> Numbers:
    """The number of each unit's stem; a hole has one of its own."""
    alone = np.arange(len(hashes), dtype=np.uint32) + np.uint32(2**30)
    if not len(keys):
        return alone
    places = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
    return np.where(keys[places] == hashes, numbers[places], alone)


def _rarities(stem: Numbers, frequent: list[int]) -> npt.NDArray[np.float32]:
    known = stem < 2**30
    counts = np.bincount(stem[known], minlength=max(frequent, default=0) + 1)
    share = np.maximum(counts, 1) / max(len(stem), FEWEST)
    rarity = np.clip(np.minimum(CAP, -np.log(share)) - BASE, 0, None)
    rarity[share >= FREQUENT] = 0
    rarity[frequent] = 0
    return np.where(known, rarity[np.where(known, stem, 0)], 0).astype(np.float32)
