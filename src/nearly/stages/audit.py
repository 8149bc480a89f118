"""Proof on the user's own data: how many of the pairs that exist were found?

Some documents, drawn by seed, are searched exactly among all others. What was found of their
pairs is an estimate of the recall of the whole run, with an interval that takes into account
that the pairs of one document are found or missed together.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from nearly.documents.corpus import Corpus
from nearly.documents.side import OLD
from nearly.frozen import dataclass
from nearly.measures.number import Documents
from nearly.measures.pair import Pairs, join_pairs
from nearly.progress import Progress
from nearly.stages import lot
from nearly.stages.search import search_exactly

__all__ = ["Audit", "asking", "audit", "draw", "interval", "judge"]

#: Documents by number, however many there may be.
Numbers = npt.NDArray[Any]
#: The first and the second documents of pairs.
Ends = tuple[Numbers, Numbers]

#: Standard deviations that hold 95% of a normal distribution.
Z = 1.959964


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an exact search of some documents said of a run."""

    documents: int  # searched
    pairs: int  # that they have, a pair of two searched documents counted from both sides
    found: int  # of these
    recall: float
    low: float  # of the interval of 95% confidence
    high: float
    precision: float


def audit(
    corpus: Corpus, near: Pairs, documents: int, *, seed: int, threads: int, progress: Progress
) -> Audit:
    """Search some representatives exactly, and compare with the pairs that were found."""
    everyone = asking(corpus)
    sought = everyone[draw(len(everyone), documents, seed)]
    threshold = corpus.measure.threshold(corpus.settings)
    true = search_exactly(corpus, sought, threshold, threads=threads, progress=progress)
    ends = ((true.first, true.second), _pairs_of(sought, near))
    return judge(sought, *ends, share=len(sought) / max(1, len(everyone)))


def asking(corpus: Corpus) -> Documents:
    """The representatives that are drawn from: all of them, or those of the new side."""
    everyone = corpus.representatives
    return everyone if corpus.sides is None else everyone[corpus.sides[everyone] != OLD]


def _pairs_of(sought: Documents, near: Pairs) -> Ends:
    """Those pairs that have a sought document: there may be too many others."""
    first, second = [], []
    for part in near.parts():
        has_sought = np.isin(part.first, sought) | np.isin(part.second, sought)
        first.append(part.first[has_sought])
        second.append(part.second[has_sought])
    return np.concatenate(first), np.concatenate(second)


def draw(everyone: int, documents: int, seed: int) -> npt.NDArray[np.int64]:
    """Places drawn from all, or all of them, in ascending order."""
    return np.array(lot.drawn(everyone, min(documents, everyone), seed), np.int64)


def judge(sought: Numbers, true: Ends, near: Ends, *, share: float) -> Audit:
    """What the true pairs of the sought documents say of those that were found.

    A true pair is given once. `share` of all documents were sought.
    """
    documents = np.unique(np.concatenate([sought, *true, *near]))
    sought, first, second, near_first, near_second = (
        np.searchsorted(documents, column).astype(np.uint32) for column in (sought, *true, *near)
    )
    is_found = np.isin(join_pairs(first, second), join_pairs(near_first, near_second))
    pairs = _count(first, second, sought, len(documents))
    found = _count(first[is_found], second[is_found], sought, len(documents))
    claimed = int(_count(near_first, near_second, sought, len(documents)).sum())
    low, high = interval(pairs, found, share=share)
    return Audit(
        documents=len(sought),
        pairs=int(pairs.sum()),
        found=int(found.sum()),
        recall=_ratio(int(found.sum()), int(pairs.sum())),
        low=low,
        high=high,
        precision=_ratio(int(found.sum()), claimed),
    )


def _count(
    first: Documents, second: Documents, sought: Documents, documents: int
) -> npt.NDArray[np.int64]:
    """The pairs of each sought document."""
    counts = np.bincount(first, minlength=documents) + np.bincount(second, minlength=documents)
    return counts[sought]


def interval(
    pairs: npt.NDArray[np.int64], found: npt.NDArray[np.int64], *, share: float
) -> tuple[float, float]:
    """Wilson's interval for the share of pairs that were found, at 95% confidence.

    The pairs of a document are not independent: as many count as there would be if each
    document's pairs were all found or all missed. `share` of all documents was searched: the
    more, the less is left to chance.
    """
    total = int(pairs.sum())
    if total == 0:
        return 0.0, 1.0
    if share >= 1:
        return (_ratio(int(found.sum()), total),) * 2
    independent = total**2 / float((pairs.astype(float) ** 2).sum()) / (1 - share)
    recall = found.sum() / total
    middle = recall + Z**2 / (2 * independent)
    spread = Z * math.sqrt(recall * (1 - recall) / independent + Z**2 / (4 * independent**2))
    whole = 1 + Z**2 / independent
    return float(max(0.0, (middle - spread) / whole)), float(min(1.0, (middle + spread) / whole))


def _ratio(part: int, whole: int) -> float:
    """Of nothing, everything was found."""
    return part / whole if whole else 1.0
