"""What a setting would compare: documents signed as a run would sign them, and buckets counted.

The expectation over all hash functions is not what one run meets: when strangers share a few
common shingles, they all meet, or none of them does, as the hash functions of the seed have it.
So the seed's own functions are asked.
"""

import math
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nearly.documents.corpus import Corpus
from nearly.measures.number import Documents
from nearly.progress import Progress
from nearly.stages.search import map_blocks
from nearly.tuning.banding import Banding

__all__ = ["Buckets", "band_keys", "crowding", "fill_buckets"]

Keys = npt.NDArray[np.uint32]


def band_keys(
    corpus: Corpus, documents: Documents, banding: Banding, *, threads: int, progress: Progress
) -> Keys:
    """The bucket of each of these documents in each band: one row per document."""

    def of_block(block: Documents) -> Keys:
        return corpus.measure.sign(corpus.texts(block), banding).keys

    return np.concatenate(list(map_blocks(of_block, corpus, documents, threads, progress)))


def crowding(keys: Keys) -> npt.NDArray[np.int64]:
    """How many others each document meets in all bands together."""
    met = np.zeros(len(keys), np.int64)
    for column in keys.T:
        _, bucket, sizes = np.unique(column, return_inverse=True, return_counts=True)
        met += sizes[bucket] - 1
    return met


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """The buckets of all bands, and the seconds that signing took."""

    documents: Documents
    orders: list[npt.NDArray[np.intp]]  # of each band: places of documents by key
    keys: list[npt.NDArray[np.uint32]]  # of each band: keys in that order
    seconds: float

    @cached_property
    def met(self) -> npt.NDArray[np.int64]:
        """How often each document meets another in a bucket, all bands together."""
        met = np.zeros(len(self.documents), np.int64)
        for order, keys in zip(self.orders, self.keys, strict=True):
            ends = np.append(np.flatnonzero(np.diff(keys)) + 1, len(keys))
            sizes = np.diff(ends, prepend=0)
            met[order] += np.repeat(sizes - 1, sizes)
        return met

    @property
    def meetings(self) -> int:
        """How often two documents meet in a bucket, all bands together."""
        return int(self.met.sum()) // 2

    def uncertainty(self, population: int) -> float:
        """The relative standard error of the meetings of a population, of which these were drawn.

        That of a U-statistic (Hoeffding, 1948), none where everyone was drawn.
        """
        drawn = len(self.documents)
        if self.meetings == 0 or drawn == population:
            return 0.0
        spread = float(self.met.std() / self.met.mean())
        return 2 * spread * math.sqrt((1 - drawn / population) / drawn)

    def others(self, places: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """How many others the documents in these places meet, each other one counted once."""
        counts = np.empty(len(places), np.int64)
        sought = [self._buckets_of(band, places) for band in range(len(self.keys))]
        for i, place in enumerate(places):
            has_met = np.zeros(len(self.documents), bool)
            for order, (starts, ends) in zip(self.orders, sought, strict=True):
                has_met[order[starts[i] : ends[i]]] = True
            has_met[place] = False
            counts[i] = np.count_nonzero(has_met)
        return counts

    def _buckets_of(
        self, band: int, places: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Where the buckets of these documents start and end in the order of a band."""
        keys = np.empty_like(self.keys[band])
        keys[self.orders[band]] = self.keys[band]
        sought = keys[places]
        ordered = self.keys[band]
        return np.searchsorted(ordered, sought), np.searchsorted(ordered, sought, "right")

    def candidates_a_meeting(self, draws: int, seed: int) -> tuple[float, float]:
        """The number of candidates by that of meetings, and its standard error.

        Documents are drawn by how often they meet others: what is left to estimate is how many
        of these are different ones, and that differs little.
        """
        if self.meetings == 0:
            return 1.0, 0.0
        chances = self.met / self.met.sum()
        places = np.random.default_rng(seed).choice(len(self.met), draws, p=chances)
        shares = self.others(places) / self.met[places]
        return float(shares.mean()), float(shares.std() / math.sqrt(draws))


def fill_buckets(
    corpus: Corpus, documents: Documents, banding: Banding, *, threads: int, progress: Progress
) -> Buckets:
    """Sign these documents and lay them in their buckets."""
    progress.stage(f"{banding.bands} x {banding.rows}", len(documents))
    start = time.perf_counter()
    keys = band_keys(corpus, documents, banding, threads=threads, progress=progress)
    seconds = time.perf_counter() - start
    orders = [np.argsort(column) for column in keys.T]
    ordered = [column[order] for column, order in zip(keys.T, orders, strict=True)]
    return Buckets(documents=documents, orders=orders, keys=ordered, seconds=seconds)
