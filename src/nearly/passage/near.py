"""What may hold an edited passage: pairs of documents to align, and runs with replaced words.

What a near run is, the kernel says in `near_runs.hpp`. They are looked for where one side is held
against another: short questions in long texts, which have too few rare words to be aligned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.passage.unit import Hashes, Numbers
from nearly.settings import USUAL_PASSAGE, PassageSettings

__all__ = ["Candidates", "near_runs"]


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Pairs of documents, and runs: both documents, where it begins in them, how long it is."""

    pairs: npt.NDArray[np.uint32]
    near: npt.NDArray[np.uint32]
    likeness: npt.NDArray[np.float64]

    @staticmethod
    def of_pairs(pairs: npt.NDArray[np.uint32]) -> Candidates:
        """Pairs alone."""
        return Candidates(pairs=pairs, near=np.empty((0, 5), np.uint32), likeness=np.empty(0))

    def of_different(self, groups: Numbers) -> Candidates:
        """Those of documents that do not belong together."""
        pairs, near = (groups[rows[:, 0]] != groups[rows[:, 1]] for rows in (self.pairs, self.near))
        return Candidates(
            pairs=self.pairs[pairs], near=self.near[near], likeness=self.likeness[near]
        )

    def among(self, documents: npt.NDArray[np.int64]) -> Candidates:
        """With documents by their places among these, which ascend."""
        near = self.near.copy()
        near[:, :2] = np.searchsorted(documents, near[:, :2])
        return replace(
            self, pairs=np.searchsorted(documents, self.pairs).astype(np.uint32), near=near
        )


def near_runs(
    words: tuple[npt.NDArray[np.int64], Hashes], settings: PassageSettings
) -> _kernels.NearRuns:
    """An index of these words, which others are held against."""
    least = settings.shortest if settings.unit == "word" else USUAL_PASSAGE["word"]
    return _kernels.NearRuns(*words, least)
