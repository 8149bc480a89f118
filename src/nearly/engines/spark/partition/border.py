"""A border between blocks: those before it hold old documents, those after it new ones."""

from typing import NamedTuple

import numpy as np

from nearly.documents.side import BOTH, NEW, OLD, Sides
from nearly.engines.spark.partition.number import ROW_BITS, Numbers

__all__ = ["Border", "sides_here"]


class Border(NamedTuple):
    """Where it lies, and what is asked for."""

    blocks: int  # how many lie before it
    cleaning: bool  # new documents meet each other too
    lists_copies: bool  # an old document stands for its new copies

    @property
    def first_new(self) -> int:
        """A number that no old document reaches."""
        return self.blocks << ROW_BITS

    @property
    def new_side(self) -> int:
        """The side of new documents."""
        return BOTH if self.cleaning else NEW


def sides_here(documents: Numbers, both: Numbers, border: Border) -> Sides:
    """The sides of some documents; `both` are those old ones that have new copies, in order."""
    sides = np.where(documents < border.first_new, OLD, border.new_side).astype(np.uint8)
    sides[np.isin(documents, both)] = BOTH
    return sides
