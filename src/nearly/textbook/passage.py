"""Shared passages as plainly as Python can say them."""

from collections.abc import Sequence
from typing import Any

__all__ = ["maximal_runs"]


def maximal_runs(a: Sequence[Any], b: Sequence[Any], least: int) -> set[tuple[int, int, int]]:
    """Every run of at least `least` equal units that can be made longer at neither end.

    A run is its start in `a`, its start in `b`, and its length.
    """
    found = set()
    for i in range(len(a)):
        for j in range(len(b)):
            starts_here = i == 0 or j == 0 or a[i - 1] != b[j - 1]
            length = 0
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            if starts_here and length >= least:
                found.add((i, j, length))
    return found
