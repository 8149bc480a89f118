"""Documents and pairs by keys that are the same in every result, kept in the order of their keys.

So two results of millions are compared by walking along both, without reading a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans

__all__ = ["identities", "meetings"]

Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]
Whole = npt.NDArray[np.int32]
#: Odd, so that which of two keys comes first counts, and nothing is lost.
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
#: Of two keys: among millions some names may share 64 bits, but none 128.
_SEEDS: Final = (0, 1)


def identities(
    names: pa.Array, clusters: Whole, ends: tuple[Whole, Whole], ranks: Whole, falling: Any
) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Documents with their clusters, and pairs with their ranks and values."""
    spelt = spans(names.cast(pa.large_string()))
    keys, checks = (_kernels.keys_of_texts(*spelt, seed) for seed in _SEEDS)
    by_key = np.argsort(keys, kind="stable")
    yield "name_keys", keys[by_key]
    yield "name_checks", checks[by_key]
    yield "name_clusters", clusters[by_key]
    pair_keys, pair_checks = (_of_both(each, ends) for each in (keys, checks))
    by_key = np.argsort(pair_keys, kind="stable")
    yield "pair_keys", pair_keys[by_key]
    yield "pair_checks", pair_checks[by_key]
    yield "pair_ranks", ranks[by_key]
    yield "pair_values", falling[ranks[by_key]]


def _of_both(keys: Keys, ends: tuple[Whole, Whole]) -> Keys:
    """The same whichever document is named first."""
    first, second = keys[ends[0]], keys[ends[1]]
    return np.minimum(first, second) * _FACTOR + np.maximum(first, second)


def meetings(ours: tuple[Keys, Keys], theirs: tuple[Keys, Keys]) -> tuple[Places, Places]:
    """Where both sides have the same two keys; the first ones are in ascending order."""
    if not len(ours[0]):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    found = np.minimum(np.searchsorted(ours[0], theirs[0]), len(ours[0]) - 1)
    met = np.flatnonzero((ours[0][found] == theirs[0]) & (ours[1][found] == theirs[1]))
    return found[met], met
