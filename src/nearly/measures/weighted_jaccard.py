"""Jaccard similarity by weight: what two sets share, weighed, out of what they have together.

A member weighs the same wherever it stands: as a file or a mapping says, or by how rare it is among
the documents (idf), which are counted first. When hashed, the first member to arrive in a race
decides a position of a signature (`race.hpp`), so that two sets agree in it with a chance that is
their similarity. Weights are whole units, and a threshold is compared in whole numbers.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.errors import SettingsError
from nearly.measures import weighted_join
from nearly.measures.base import Index, Measure, Signed, Weighed
from nearly.measures.dropped import Hashes, digest
from nearly.measures.item_jaccard import ItemJaccard, lists_of
from nearly.measures.jaccard import Jaccard
from nearly.measures.normalisation import normalise
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness
from nearly.measures.set_measure import SetMeasure, Sets
from nearly.measures.tally import Tally
from nearly.measures.weight import Weights, by_rarity
from nearly.measures.weighted_join import WeightedBlock
from nearly.measures.work import ONE_THREAD, Workers
from nearly.settings import Settings
from nearly.tuning.banding import Banding

__all__ = ["WeightedItemJaccard", "WeightedJaccard"]


class Members(NamedTuple):
    """Weighted sets in order: those members that weigh anything."""

    offsets: npt.NDArray[np.int64]
    hashes: Hashes
    weights: npt.NDArray[np.uint32]


class _Weighted(SetMeasure):
    """What both share, whatever the sets are made of."""

    counts_all: ClassVar[bool] = True

    bag: bool
    weights: Weights | None

    @property
    def most_to_try(self) -> int:
        """What the join costs was not measured against hashing."""
        return 0

    @abstractmethod
    def lists(self, contents: pa.Array) -> Sets:
        """The members of each document in order; for a bag, as often as they occur."""

    @property
    def compared(self) -> str:
        """The sets, and where the weights come from."""
        return f"{super().compared} weighted by {self.weights.name if self.weights else 'idf'}"

    def weighted(self, contents: pa.Array) -> Members:
        """The members that weigh anything, in order."""
        weights = self._known
        offsets, hashes, own, unlisted = _kernels.weighted_lists(
            *self.lists(contents), weights.table, self.bag
        )
        weights.check_listed(unlisted)
        return Members(offsets, hashes, own)

    @property
    def _known(self) -> Weights:
        if self.weights is None:
            raise SettingsError("weights are counted over all documents before they are used")
        return self.weights

    def sets(self, contents: pa.Array, *, in_order: bool = False) -> Sets:  # noqa: ARG002
        """Without the weights."""
        return self.weighted(contents)[:2]

    def weigh(self, contents: pa.Array) -> Weighed:
        """The size of a document is that of its set."""
        return self._weighed(contents, self.weighted(contents))

    def _weighed(self, contents: pa.Array, members: Members) -> Weighed:
        sizes, digests = _kernels.weigh_sets(members.offsets, members.hashes)
        is_ignored = None
        if self.drops:
            offsets, _ = self.lists(contents)
            is_ignored = (sizes == 0) & (np.diff(offsets) > 0)
        return Weighed(sizes=sizes, digests=digests, is_ignored=is_ignored)

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """Keys of 32 bits per band, sketches of 2 bits per position."""
        members = self.weighted(contents)
        weighed = self._weighed(contents, members)
        keys, sketches = _kernels.sign_weighted(*members, self.seed, banding.bands, banding.rows)
        return Signed(
            sizes=weighed.sizes,
            digests=weighed.digests,
            is_ignored=weighed.is_ignored,
            keys=keys,
            sketches=sketches,
        )

    def compare(
        self, contents: pa.Array, first: Documents, second: Documents, threshold: Fraction | None
    ) -> Nearness:
        """Whole sets, in whole units."""
        found = _kernels.weighted_similarities(
            *self.weighted(contents), first, second, *_ratio(threshold)
        )
        found[found < 0] = 0.0 if threshold is None else np.nan
        return found

    #: Sets, which `SetMeasure` reads one after the other, do not say what their members weigh.
    compare_read = Measure.compare_read

    def join(
        self, blocks: Sequence[Callable[[], Block]], threshold: Fraction, workers: Workers
    ) -> Iterator[Joined]:
        """By rare members: see `weighted_join`."""
        loads = [partial(self._load_weighted, load, workers) for load in blocks]
        kept = [cache(load) for load in loads] if len(loads) == 1 else loads
        return weighted_join.join(kept, threshold, workers)

    def join_across(
        self, one: Block, other: Block, threshold: Fraction, workers: Workers = ONE_THREAD
    ) -> Iterator[Joined]:
        """By rare members, too."""
        mine, theirs = (self._weighted_block(block, workers) for block in (one, other))
        return weighted_join.join_across(mine, theirs, threshold, workers)

    def _load_weighted(self, load: Callable[[], Block], workers: Workers) -> WeightedBlock:
        return self._weighted_block(load(), workers)

    def _weighted_block(self, block: Block, workers: Workers) -> WeightedBlock:
        parts = workers.split(len(block.documents), 4)
        found = list(workers.map(lambda part: self.weighted(block.read(*part)), parts))
        sizes = [np.zeros(1, np.int64), *(np.diff(part.offsets) for part in found)]
        return WeightedBlock(
            documents=block.documents,
            offsets=np.cumsum(np.concatenate(sizes)),
            hashes=np.concatenate([part.hashes for part in found]),
            weights=np.concatenate([part.weights for part in found]),
        )

    def join_memory(self, documents: int, size: int, threshold: Fraction, threads: int) -> int:  # noqa: ARG002
        """See `weighted_join`."""
        return weighted_join.memory_of(documents, size, threads)

    def index(self, documents: Documents, contents: pa.Array, threshold: Fraction | None) -> Index:
        """An inverted index of all members."""
        sought = _kernels.WeightedSought(documents, *self.weighted(contents), *_ratio(threshold))
        return _WeightedIndex(self, sought)

    @property
    def is_counted(self) -> bool:
        """Whether the weights are known."""
        return self.weights is not None

    def tally(self, contents: pa.Array, tally: Tally) -> None:
        """Each document counts once, however often it has a member."""
        tally.add(replace(self, bag=False).lists(contents)[1])  # type: ignore[type-var]

    def counted(self, suspects: Hashes, occurrences: npt.NDArray[Any], documents: int) -> Self:
        """With weights by rarity."""
        return replace(self, weights=by_rarity(suspects, occurrences, documents))  # type: ignore[type-var]

    @property
    def drops(self) -> bool:
        """Whether something of documents counts for nothing."""
        return super().drops or (self.weights is not None and self.weights.has_zeros)

    def facts(self) -> dict[str, Any]:
        """Weights can be many: a digest stands for them."""
        plain = super().facts()
        if self.weights is not None:
            listed = digest(self.weights.hashes + self.weights.units)
            plain["weights"] = {"listed": listed, "other": self.weights.other}
        return plain


@dataclass(frozen=True, kw_only=True)
class WeightedJaccard(_Weighted, Jaccard):
    """Of texts, as sets or bags of shingles; without weights, they are those by rarity."""

    weights: Weights | None = None

    @classmethod
    def of(cls, settings: Settings, weights: Weights | None = None) -> Self:
        """As settings say, with the weights that were read."""
        return replace(super().of(settings), weights=weights)

    def lists(self, contents: pa.LargeStringArray) -> Sets:
        """See `_Weighted`."""
        if not self.bag:
            return Jaccard.sets(self, contents, in_order=True)
        return _kernels.shingle_lists(
            *spans(normalise(contents, self.text)),
            unit=self.text.unit,
            k=self.text.whole_k,
            seed=self.seed,
            dropped=self._dropped,
        )


@dataclass(frozen=True, kw_only=True)
class WeightedItemJaccard(_Weighted, ItemJaccard):
    """Of items as they are given; without weights, they are those by rarity."""

    weights: Weights | None = None

    @classmethod
    def of(cls, settings: Settings, weights: Weights | None = None) -> Self:
        """As settings say, with the weights that were read."""
        return replace(super().of(settings), weights=weights)

    def lists(self, contents: pa.LargeBinaryArray) -> Sets:
        """See `_Weighted`."""
        return lists_of(contents) if self.bag else ItemJaccard.sets(self, contents)


class _WeightedIndex:
    """See `Index`."""

    def __init__(self, measure: _Weighted, sought: _kernels.WeightedSought):
        self._measure, self._sought = measure, sought

    def search(
        self, documents: Documents, contents: pa.Array
    ) -> tuple[Documents, Documents, Nearness]:
        """See `Index`."""
        return self._sought.search(documents, *self._measure.weighted(contents))

    def count(self, documents: Documents, contents: pa.Array, bins: int) -> npt.NDArray[np.uint32]:
        """See `Index`; in whole numbers."""
        members = self._measure.weighted(contents)
        return self._sought.count_by_similarity(documents, *members, bins)


def _ratio(threshold: Fraction | None) -> tuple[int, int]:
    return (0, 1) if threshold is None else (threshold.numerator, threshold.denominator)
