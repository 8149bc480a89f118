"""Verbatim runs: everything that two documents share unit for unit, of at least a given length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.passage.unit import Numbers, Units

__all__ = ["shared_runs"]

Rows = npt.NDArray[np.uint32]


def shared_runs(
    units: Units, groups: Numbers, sides: Numbers, *, one_sided: bool, least: int, crowd: int
) -> tuple[Rows, Rows]:
    """Maximal runs (a, b, start_a, start_b, length), and places (passage, document, start, end).

    Every run of at least `least` units is found. Where all that winnowing chose of a run stands in
    more than `crowd` places, both documents have a place there instead of a run.
    """
    k = max(2, least // 2)
    runs, places = _kernels.shared_runs(
        units.offsets, units.hashes, groups, sides, one_sided, k, least - k + 1, crowd
    )
    return runs, places
