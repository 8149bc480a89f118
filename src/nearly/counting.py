"""What a setting would compare: documents signed as a run would sign them, and buckets counted.

The expectation over all hash functions is not what one run meets: when strangers share a few
common shingles, they all meet, or none of them does, as the hash functions of the seed have it.
So the seed's own functions are asked.
"""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import matrix_of
from nearly.engines.base import Corpus, Progress
from nearly.searching import map_blocks
from nearly.stages.pairs import Documents
from nearly.stages.sign import sign
from nearly.tuning import Banding

__all__ = ["Buckets", "band_keys", "crowding", "fill_buckets"]

Keys = npt.NDArray[np.uint32]


def band_keys(
    corpus: Corpus, documents: Documents, banding: Banding, *, threads: int, progress: Progress
) -> Keys:
    """The bucket of each of these documents in each band: a row a document."""

    def of_block(block: Documents) -> Keys:
        batch = pa.record_batch([corpus.texts(block)], names=["text"])
        keys: Keys = matrix_of(sign(batch, corpus.settings, banding).column("keys"), np.uint32)
        return keys

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

    @property
    def meetings(self) -> int:
        """How often two documents share a bucket, all bands together."""
        total = 0
        for keys in self.keys:
            ends = np.flatnonzero(np.diff(keys, append=keys[-1:] + np.uint32(1)))
            sizes = np.diff(ends, prepend=-1)
            total += int((sizes * (sizes - 1) // 2).sum())
        return total

    def company(
        self, documents: Documents, keys: Keys
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How often each of these meets another in a bucket, and how many others it meets."""
        lows = [np.searchsorted(band, keys[:, i], "left") for i, band in enumerate(self.keys)]
        highs = [np.searchsorted(band, keys[:, i], "right") for i, band in enumerate(self.keys)]
        met = np.zeros((2, len(documents)), np.int64)
        for i, document in enumerate(documents):
            times = np.zeros(len(self.documents), np.uint16)
            for order, low, high in zip(self.orders, lows, highs, strict=True):
                times[order[low[i] : high[i]]] += 1
            times[self.documents == document] = 0
            met[:, i] = times.sum(), np.count_nonzero(times)
        return met[0], met[1]


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
