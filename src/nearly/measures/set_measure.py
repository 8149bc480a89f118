"""What measures of sets share: documents are sets of hashes, and Jaccard similarity compares them.

A threshold is compared as a ratio of whole numbers, so that a pair that lies on it exactly is
never lost to rounding.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.measures import set_join
from nearly.measures.base import Index, Measure, Signed, Weighed
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness
from nearly.measures.set_join import SetBlock
from nearly.measures.work import ONE_THREAD, Workers
from nearly.settings import Scheme
from nearly.tuning.banding import Banding

__all__ = ["SetMeasure", "Sets"]

#: Where each document's hashes begin, and the hashes, each once.
Sets = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]


class SetMeasure(Measure):
    """Jaccard similarity of sets of hashes, whatever the sets are made of."""

    seed: int
    scheme: Scheme

    @abstractmethod
    def sets(self, contents: pa.Array, *, in_order: bool = False) -> Sets:
        """Each document's set, sorted where that is asked for."""

    def weigh(self, contents: pa.Array) -> Weighed:
        """The size of a document is that of its set."""
        sizes, digests = _kernels.weigh_sets(*self.sets(contents, in_order=True))
        return Weighed(sizes=sizes, digests=digests)

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """Keys of 32 bits per band, sketches of 2 bits per position."""
        sizes, digests, keys, sketches = _kernels.sign_sets(
            *self.sets(contents, in_order=True),
            seed=self.seed,
            scheme=self.scheme,
            bands=banding.bands,
            rows=banding.rows,
        )
        return Signed(sizes=sizes, digests=digests, keys=keys, sketches=sketches)

    def compare(
        self, contents: pa.Array, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """Whole sets, in whole numbers; each document's set is made once."""
        offsets, hashes = self.sets(contents)
        found = _kernels.similarities(offsets, hashes, first, second, *_ratio(threshold))
        found[found < 0] = np.nan
        return found

    def join(
        self, blocks: Sequence[Callable[[], Block]], threshold: Fraction, workers: Workers
    ) -> Iterator[Joined]:
        """By rare members: see `set_join`."""
        loads = [partial(self._load, load, workers) for load in blocks]
        # Blocks are asked for more than once; where all fits in one, it is made once.
        kept = [cache(load) for load in loads] if len(loads) == 1 else loads
        return set_join.join(kept, threshold, workers)

    def join_across(self, one: Block, other: Block, threshold: Fraction) -> Iterator[Joined]:
        """By rare members, too."""
        mine, theirs = (self._set_block(block, ONE_THREAD) for block in (one, other))
        return set_join.join_across(mine, theirs, threshold, ONE_THREAD)

    def _load(self, load: Callable[[], Block], workers: Workers) -> SetBlock:
        return self._set_block(load(), workers)

    def _set_block(self, block: Block, workers: Workers) -> SetBlock:

        def of_part(part: tuple[int, int]) -> Sets:
            return self.sets(block.read(*part), in_order=True)

        parts = list(workers.map(of_part, workers.split(len(block.documents), per_thread=4)))
        sizes = [np.diff(offsets) for offsets, _ in parts]
        return SetBlock(
            documents=block.documents,
            offsets=np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes])),
            hashes=np.concatenate([np.empty(0, np.uint64), *(hashes for _, hashes in parts)]),
        )

    def join_memory(self, documents: int, size: int, threshold: Fraction, threads: int) -> int:
        """See `set_join`."""
        return set_join.memory_of(documents, size, threshold, threads)

    def index(self, documents: Documents, contents: pa.Array, threshold: Fraction | None) -> Index:
        """An inverted index of the members that the fewest others share."""
        sought = _kernels.SoughtIndex(documents, *self.sets(contents), *_ratio(threshold))
        return _SetIndex(self, sought)


class _SetIndex:
    """See `Index`."""

    def __init__(self, measure: SetMeasure, sought: _kernels.SoughtIndex):
        self._measure, self._sought = measure, sought

    def search(
        self, documents: Documents, contents: pa.Array
    ) -> tuple[Documents, Documents, Nearness]:
        """See `Index`."""
        return self._sought.search(documents, *self._measure.sets(contents))

    def count(self, documents: Documents, contents: pa.Array, bins: int) -> npt.NDArray[np.uint32]:
        """See `Index`; in whole numbers."""
        sets = self._measure.sets(contents)
        return self._sought.count_by_similarity(documents, *sets, bins)


def _ratio(threshold: Fraction | None) -> tuple[int, int]:
    return (0, 1) if threshold is None else (threshold.numerator, threshold.denominator)
