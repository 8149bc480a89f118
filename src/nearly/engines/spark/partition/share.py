"""The pairs of very large components, in shares that are listed in several partitions.

Where a passage stands in many documents, most pairs may belong to one component. Each partition
that lists a share of them gets all members, for their ids; copies are only at home, in the first
of these partitions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nearly.engines.spark.partition.number import Numbers
from nearly.engines.spark.partition.placement import Hashes, place_of, scattered

__all__ = ["NO_SHARES", "Shares", "crowded", "homes", "places_of_pairs", "shared_out"]


class Shares(NamedTuple):
    """Components by their labels, which ascend, and how many pairs or shares each has."""

    labels: Numbers
    counts: Numbers

    def of(self, labels: Numbers) -> Numbers:
        """The count of each component, 1 where it is not among these."""
        if not len(self.labels):
            return np.ones(len(labels), np.int64)
        places = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        return np.where(self.labels[places] == labels, self.counts[places], 1)


NO_SHARES = Shares(np.empty(0, np.int64), np.empty(0, np.int64))


def crowded(labels: Numbers, least: int) -> Shares:
    """The components of at least so many of some pairs, of which the labels are given."""
    found, counts = np.unique(labels, return_counts=True)
    return Shares(found[counts >= least], counts[counts >= least])


def shared_out(parts: Sequence[Shares], most: int, partitions: int) -> Shares:
    """How many shares each component has, so that none is of many more pairs than `most`."""
    found, places = np.unique(np.concatenate([p.labels for p in parts]), return_inverse=True)
    pairs = np.zeros(len(found), np.int64)
    np.add.at(pairs, places, np.concatenate([part.counts for part in parts]))
    return Shares(found, np.clip(-(-pairs // most), 1, partitions))


def homes(labels: Numbers, partitions: int) -> Hashes:
    """Where each component is at home."""
    return place_of(scattered(labels), partitions)


def places_of_pairs(labels: Numbers, firsts: Numbers, shares: Shares, partitions: int) -> Hashes:
    """Where each pair is listed: at home, or in one of the partitions that follow."""
    further = (scattered(firsts) >> np.uint64(32)) % shares.of(labels).astype(np.uint64)
    return (homes(labels, partitions) + further) % np.uint64(partitions)
