"""What is in how many documents of one block, which is read for it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.engines.spark.partition.signed_block import Block, Plan
from nearly.measures.tally import Counted, Tally

__all__ = ["Occurrences", "extent", "occurrences", "suspects", "tally"]


class Occurrences(NamedTuple):
    """In how many documents each suspect is, and all that settles a measure besides."""

    suspects: npt.NDArray[np.uint64]
    counts: npt.NDArray[Any]
    documents: int
    extent: int

    @property
    def mean_extent(self) -> float:
        """Of a document; see `Measure.extent`."""
        return self.extent / max(1, self.documents)


def extent(block: Block, *, plan: Plan) -> tuple[int, int]:
    """Documents, and their extent together."""
    sizes = [(len(texts), plan.measure.extent(texts)) for texts in _texts(block, plan)]
    return sum(count for count, _ in sizes), sum(size for _, size in sizes)


def tally(block: Block, *, plan: Plan) -> Counted:
    """In how many documents of this block each member is."""
    found = Tally()
    for texts in _texts(block, plan):
        plan.measure.tally(texts, found)
    return found.counts()


def suspects(block: Block, *, plan: Plan) -> npt.NDArray[np.uint64]:
    """What may be too frequent in this block."""
    found = plan.measure.suspects()
    for texts in _texts(block, plan):
        found.add(texts)
    return found.found()


def occurrences(
    block: Block, *, plan: Plan, suspects: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """In how many documents of this block each suspect is."""
    counts = np.zeros(len(suspects), np.int64)
    for texts in _texts(block, plan):
        counts += plan.measure.occurrences(texts, suspects)
    return counts


def _texts(block: Block, plan: Plan) -> Iterator[pa.LargeStringArray]:
    for batch in block.documents(plan.skipped.another()):
        yield batch.column("text")
