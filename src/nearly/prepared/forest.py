"""Clusters at every threshold at once: pairs are linked one by one, the nearest first.

After each pair it is noted how many clusters there are, how many documents are in them, and how
large the largest is. A higher threshold is then a place in these notes, and needs no new run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Growth", "grow"]

Whole = npt.NDArray[np.int32]


class Growth(NamedTuple):
    """By how many of the nearest pairs count, from none to all."""

    clusters: Whole
    clustered: Whole
    largest: Whole


def grow(first: Whole, second: Whole, documents: int) -> Growth:
    """Link pairs in the order in which they are given, and note what becomes of it."""
    notes = np.zeros((3, len(first) + 1), np.int32)
    parents, sizes = list(range(documents)), [1] * documents
    clusters = clustered = largest = 0
    linked: list[tuple[int, int, int, int]] = []
    for place, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True), start=1):
        one, other = _root(parents, a), _root(parents, b)
        if one == other:
            continue
        if sizes[one] < sizes[other]:
            one, other = other, one
        alone = (sizes[one] == 1) + (sizes[other] == 1)
        clusters += alone - 1
        clustered += alone
        parents[other] = one
        sizes[one] += sizes[other]
        largest = max(largest, sizes[one])
        linked.append((place, clusters, clustered, largest))
    _fill(notes, linked)
    return Growth(*notes)


def _root(parents: list[int], document: int) -> int:
    while parents[document] != document:
        parents[document] = document = parents[parents[document]]
    return document


def _fill(notes: npt.NDArray[np.int32], linked: list[tuple[int, int, int, int]]) -> None:
    """Between two notes nothing changes."""
    if not linked:
        return
    table = np.array(linked, np.int32).T
    spans = np.diff(table[0], append=notes.shape[1])
    notes[:, table[0, 0] :] = np.repeat(table[1:], spans, axis=1)
