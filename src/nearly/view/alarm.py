"""What a reader should know before the numbers are believed, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from nearly.view.result import Result
from nearly.wording import count

__all__ = ["alarms"]

#: A cluster is large that holds this share of all documents, and this many.
SHARE: Final = 0.3
FEWEST: Final = 10
#: A cluster of many documents is a chain if so few of its pairs are similar.
LINKED: Final = 0.25


def alarms(result: Result, sizes: npt.NDArray[np.int64]) -> Iterator[str]:
    """Sentences, the gravest first; `sizes` are those of the clusters, in their order."""
    statistics = result.statistics
    yield from _large(sizes, statistics.documents)
    yield from _chain(result, sizes)
    if statistics.empty:
        documents = count(statistics.empty, "document is", "documents are")
        yield f"{documents} empty, or too short to compare: they are in no pair."
    if statistics.ignored:
        documents = count(statistics.ignored, "document has", "documents have")
        yield f"{documents} nothing but ignored or common text: they are in no pair."
    if statistics.skipped:
        records = count(statistics.skipped, "record")
        yield f"{records} could not be read and were not compared."
    if statistics.repeated_ids:
        ids = count(statistics.repeated_ids, "id stands", "ids stand")
        yield f"{ids} for several documents; these are told apart by file and row."


def _large(sizes: npt.NDArray[np.int64], documents: int) -> Iterator[str]:
    largest = int(sizes.max(initial=0))
    if largest >= max(FEWEST, SHARE * documents):
        yield (
            f"One cluster holds {largest:,} of {documents:,} documents "
            f"({largest / documents:.0%}). Do they share template text? "
            "Drop it with --ignore FILE or --common, or raise the threshold."
        )


def _chain(result: Result, sizes: npt.NDArray[np.int64]) -> Iterator[str]:
    """Where copies are linked once, few pairs say nothing."""
    if result.statistics.copies or not len(sizes):
        return
    largest = int(sizes.max())
    members = result.clusters
    number = np.unique(members["cluster"].to_numpy())[int(sizes.argmax())]
    if largest < FEWEST:
        return
    from nearly.view.cluster import links_of

    links = links_of(result.pairs, members, int(number)).num_rows
    possible = largest * (largest - 1) // 2
    if links < LINKED * possible:
        yield (
            f"The largest cluster is a chain: of {possible:,} pairs of its {largest:,} documents "
            f"only {links:,} are similar, so its ends may have little in common."
        )
