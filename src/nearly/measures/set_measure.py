"""What measures of sets share: documents are sets of hashes, compared by what they share.

A threshold is compared as a ratio of whole numbers, so that a pair that lies on it exactly is
never lost to rounding.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.measures import set_join
from nearly.measures.base import Comparer, Index, Measure, Signed, Weighed
from nearly.measures.held_shingles import Sets
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness
from nearly.measures.set_join import Least, SetBlock
from nearly.measures.work import ONE_THREAD, Workers
from nearly.settings import Scheme
from nearly.tuning.banding import Banding

__all__ = ["SetMeasure", "Sets"]

#: Hashes that memory is asked for before any is made, or as many as fit: documents that repeat
#: themselves have few.
MOST_AT_ONCE: Final = 2**24
BYTES_OF_HASH: Final = 8

#: Hashes that are made in one go, about: they lie near the processor still when they are put in
#: their place, and their memory is used again for the next ones.
MADE_AT_ONCE: Final = 2**19


class SetMeasure(Measure):
    """Similarity of sets of hashes, whatever the sets are made of.

    What two sets share is taken out of what they have together (Jaccard similarity) or, with
    `of_smaller`, out of the smaller one.
    """

    of_smaller: ClassVar[bool] = False

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
        return self.compare_sets(self.sets(contents), first, second, threshold)

    def compare_read(
        self,
        read: Callable[[Documents], pa.Array],
        documents: Documents,
        first: Documents,
        second: Documents,
        threshold: Fraction | None,
    ) -> Nearness:
        """Two are read one after the other: they may be long, and their sets are enough."""
        if len(documents) > 2:
            return super().compare_read(read, documents, first, second, threshold)
        sets = _together(self.sets(read(documents[i : i + 1])) for i in range(len(documents)))
        return self.compare_sets(sets, first, second, threshold)

    def comparer(self, block: Block, workers: Workers) -> Comparer:
        """Sets are made once, and held."""
        made = self._set_block(block, workers)
        return partial(self.compare_sets, (made.offsets, made.hashes))

    def compare_sets(
        self, sets: Sets, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """The same of sets that were made before."""
        offsets, hashes = sets
        found = _kernels.similarities(offsets, hashes, first, second, *self._ratio(threshold))
        found[found < 0] = np.nan
        return found

    def join(
        self, blocks: Sequence[Callable[[], Block]], threshold: Fraction, workers: Workers
    ) -> Iterator[Joined]:
        """By rare members: see `set_join`."""
        loads = [partial(self._load, load, workers) for load in blocks]
        return set_join.join(loads, self._least(threshold), workers)

    def join_across(
        self, one: Block, other: Block, threshold: Fraction, workers: Workers = ONE_THREAD
    ) -> Iterator[Joined]:
        """By rare members, too."""
        mine, theirs = (self._set_block(block, workers) for block in (one, other))
        return set_join.join_across(mine, theirs, self._least(threshold), workers)

    def _load(self, load: Callable[[], Block], workers: Workers) -> SetBlock:
        return self._set_block(load(), workers)

    def _set_block(self, block: Block, workers: Workers) -> SetBlock:

        def of_part(part: tuple[int, int]) -> Sets:
            return self.sets(block.read(*part))

        if block.sets is not None:
            offsets, hashes = block.sets(workers)
            return SetBlock(documents=block.documents, offsets=offsets, hashes=hashes)
        parts = workers.map(of_part, _cut(block, workers))
        most = min(block.size or 0, max(MOST_AT_ONCE, workers.room // BYTES_OF_HASH))
        offsets, hashes = _together(parts, most)
        return SetBlock(documents=block.documents, offsets=offsets, hashes=hashes)

    def join_memory(self, documents: int, size: int, threshold: Fraction, threads: int) -> int:
        """See `set_join`."""
        return set_join.memory_of(documents, size, self._least(threshold), threads)

    def _least(self, threshold: Fraction) -> Least:
        return Least(share=threshold, of_smaller=self.of_smaller)

    def _ratio(self, threshold: Fraction | None) -> tuple[int, int, bool]:
        return self._least(threshold or Fraction(0)).told

    def index(self, documents: Documents, contents: pa.Array, threshold: Fraction | None) -> Index:
        """An inverted index of the members that the fewest others share."""
        offsets, hashes = self.sets(contents)
        sought = _kernels.SoughtIndex(documents, offsets, hashes, *self._ratio(threshold))
        return _SetIndex(self, sought)


def _cut(block: Block, workers: Workers) -> list[tuple[int, int]]:
    """Runs of documents whose sets are made in one go."""
    runs = max(4 * workers.threads, (block.size or 0) // MADE_AT_ONCE)
    return workers.split(len(block.documents), -(-runs // workers.threads))


def _together(parts: Iterable[Sets], expected: int = 0) -> Sets:
    """All sets as one. Memory for so many hashes is asked for, and only as much of it touched as
    there are; beyond that it grows in place, for parts that are held and then joined take twice.
    """
    sizes = [np.zeros(1, np.int64)]
    hashes, end = np.empty(expected, np.uint64), 0
    for offsets, more in parts:
        sizes.append(np.diff(offsets))
        start, end = end, end + len(more)
        if end > len(hashes):
            hashes.resize(end, refcheck=False)
        hashes[start:end] = more
    return np.cumsum(np.concatenate(sizes)), hashes[:end]


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
