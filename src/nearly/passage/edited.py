"""Edited passages: pairs of documents that share rare words in a row, aligned.

What the kernel does is said in `alignment.hpp` and `condensed.hpp`. The numbers here were tuned on
the training part of PAN 2013's text alignment; bench/passages.py measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.passage.found import Found, found_of
from nearly.passage.rarity import Spelt, StemCounts
from nearly.passage.unit import Hashes, Numbers, Units
from nearly.settings import Stems

__all__ = ["aligned", "worth_aligning"]

#: Words in a row that make a pair of documents worth aligning, in how few documents, how many.
GRAM: Final = 3
MOST_DOCUMENTS: Final = 8
LEAST_SHARED: Final = 5

ALIGNMENT: Final[dict[str, Any]] = {
    "most_meetings": 2,
    "gap": 160,
    "least_density": 0.16,
    "steadiness": 0.35,
    "least_evidence": 40.0,
    "least_length": 180,
    "snap": 40,
}

#: Of a passage that sums up a long text.
CONDENSING: Final[dict[str, Any]] = {
    "gap": 160,
    "least_density": 0.4,
    "least_scattered": 60.0,
    "least_outside": 0.3,
    "rise": 3.0,
    "widest": 15.0,
}

#: The part of both sides that verbatim runs must cover to say where a passage begins and ends.
LEAST_VERBATIM: Final = 0.7

#: Words that are not worth several parts.
_FEW: Final = 1_000_000
#: Pairs that a thread aligns at a time.
_SLICE: Final = 500


def worth_aligning(
    units: Units, groups: Numbers, sides: Numbers, *, one_sided: bool, threads: int
) -> npt.NDArray[np.uint32]:
    """Pairs of documents that share enough rare runs of words: two columns."""
    corpus = (units.offsets, units.hashes, groups, sides, one_sided)
    parts = threads if len(units.hashes) > _FEW else 1

    def work(part: int) -> tuple[Hashes, Numbers]:
        return _kernels.rare_pairs(*corpus, GRAM, MOST_DOCUMENTS, part, parts)

    with ThreadPoolExecutor(threads) as pool:
        pairs = _summed(list(pool.map(work, range(parts))))
    return np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], 1).astype(np.uint32)


def _summed(parts: Sequence[tuple[Hashes, Numbers]]) -> Hashes:
    """The pairs that share enough over all parts."""
    pairs, numbers = np.unique(np.concatenate([pairs for pairs, _ in parts]), return_inverse=True)
    shared = np.bincount(numbers, np.concatenate([counts for _, counts in parts]), len(pairs))
    return pairs[shared >= LEAST_SHARED]


def aligned(
    units: Units,
    pairs: npt.NDArray[np.uint32],
    stems: Stems,
    threads: int,
    counted: int | StemCounts | None = None,
) -> Found:
    """Passages of these pairs; how rare a word is, only the first `counted` documents say."""
    spelt = Spelt.of(units, stems)
    if not isinstance(counted, StemCounts):
        first_side = int(units.offsets[-1 if counted is None else counted])
        counted = spelt.counted(first_side, threads)
    numbers, stem_of, rarity_of = spelt.weighed(counted)
    places = (units.starts, units.ends, units.begins)
    words = (units.offsets, units.hashes, numbers, *places, stem_of, rarity_of)
    settings = _kernels.Alignment(**ALIGNMENT, condensing=_kernels.Condensing(**CONDENSING))
    pairs = pairs[np.argsort(_longer(units, pairs), kind="stable")]

    def work(start: int) -> Found:
        a, b = (np.ascontiguousarray(side) for side in pairs[start : start + _SLICE].T)
        found, likeness, verbatim = _kernels.align(*words, a, b, settings, LEAST_VERBATIM)
        both = (a[found[:, 0]], b[found[:, 0]])
        return found_of(units, both, found[:, 1:], likeness, verbatim.astype(bool))

    with ThreadPoolExecutor(threads) as pool:
        return Found.joined(list(pool.map(work, range(0, max(1, len(pairs)), _SLICE))))


def _longer(units: Units, pairs: npt.NDArray[np.uint32]) -> Numbers:
    """The longer document of each pair: the kernel looks into it once for pairs in a row."""
    a, b = pairs.T
    sizes = np.diff(units.offsets)
    longer: Numbers = np.where(sizes[a] >= sizes[b], a, b)
    return longer
