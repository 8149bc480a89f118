"""One machine, all its cores: stages run in threads, for the kernels release the lock."""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.engines.base import Progress, Reading
from nearly.engines.corpus import LocalCorpus, different
from nearly.engines.memory import Budget
from nearly.methods import choose_method, most_text_to_join
from nearly.settings import Settings
from nearly.stages.candidates import candidates, unique
from nearly.stages.join import Block, Workers, gather, join, memory_of
from nearly.stages.pairs import Documents, Packed, Pairs, join_pairs, split_pairs
from nearly.stages.sign import measure, sign
from nearly.stages.verify import ShingleSets, shingle_sets, similarities
from nearly.tuning import Banding

__all__ = ["LocalEngine"]

Given = TypeVar("Given")
Made = TypeVar("Made")

MOST_PENDING = 2_000_000  # candidates that wait to be merged with those of other bands
BLOCK_TEXT = 2**19  # bytes of text in a block; its shingle sets are eight times as large
LEAST_ROOM = 2**24  # bytes that a join may take, however small the budget is


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
        self.verified = 0
        self._folder = folder
        self.progress = progress
        self._budget = Budget(memory)
        self._pool = ThreadPoolExecutor(self.threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def load(
        self, source: Reading, settings: Settings, banding: Banding, *, clusters_only: bool
    ) -> LocalCorpus:
        """Documents as they come, signed while the next ones are read."""
        corpus = LocalCorpus(source.id_type, banding, self._budget, self._folder)
        self.progress.stage("read and sign", None)
        coming = self._hold(corpus, source)
        self._decide(corpus, coming, settings, clusters_only=clusters_only)

        def sign_or_measure(batch: pa.RecordBatch) -> pa.RecordBatch:
            if corpus.choice.method == "exact":
                return measure(batch, corpus.settings)
            return sign(batch, corpus.settings, banding)

        batches = itertools.chain(corpus.chunks(), coming)
        for signed in self._map(sign_or_measure, batches):
            corpus.add_signed(signed)
            self.progress.advance()
            self._budget.check()
        corpus.finish()
        return corpus

    def _decide(
        self,
        corpus: LocalCorpus,
        coming: Iterator[pa.RecordBatch],
        settings: Settings,
        *,
        clusters_only: bool,
    ) -> None:
        """Read on until k and the method can be decided: to the end, or to enough for hashing."""
        most = 0 if settings.method != "auto" else most_text_to_join(settings)
        text = 0
        while text <= most or settings.text.k == "auto":
            batch = next(coming, None)
            if batch is None:
                break
            offsets, _ = spans(batch.column("text"))
            text += int(offsets[-1] - offsets[0])
        corpus.settings = corpus.decide_k(settings)
        corpus.choice = choose_method(settings, len(corpus), text, clusters_only=clusters_only)

    def _hold(self, corpus: LocalCorpus, source: Reading) -> Iterator[pa.RecordBatch]:
        for batch in source.batches:
            corpus.add(batch, check_ids=not source.ids_are_unique)
            self._budget.check()
            yield batch

    def candidates(self, corpus: LocalCorpus, banding: Banding, *, hubs: int) -> Packed:
        """Band by band; a pair that shares several buckets is kept once."""
        self.progress.stage("candidates", banding.bands)

        def of_band(band: int) -> tuple[Packed, int]:
            return self._band_candidates(corpus, band, banding, hubs)

        found: list[Packed] = []
        pending = 0
        width = None if corpus.is_in_memory else 1
        for pairs, compared in self._map(of_band, range(banding.bands), width):
            self.compared += compared
            found.append(pairs)
            pending += len(pairs)
            if pending > MOST_PENDING:
                found, pending = [self._unique(found)], 0
            self.progress.advance()
        return self._unique(found)

    def _unique(self, found: list[Packed]) -> Packed:
        """Each pair once, in order: every thread takes a range of pairs."""
        pairs = np.concatenate(found)
        marks = np.sort(pairs[:: len(pairs) // 1_000 + 1])
        places = [len(marks) * i // self.threads for i in range(1, self.threads)]
        cuts = marks[places].tolist() if len(marks) else []
        ranges = itertools.pairwise([0, *cuts, 2**64 - 1])
        return np.concatenate(list(self._map(lambda part: unique(pairs, *part), ranges)))

    def _band_candidates(
        self,
        corpus: LocalCorpus,
        band: int,
        banding: Banding,
        hubs: int,
    ) -> tuple[Packed, int]:
        documents = corpus.representatives
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

    def join(self, corpus: LocalCorpus, threshold: Fraction) -> Pairs:
        """All pairs that reach the threshold, by the exact join, in blocks that fit in memory."""
        self.progress.stage("join", None)
        documents = corpus.representatives
        documents = documents[np.argsort(corpus.sizes[documents], kind="stable")]
        shingles = int(corpus.sizes[documents].sum(dtype=np.int64))
        needed = memory_of(len(documents), shingles, threshold, self.threads)
        room = max(self._budget.limit, LEAST_ROOM)
        count = 1 if needed <= room else 4 * needed // room
        ends = np.cumsum(corpus.sizes[documents], dtype=np.int64) * count // (shingles + 1)
        blocks = np.split(documents, np.flatnonzero(np.diff(ends)) + 1)
        loads = [partial(self._load_block, corpus, np.sort(block)) for block in blocks]
        # Blocks are asked for more than once; where all fits in one, it is made once.
        kept = [cache(load) for load in loads] if len(loads) == 1 else loads
        parts = []
        for part in join(kept, threshold, Workers(self._map, self.threads)):
            self.compared += part.met
            self.verified += part.verified
            self.progress.advance()
            parts.append(part)
        return gather(parts)

    def _load_block(self, corpus: LocalCorpus, documents: Documents) -> Block:
        size = max(1, -(-len(documents) // (4 * self.threads)))
        slices = [documents[start : start + size] for start in range(0, len(documents), size)]

        def of_slice(part: Documents) -> ShingleSets:
            return shingle_sets(corpus.text_store.take(part), corpus.settings, in_order=True)

        parts = list(self._map(of_slice, slices))
        sizes = [np.diff(offsets) for offsets, _ in parts]
        return Block(
            documents=documents,
            offsets=np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes])),
            hashes=np.concatenate([np.empty(0, np.uint64), *(hashes for _, hashes in parts)]),
        )

    def verify(self, corpus: LocalCorpus, candidates: Packed, threshold: Fraction) -> Pairs:
        """Block by block, so that no more sets are held than fit."""
        self.progress.stage("verify", len(candidates))
        first, second = split_pairs(candidates)
        self.verified += len(candidates)
        similarity = np.empty(len(candidates))
        blocks = self._blocks(corpus, first, second)

        def of_block(block: slice) -> npt.NDArray[np.float64]:
            return _verify(corpus, first[block], second[block], threshold)

        for block, found in zip(blocks, self._map(of_block, blocks), strict=True):
            similarity[block] = found
            self.progress.advance(len(found))
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
    documents, (a, b) = different(first, second)
    sets = shingle_sets(corpus.text_store.take(documents), corpus.settings)
    return similarities(sets, a, b, threshold)
