"""What every part of a new index is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nearly.index.catalogue import IdKind
from nearly.index.making import Making
from nearly.index.reading import Reading
from nearly.sources import Skipped

__all__ = ["Numbers", "Plan"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """See above."""

    making: Making
    id_kind: IdKind
    numbers_rows: bool
    skipped: Skipped  # an empty list
    path: str  # of the index
    firsts: Numbers  # the number of each part's first document

    def reading(self, block: Any, first: int) -> Reading:
        """How the documents of a part are read, whose first one has this number."""
        next_row = (block.first_row or 0) if self.numbers_rows else None
        return Reading(self.making, self.id_kind, first, next_row, is_deciding=True)
