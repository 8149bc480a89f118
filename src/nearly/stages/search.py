"""Exact search of some documents among all: what no hashing can miss.

The shingles of the sought documents are indexed once, and the others stream past them block by
block, so that memory does not grow with the corpus. Only representatives are searched: a copy
is similar to what its representative is similar to.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.corpus import Corpus, Progress
from nearly.documents.number import Documents
from nearly.stages.pair import Pairs, join_pairs, split_pairs
from nearly.stages.verification import shingle_sets

__all__ = ["BINS", "count_by_similarity", "map_blocks", "search_exactly"]

Made = TypeVar("Made")

#: Bins of a histogram of similarities; one more holds those of similarity 1.
BINS = 1_000
#: Bytes of text in a block: its shingles take some eight times as much.
BLOCK = 2**21


def search_exactly(
    corpus: Corpus, sought: Documents, threshold: Fraction, *, threads: int, progress: Progress
) -> Pairs:
    """Every pair of a sought representative and any other one that reaches the threshold.

    A pair of two sought documents is given once. The threshold is above 0.
    """
    progress.stage("search exactly", len(corpus.representatives))
    index = _index(corpus, sought, threshold)

    def of_block(documents: Documents) -> tuple[Documents, Documents, npt.NDArray[np.float64]]:
        offsets, hashes = shingle_sets(corpus.texts(documents), corpus.settings)
        return index.search(documents, offsets, hashes)

    found = zip(
        *map_blocks(of_block, corpus, corpus.representatives, threads, progress), strict=True
    )
    first, second, similarity = (np.concatenate(column) for column in found)
    packed, places = np.unique(join_pairs(first, second), return_index=True)
    low, high = split_pairs(packed)
    return Pairs(first=low, second=high, similarity=similarity[places])


def count_by_similarity(
    corpus: Corpus, sought: Documents, *, threads: int, progress: Progress
) -> npt.NDArray[np.int64]:
    """How many other representatives each sought one has by similarity.

    A row a sought document. Column i counts similarities from i / BINS to below (i + 1) / BINS,
    by whole numbers; the last column those of 1. Pairs that share nothing are not counted.
    """
    progress.stage("search exactly", len(corpus.representatives))
    index = _index(corpus, sought, Fraction(0))

    def of_block(documents: Documents) -> npt.NDArray[np.uint32]:
        offsets, hashes = shingle_sets(corpus.texts(documents), corpus.settings)
        return index.count_by_similarity(documents, offsets, hashes, BINS)

    counts = np.zeros((len(sought), BINS + 1), np.int64)
    for block in map_blocks(of_block, corpus, corpus.representatives, threads, progress):
        counts += block
    return counts


def _index(corpus: Corpus, sought: Documents, threshold: Fraction) -> _kernels.SoughtIndex:
    offsets, hashes = shingle_sets(corpus.texts(sought), corpus.settings)
    return _kernels.SoughtIndex(sought, offsets, hashes, threshold.numerator, threshold.denominator)


def map_blocks(
    function: Callable[[Documents], Made],
    corpus: Corpus,
    documents: Documents,
    threads: int,
    progress: Progress,
) -> Iterator[Made]:
    """The function of each block of documents, in order, one a thread at a time."""
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
