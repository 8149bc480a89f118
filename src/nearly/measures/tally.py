"""In how many documents each member is, counted in full: runs in order, merged as they grow."""

import numpy as np
import numpy.typing as npt

from nearly import _kernels

__all__ = ["Counted", "Tally", "merged"]

#: Hashes in order, each once, and the number of documents that have it.
Counted = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


def merged(one: Counted, other: Counted) -> Counted:
    """The counts of both together."""
    return _kernels.merge_tallies(*one, *other)


class Tally:
    """Counts of some of the documents; each run is at least twice as long as the next one."""

    def __init__(self) -> None:
        self._runs: list[Counted] = []

    def add(self, hashes: npt.NDArray[np.uint64]) -> None:
        """The members of the next documents, each once for a document."""
        self._runs.append(_kernels.count_hashes(hashes))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            self._runs.append(merged(self._runs.pop(), self._runs.pop()))

    def counts(self) -> Counted:
        """Of all that was added."""
        found: Counted = np.empty(0, np.uint64), np.empty(0, np.uint32)
        for run in reversed(self._runs):
            found = merged(found, run)
        return found
