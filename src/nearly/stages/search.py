"""Exact search of some documents among all: what no hashing can miss.

The sought documents are indexed once, and the others stream past them block by block, so that
memory does not grow with the corpus. Only representatives are searched: a copy
is similar to what its representative is similar to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from nearly.documents.corpus import Corpus
from nearly.documents.side import may_meet
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Pairs, join_pairs, split_pairs
from nearly.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["BINS", "count_by_closeness", "map_blocks", "search_exactly"]

Made = TypeVar("Made")

#: Bins of a histogram of closeness; one more holds those of closeness 1.
BINS = 1_000
#: Bytes of contents in a block: its shingles take some eight times as much.
BLOCK = 2**21


def search_exactly(
    corpus: Corpus, sought: Documents, threshold: Fraction, *, threads: int, progress: Progress
) -> Pairs:
    """Every pair of a sought representative and any other one that reaches the threshold.

    A pair of two sought documents is given once.
    """
    progress.stage("search exactly", len(corpus.representatives))
    index = corpus.measure.index(sought, corpus.texts(sought), threshold)

    def of_block(documents: Documents) -> tuple[Documents, Documents, Nearness]:
        return index.search(documents, corpus.texts(documents))

    found = zip(
        *map_blocks(of_block, corpus, corpus.representatives, threads, progress), strict=True
    )
    first, second, nearness = (np.concatenate(column) for column in found)
    if corpus.sides is not None:
        met = may_meet(corpus.sides[first], corpus.sides[second])
        first, second, nearness = first[met], second[met], nearness[met]
    packed, places = np.unique(join_pairs(first, second), return_index=True)
    low, high = split_pairs(packed)
    return Pairs(first=low, second=high, nearness=nearness[places])


def count_by_closeness(
    corpus: Corpus, sought: Documents, *, threads: int, progress: Progress
) -> npt.NDArray[np.int64]:
    """How many other representatives each sought one has by closeness.

    One row per sought document, one column per bin; the last column counts those of closeness 1.
    Pairs that have nothing in common are not counted.
    """
    progress.stage("search exactly", len(corpus.representatives))
    index = corpus.measure.index(sought, corpus.texts(sought), None)

    def of_block(documents: Documents) -> npt.NDArray[np.uint32]:
        return index.count(documents, corpus.texts(documents), BINS)

    counts = np.zeros((len(sought), BINS + 1), np.int64)
    for block in map_blocks(of_block, corpus, corpus.representatives, threads, progress):
        counts += block
    return counts


def map_blocks(
    function: Callable[[Documents], Made],
    corpus: Corpus,
    documents: Documents,
    threads: int,
    progress: Progress,
) -> Iterator[Made]:
    """The function of each block of documents, in order, one a thread at a time."""
    from concurrent.futures import ThreadPoolExecutor  # imports `logging`, which takes 5 ms

    ends = np.cumsum(corpus.lengths()[documents]) // BLOCK
    blocks = np.split(documents, np.flatnonzero(np.diff(ends)) + 1)
    ahead: deque[tuple[Future[Made], int]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            ahead.append((pool.submit(function, block), len(block)))
            if len(ahead) > threads:
                yield _result(ahead, progress)
        while ahead:
            yield _result(ahead, progress)


def _result(ahead: deque[tuple[Future[Made], int]], progress: Progress) -> Made:
    future, documents = ahead.popleft()
    made = future.result()
    progress.advance(documents)
    return made
