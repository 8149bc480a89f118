"""One machine, all its cores: stages run in threads, for the kernels release the lock."""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.documents.budget import Budget
from nearly.documents.corpus import Progress
from nearly.documents.local import LocalCorpus
from nearly.documents.number import Documents, different
from nearly.documents.readable import REPEATED, Readable, Skips, nothing_read
from nearly.settings import Settings
from nearly.stages import table
from nearly.stages.audit import Audit, audit
from nearly.stages.candidate import candidates, unique
from nearly.stages.cluster import Clusters, cluster
from nearly.stages.copy import link_copies, spell_out_copies
from nearly.stages.join import Block, Workers, gather, join, memory_of
from nearly.stages.pair import Packed, Pairs, join_pairs, split_pairs
from nearly.stages.signature import measure, sign, sketch_words
from nearly.stages.survivor import Keep, Removed, by_best_copy, rank, survivors
from nearly.stages.verification import ShingleSets, cut, shingle_sets, verify
from nearly.tuning.banding import Banding
from nearly.tuning.method import choose_method, most_text_to_join

__all__ = ["LocalEngine"]

Given = TypeVar("Given")
Made = TypeVar("Made")

MOST_PENDING = 2_000_000  # candidates that wait to be merged with those of other bands
LEAST_ROOM = 2**24  # bytes that a join may take, however small the budget is


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """Clusters, and the order in which their documents should rather survive."""

    clusters: Clusters
    order: Documents

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return self.clusters.count


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
        self,
        source: Readable,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> LocalCorpus:
        """Documents as they come, signed while the next ones are read."""
        corpus = LocalCorpus(source, sketch_words(banding.permutations), self._budget, self._folder)
        self.progress.stage("read and sign", None)
        coming = self._hold(corpus, source.documents(skipped, keep.column if keep else None))
        self._decide(corpus, coming, settings, clusters_only=keep is not None)
        self._sign(corpus, coming, banding)
        corpus.finish()
        for name in corpus.ids(corpus.repeated):
            skipped.add(f"id {name}", REPEATED)
        if len(corpus) == 0 and len(skipped):
            raise nothing_read(source, skipped)
        return corpus

    def _sign(
        self, corpus: LocalCorpus, coming: Iterator[pa.RecordBatch], banding: Banding
    ) -> None:
        """What was held while deciding, then what comes; the exact method needs sizes only."""

        def sign_or_measure(batch: pa.RecordBatch) -> pa.RecordBatch:
            if corpus.choice.method == "exact":
                return measure(batch, corpus.settings)
            return sign(batch, corpus.settings, banding)

        batches = itertools.chain(corpus.chunks(), coming)
        for signed in self._map(sign_or_measure, batches):
            corpus.add_signed(signed)
            self.progress.advance()
            self._budget.check()

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

    def _hold(
        self, corpus: LocalCorpus, documents: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        for batch in documents:
            corpus.add(batch, check_ids=not corpus.source.ids_are_unique)
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
        pairs = self._unique(found)
        self.verified += len(pairs)
        return pairs

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
        similarity = np.empty(len(candidates))
        blocks = cut(first, second, corpus.lengths())

        def of_block(block: slice) -> npt.NDArray[np.float64]:
            documents, (a, b) = different(first[block], second[block])
            return verify(corpus.text_store.take(documents), a, b, corpus.settings, threshold)

        for block, found in zip(blocks, self._map(of_block, blocks), strict=True):
            similarity[block] = found
            self.progress.advance(len(found))
        kept = similarity >= 0
        return Pairs(first=first[kept], second=second[kept], similarity=similarity[kept])

    def give_back_copies(self, corpus: LocalCorpus, near: Pairs) -> Pairs:
        """Linked to their representatives, or spelt out as all pairs."""
        give_back = spell_out_copies if corpus.settings.all_pairs else link_copies
        return give_back(near, corpus.copies, corpus.originals)

    def cluster(self, corpus: LocalCorpus, near: Pairs, keep: Keep | None) -> Ranked:
        """Components or leaders; these lead in the order of the source, or of the rule."""
        if keep is None:
            order = leading = np.arange(len(corpus), dtype=np.uint32)
        else:
            order = rank(corpus, near, keep)
            leading = by_best_copy(order, corpus)
        method = corpus.settings.cluster
        clusters = cluster(near, corpus.copies, corpus.originals, leading, method)
        return Ranked(clusters=clusters, order=order)

    def remove(
        self,
        corpus: LocalCorpus,
        near: Pairs,  # noqa: ARG002 (the order was made of it)
        clusters: Ranked,
        keep: Keep,  # noqa: ARG002 (and by it)
    ) -> Removed:
        """The best ones of the order that came with the clusters stay."""
        return survivors(corpus, clusters.clusters, clusters.order, partial(self.verify, corpus))

    def audit(self, corpus: LocalCorpus, near: Pairs, documents: int) -> Audit:
        """Search so many documents exactly."""
        seed, threads, progress = corpus.settings.seed, self.threads, self.progress
        return audit(corpus, near, documents, seed=seed, threads=threads, progress=progress)

    def pair_table(self, corpus: LocalCorpus, pairs: Pairs) -> pa.Table:
        """See `tables`."""
        return table.pair_table(corpus, pairs, corpus.source.id_type)

    def cluster_table(self, corpus: LocalCorpus, near: Pairs, clusters: Ranked) -> pa.Table:
        """See `tables`."""
        return table.cluster_table(corpus, clusters.clusters, near, corpus.source.id_type)

    def removed_table(self, corpus: LocalCorpus, removed: Removed) -> pa.Table:
        """See `tables`."""
        return table.removed_table(corpus, removed, corpus.source.id_type)

    def top(self, corpus: LocalCorpus, near: Pairs, pairs: Pairs) -> Callable[[], pa.Table]:
        """Read at once: a result must not hold on to the corpus."""
        top = table.top_table(corpus, near if len(near) else pairs, corpus.source.id_type)
        return lambda: top

    def kept(self, corpus: LocalCorpus, removed: Removed) -> Callable[[], Iterator[pa.RecordBatch]]:
        """Holds on to the source and to row numbers, not to the corpus."""
        source, rows = corpus.source, corpus.rows(removed.documents)
        return lambda: table.without_rows(source.rows(), rows)

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
