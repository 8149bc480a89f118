"""One machine, all its cores: stages run in threads, for the kernels release the lock."""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.engines.base import Progress, Reading
from nearly.engines.corpus import LocalCorpus
from nearly.engines.memory import Budget
from nearly.settings import Settings
from nearly.stages.candidates import candidates, unique
from nearly.stages.pairs import Documents, Packed, Pairs, join_pairs, split_pairs
from nearly.stages.sign import sign
from nearly.stages.verify import shingle_sets, similarities
from nearly.tuning import Banding

__all__ = ["LocalEngine"]

Given = TypeVar("Given")
Made = TypeVar("Made")

MOST_PENDING = 2_000_000  # candidates that wait to be merged with those of other bands
BLOCK_TEXT = (
    2**19
)  # bytes of text in a block: its shingle sets, eight times as large, stay in cache


class LocalEngine:
    """Runs a pipeline on this machine; a context manager that ends its threads."""

    def __init__(
        self,
        *,
        folder: Path,
        progress: Progress,
        threads: int | None = None,
        memory: int | None = None,
    ):
        self.threads = threads or len(os.sched_getaffinity(0))
        self.compared = 0
        self._folder = folder
        self._progress = progress
        self._budget = Budget(memory)
        self._pool = ThreadPoolExecutor(self.threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def load(self, source: Reading, settings: Settings, banding: Banding) -> LocalCorpus:
        """Documents as they come, signed while the next ones are read."""
        corpus = LocalCorpus(source.id_type, banding, self._budget, self._folder)
        self._progress.stage("read and sign", None)
        held = self._hold(corpus, source)
        if settings.text.k == "auto":
            total = sum(1 for _ in held)
            held = iter(corpus.chunks())
            self._progress.stage("sign", total)
        corpus.settings = settings = corpus.decide_k(settings)
        for signed in self._map(lambda batch: sign(batch, settings, banding), held):
            corpus.add_signed(signed)
            self._progress.advance()
            self._budget.check()
        corpus.finish()
        return corpus

    def _hold(self, corpus: LocalCorpus, source: Reading) -> Iterator[pa.RecordBatch]:
        for batch in source.batches:
            corpus.add(batch, check_ids=not source.ids_are_unique)
            self._budget.check()
            yield batch

    def candidates(self, corpus: LocalCorpus, banding: Banding, *, hubs: int) -> Packed:
        """Band by band; a pair that shares several buckets is kept once."""
        self._progress.stage("candidates", banding.bands)
        documents = corpus.representatives

        def of_band(band: int) -> tuple[Packed, int]:
            return self._band_candidates(corpus, documents, band, banding, hubs)

        found: list[Packed] = []
        pending = 0
        width = self.threads if corpus.is_in_memory else 1
        for pairs, compared in self._map(of_band, range(banding.bands), width):
            self.compared += compared
            found.append(pairs)
            pending += len(pairs)
            if pending > MOST_PENDING:
                found, pending = [unique(found)], 0
            self._progress.advance()
        return unique(found)

    def _band_candidates(
        self,
        corpus: LocalCorpus,
        documents: Documents,
        band: int,
        banding: Banding,
        hubs: int,
    ) -> tuple[Packed, int]:
        keys = corpus.keys.column(band)[documents]
        if corpus.is_in_memory:
            return candidates(keys, documents, corpus.sketches.all(), banding, hubs=hubs)
        # Only documents that share a bucket are worth a read; there they have new numbers.
        crowded = _kernels.shared_keys(keys)
        keys, documents = keys[crowded], documents[crowded]
        numbers = np.arange(len(documents), dtype=np.uint32)
        sketches = corpus.sketches.take(documents)
        pairs, compared = candidates(keys, numbers, sketches, banding, hubs=hubs)
        first, second = split_pairs(pairs)
        return join_pairs(documents[first], documents[second]), compared

    def verify(self, corpus: LocalCorpus, candidates: Packed, threshold: Fraction) -> Pairs:
        """Block by block, so that no more sets are held than fit."""
        self._progress.stage("verify", len(candidates))
        first, second = split_pairs(candidates)
        similarity = np.empty(len(candidates))
        blocks = self._blocks(corpus, first, second)

        def of_block(block: slice) -> npt.NDArray[np.float64]:
            return _verify(corpus, first[block], second[block], threshold)

        for block, found in zip(blocks, self._map(of_block, blocks), strict=True):
            similarity[block] = found
            self._progress.advance(len(found))
        kept = similarity >= 0
        return Pairs(first=first[kept], second=second[kept], similarity=similarity[kept])

    def _blocks(self, corpus: LocalCorpus, first: Documents, second: Documents) -> list[slice]:
        """Runs of pairs whose documents have so much text that their sets can be held."""
        ends = _kernels.cut_blocks(first, second, corpus.lengths(), BLOCK_TEXT)
        return [slice(start, stop) for start, stop in itertools.pairwise([0, *ends.tolist()])]

    def _map(
        self, function: Callable[[Given], Made], items: Iterable[Given], width: int | None = None
    ) -> Iterator[Made]:
        """In order, some items ahead: enough to keep all threads busy, not all in memory."""
        ahead: deque[Future[Made]] = deque()
        for item in items:
            ahead.append(self._pool.submit(function, item))
            if len(ahead) >= (width or 2 * self.threads):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _verify(
    corpus: LocalCorpus, first: Documents, second: Documents, threshold: Fraction
) -> npt.NDArray[np.float64]:
    """Similarities of a block of pairs; each document's set is made once."""
    lowest = int(first.min())
    is_needed = np.zeros(int(second.max()) - lowest + 1, bool)
    is_needed[first - lowest] = True
    is_needed[second - lowest] = True
    documents = np.flatnonzero(is_needed)
    places = np.empty(len(is_needed), np.uint32)
    places[documents] = np.arange(len(documents), dtype=np.uint32)
    sets = shingle_sets(corpus.text_store.take(documents + lowest), corpus.settings)
    return similarities(sets, places[first - lowest], places[second - lowest], threshold)
