"""One machine, all its cores: stages run in threads, for the kernels release the lock."""

import itertools
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.documents.budget import Budget
from nearly.documents.local import LocalCorpus, Reading
from nearly.documents.lookup import SourceTexts, TextReader
from nearly.documents.pair_store import CandidateStore, PairStore
from nearly.documents.readable import Readable, Skips, nothing_read
from nearly.documents.table_store import TableStore
from nearly.engines.base import Cleaned, Found
from nearly.mapping import let_go
from nearly.measures.base import Measure, Suspects, Weighed
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Nearness, Packed, Pairs, join_pairs, split_pairs
from nearly.measures.work import Workers
from nearly.progress import Progress, Stopwatch
from nearly.settings import Settings
from nearly.stages import table
from nearly.stages.around import Around, near_misses
from nearly.stages.audit import Audit, audit, draw
from nearly.stages.candidate import EVERYONE, Span, candidates, crowd, unique
from nearly.stages.cluster import cluster
from nearly.stages.copy import parts_with_copies
from nearly.stages.rehearsal import rehearse
from nearly.stages.survivor import Keep, by_best_copy, rank, survivors
from nearly.stages.verification import cut, verify_block
from nearly.tuning.banding import Banding
from nearly.tuning.method import (
    Choice,
    choose_method,
    count_rehearsed,
    is_crowded,
    reconsider,
)

__all__ = ["LocalEngine", "LocalPairs"]

Given = TypeVar("Given")
Made = TypeVar("Made")

MOST_PENDING = 2_000_000  # candidates that wait to be merged with those of other bands
#: Documents compared at once are the first of at most this many meetings, in all or per document.
MOST_MEETINGS, MEETINGS_PER_DOCUMENT = 2**24, 16
LEAST_ROOM = 2**24  # bytes that a step may take, however small the budget is
BYTES_OF_CANDIDATE = 8  # all meetings may become candidates
BYTES_TO_COMPARE = 64  # of a pair: its documents, its place in blocks, how near they are


@dataclass(frozen=True, kw_only=True)
class LocalPairs:
    """Verified pairs, and what it took to find them."""

    pairs: Pairs
    meetings: int
    verified: int
    choice: Choice
    largest_bucket: int | None

    def __len__(self) -> int:
        return len(self.pairs)


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
        self.progress = Stopwatch(progress)
        self._folder = folder
        self._budget = Budget(memory)
        self._pool = ThreadPoolExecutor(self.threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def _room(self) -> int:
        """Bytes that a step may take."""
        return max(self._budget.limit, LEAST_ROOM)

    def load(
        self,
        source: Readable,
        measure: Measure,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> LocalCorpus:
        """Documents as they come, signed while the next ones are read."""
        self.progress.stage("read and sign", None)
        reading = Reading(source, skipped, self._budget, self._folder)
        coming = self._hold(reading, source.documents(skipped, keep.column if keep else None))
        text, is_all = _read_head(coming, _needed_to_decide(measure, settings))
        choice = choose_method(
            settings, len(reading), text, measure.most_to_join, clusters_only=keep is not None
        )
        guessed = measure.settled(_mean_extent(measure, reading.chunks()))
        if not guessed.is_counted:
            guessed = self._count(guessed, reading)
        batches = itertools.chain(reading.chunks(), coming)
        mean_extent = self._weigh(reading, batches, measure, guessed, choice, banding)
        decided = guessed if is_all else measure.settled(mean_extent)
        if decided != guessed:
            reading.forget_weighed()
            self._weigh(reading, reading.chunks(), decided, decided, choice, banding)
        corpus = reading.finish(decided, settings, choice)
        if len(corpus) == 0 and len(skipped):
            raise nothing_read(source, skipped)
        return corpus

    def _count(self, measure: Measure, reading: Reading) -> Measure:
        """What is in too many documents: every thread has suspects, which are counted then."""
        self.progress.stage("count shingles", None)
        lists = [measure.suspects() for _ in range(self.threads)]
        idle: SimpleQueue[Suspects] = SimpleQueue()
        for mine in lists:
            idle.put(mine)

        def suspect(texts: pa.LargeStringArray) -> None:
            mine = idle.get()
            try:
                mine.add(texts)
            finally:  # or another thread would wait for it for ever
                idle.put(mine)

        for _ in self._map(suspect, reading.chunks()):
            self.progress.advance()
        suspects = np.unique(np.concatenate([mine.found() for mine in lists]))
        occurrences = np.zeros(len(suspects), np.int64)
        for more in self._map(lambda t: measure.occurrences(t, suspects), reading.chunks()):
            occurrences += more
            self.progress.advance()
        self.progress.stage("sign", None)
        return measure.counted(suspects, occurrences, len(reading))

    def _hold(
        self, reading: Reading, documents: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.LargeStringArray]:
        for batch in documents:
            reading.add(batch)
            self._budget.check()
            yield batch.column("text")

    def _weigh(
        self,
        reading: Reading,
        batches: Iterable[pa.LargeStringArray],
        measure: Measure,
        guessed: Measure,
        choice: Choice,
        banding: Banding,
    ) -> float:
        """Sign documents, or only weigh them for an exact run.

        Gives the mean extent of all of them, by which a measure that is not settled will be.
        """

        def of_batch(texts: pa.LargeStringArray) -> tuple[Weighed, int]:
            is_exact = choice.method == "exact"
            weighed = guessed.weigh(texts) if is_exact else guessed.sign(texts, banding)
            return weighed, 0 if measure.is_settled else measure.extent(texts)

        extent = 0
        for weighed, more in self._map(of_batch, batches):
            reading.add_weighed(weighed)
            extent += more
            self.progress.advance()
            self._budget.check()
        return extent / max(1, len(reading))

    def near_pairs(self, corpus: LocalCorpus, banding: Banding, *, hubs: int) -> LocalPairs:
        """Joined in blocks that fit in memory, or met in buckets band by band and verified."""
        if corpus.choice.method == "exact":
            return self._join(corpus, corpus.choice)
        followers, largest = self._crowd(corpus, banding, hubs)
        choice = self._reconsidered(corpus, banding, int(followers.sum()), hubs)
        if choice.method == "exact":
            return replace(self._join(corpus, choice), largest_bucket=largest)
        at_once = max(MOST_MEETINGS, MEETINGS_PER_DOCUMENT * len(followers))
        at_once = min(at_once, self._room // BYTES_OF_CANDIDATE)
        spans = _spans(corpus.representatives, followers, at_once)
        return replace(self._hash(corpus, banding, hubs, spans), largest_bucket=largest)

    def _crowd(
        self, corpus: LocalCorpus, banding: Banding, hubs: int
    ) -> tuple[npt.NDArray[np.int64], int]:
        """How many meetings each representative is the first of, and the size of the largest
        bucket."""
        self.progress.stage("buckets", banding.bands)
        documents = corpus.representatives

        def of_band(band: int) -> tuple[npt.NDArray[np.uint32], int]:
            return crowd(corpus.keys.column(band)[documents], hubs=hubs)

        followers, largest = np.zeros(len(documents), np.int64), 0
        for of_each, most in self._map(of_band, range(banding.bands), _width(corpus)):
            followers += of_each
            largest = max(largest, most)
            self.progress.advance()
        return followers, largest

    def _reconsidered(
        self, corpus: LocalCorpus, banding: Banding, meetings: int, hubs: int
    ) -> Choice:
        """The method again, now that meetings are counted; hubs keep them few."""
        count, choice = corpus.counts.different, corpus.choice
        if hubs or not is_crowded(choice, corpus.settings, count, meetings):
            return choice
        text = int(corpus.lengths().sum())
        drawn = draw(count, count_rehearsed(count, text), corpus.settings.seed)
        threshold = corpus.measure.threshold(corpus.settings)
        texts = corpus.texts(corpus.representatives[drawn])
        rehearsal = rehearse(corpus.measure, texts, banding, threshold)
        return reconsider(choice, count, text, meetings, rehearsal)

    def _hash(
        self, corpus: LocalCorpus, banding: Banding, hubs: int, spans: Sequence[Span]
    ) -> LocalPairs:
        """Some documents after the others, so that candidates do not pile up."""
        threshold = corpus.measure.threshold(corpus.settings)
        store = PairStore(self._budget, self._folder)
        meetings = verified = 0
        for firsts in spans:
            met, compared = self.candidates(corpus, banding, hubs=hubs, firsts=firsts)
            meetings += compared
            verified += len(met)
            for packed, nearness in self._compared(corpus, met, threshold):
                near = ~np.isnan(nearness)
                store.add(packed[near], nearness[near])
                self._budget.check()
        return LocalPairs(
            pairs=store.pairs(),
            meetings=meetings,
            verified=verified,
            choice=corpus.choice,
            largest_bucket=None,
        )

    def candidates(
        self, corpus: LocalCorpus, banding: Banding, *, hubs: int, firsts: Span = EVERYONE
    ) -> tuple[Packed, int]:
        """Pairs that share a bucket and agree enough, each once; and how many met at all."""
        self.progress.stage("candidates", banding.bands)

        def of_band(band: int) -> tuple[Packed, int]:
            return _band_candidates(corpus, band, banding, hubs, firsts)

        store = CandidateStore(self._unique, self._budget, self._folder)
        meetings = 0
        for pairs, met in self._map(of_band, range(banding.bands), _width(corpus)):
            meetings += met
            store.add(pairs, MOST_PENDING)
            self._budget.check()
            self.progress.advance()
        return store.packed(), meetings

    def _unique(self, found: list[Packed]) -> Packed:
        """Each pair once, in order: every thread takes a range of pairs."""
        pairs = np.concatenate([np.empty(0, np.uint64), *found])
        marks = np.sort(pairs[:: len(pairs) // 1_000 + 1])
        places = [len(marks) * i // self.threads for i in range(1, self.threads)]
        cuts = marks[places].tolist() if len(marks) else []
        ranges = itertools.pairwise([0, *cuts, 2**64 - 1])
        return np.concatenate(list(self._map(lambda part: unique(pairs, *part), ranges)))

    def _join(self, corpus: LocalCorpus, choice: Choice) -> LocalPairs:
        self.progress.stage("join", None)
        threshold = corpus.measure.threshold(corpus.settings)
        blocks = [partial(_load_block, corpus, part) for part in self._cut(corpus, threshold)]
        store = PairStore(self._budget, self._folder)
        meetings = verified = 0
        for part in corpus.measure.join(blocks, threshold, Workers(self._map, self.threads)):
            self.progress.advance()
            store.add(part.pairs, part.nearness)
            self._budget.check()
            meetings += part.meetings
            verified += part.verified
        return LocalPairs(
            pairs=store.pairs(),
            meetings=meetings,
            verified=verified,
            choice=choice,
            largest_bucket=None,
        )

    def _cut(self, corpus: LocalCorpus, threshold: Fraction) -> list[Documents]:
        """Documents of like size in blocks, as few as can be joined in memory."""
        documents = corpus.representatives
        documents = documents[np.argsort(corpus.sizes[documents], kind="stable")]
        sizes = np.cumsum(corpus.sizes[documents], dtype=np.int64)
        total = int(sizes[-1]) if len(sizes) else 0
        needed = corpus.measure.join_memory(len(documents), total, threshold, self.threads)
        count = 1 if needed <= self._room else 4 * needed // self._room
        return np.split(documents, np.flatnonzero(np.diff(sizes * count // (total + 1))) + 1)

    def _compare(self, corpus: LocalCorpus, packed: Packed) -> Nearness:
        """How near all of these are, whatever the threshold."""
        parts = [nearness for _, nearness in self._compared(corpus, packed, None)]
        return np.concatenate([np.empty(0), *parts])

    def _compared(
        self, corpus: LocalCorpus, packed: Packed, threshold: Fraction | None
    ) -> Iterator[tuple[Packed, Nearness]]:
        """Some pairs at a time, and these block by block, so that no more is held than fits.

        NaN below the threshold.
        """
        self.progress.stage("verify", len(packed))
        lengths = corpus.lengths()
        at_once = max(1, self._budget.limit // BYTES_TO_COMPARE)
        for start in range(0, len(packed), at_once):
            part = packed[start : start + at_once]
            first, second = split_pairs(part)
            nearness = np.empty(len(part))
            blocks = cut(first, second, lengths)
            ends = ((first[block], second[block]) for block in blocks)
            verify = partial(self._verify, corpus, threshold)
            for block, found in zip(blocks, self._map(verify, ends), strict=True):
                nearness[block] = found
                self.progress.advance(len(found))
            yield part, nearness
            let_go()

    def _verify(
        self, corpus: LocalCorpus, threshold: Fraction | None, block: tuple[Documents, Documents]
    ) -> Nearness:
        return verify_block(corpus.measure, corpus.text_store.take, *block, threshold)

    def found(self, corpus: LocalCorpus, near: LocalPairs, *, top: int) -> Found:
        """Copies are linked to their representatives, or listed as all pairs."""
        self.progress.stage("cluster", None)
        pairs = self._with_copies(corpus, near.pairs)
        order = np.arange(len(corpus), dtype=np.uint32)
        clusters = cluster(
            near.pairs, corpus.copies, corpus.originals, order, corpus.settings.cluster
        )
        self.progress.stage("tables", None)
        id_type = corpus.source.id_type
        nearest = table.best_pairs(near.pairs if len(near) else pairs, top)
        return Found(
            pairs=self._table(table.pair_tables(corpus, pairs, corpus.measure, id_type)),
            clusters=self._table(
                table.cluster_tables(corpus, clusters, near.pairs, corpus.measure, id_type)
            ),
            pair_count=len(pairs),
            cluster_count=clusters.count,
            read_top=table.read_shown(
                corpus, nearest, corpus.measure, id_type, self.text_reader(corpus)
            ),
        )

    def _with_copies(self, corpus: LocalCorpus, near: Pairs) -> Pairs:
        if len(corpus.copies) == 0:
            return near
        store = PairStore(self._budget, self._folder)
        copies, originals, same = corpus.copies, corpus.originals, corpus.measure.same
        all_pairs = corpus.settings.all_pairs
        for part in parts_with_copies(near, copies, originals, same, all_pairs=all_pairs):
            store.add(*part)
            self._budget.check()
        return store.pairs()

    def _table(self, parts: Iterator[pa.Table]) -> pa.Table:
        store = TableStore(self._budget, self._folder)
        for part in parts:
            store.add(part)
            self._budget.check()
        return store.table()

    def cleaned(self, corpus: LocalCorpus, near: LocalPairs, keep: Keep) -> Cleaned:
        """Leaders lead, and survivors stay, in the order of the rule."""
        self.progress.stage("cluster", None)
        order = rank(corpus, near.pairs, keep)
        leading = by_best_copy(order, corpus)
        method = corpus.settings.cluster
        clusters = cluster(near.pairs, corpus.copies, corpus.originals, leading, method)
        compare = partial(self._compare, corpus)
        removed = survivors(corpus, clusters, order, compare, corpus.measure.same)
        self.progress.stage("tables", None)
        source, rows = corpus.source, corpus.rows(removed.documents)
        id_type = source.id_type
        return Cleaned(
            removed=self._table(table.removed_tables(corpus, removed, corpus.measure, id_type)),
            clusters=self._table(
                table.cluster_tables(corpus, clusters, near.pairs, corpus.measure, id_type)
            ),
            removed_count=len(removed),
            below=removed.below(corpus.measure.threshold(corpus.settings)),
            cluster_count=clusters.count,
            # Holds on to the source and to row numbers, not to the corpus.
            read_kept=source.kept(rows),
        )

    def audit(self, corpus: LocalCorpus, near: LocalPairs, documents: int) -> Audit:
        """Search some documents exactly."""
        self.progress.stage("audit", None)
        seed, threads, progress = corpus.settings.seed, self.threads, self.progress
        return audit(corpus, near.pairs, documents, seed=seed, threads=threads, progress=progress)

    def around(self, corpus: LocalCorpus, near: LocalPairs, documents: int, *, top: int) -> Around:
        """Search some documents exactly for what they nearly have in common with others."""
        self.progress.stage("around", None)
        everyone = corpus.representatives
        sought = everyone[draw(len(everyone), documents, corpus.settings.seed)]
        below = near_misses(corpus, sought, top, threads=self.threads, progress=self.progress)
        above = table.best_pairs(near.pairs, top, least=True)
        show = partial(
            table.read_shown,
            corpus,
            measure=corpus.measure,
            id_type=corpus.source.id_type,
            reader=self.text_reader(corpus),
        )
        return Around(
            above=show(above)(), below=show(below)(), searched=len(sought), documents=len(everyone)
        )

    def text_reader(self, corpus: LocalCorpus) -> TextReader:
        """Reads the source again, up to the last text that is asked for."""
        return SourceTexts(corpus.source, corpus.nothing_skipped, ids_repeat=corpus.ids_repeat)

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


def _needed_to_decide(measure: Measure, settings: Settings) -> int | None:
    """Bytes of text that must be exceeded before the method is known; None: nothing is needed."""
    if not measure.is_counted:
        return sys.maxsize
    if settings.method == "auto":
        return measure.most_to_join
    return None if measure.is_settled else 0


def _read_head(coming: Iterator[pa.LargeStringArray], needed: int | None) -> tuple[int, bool]:
    """Read on until more than this many bytes are held: how many, and whether that was all."""
    text = 0
    while needed is not None and text <= needed:
        texts = next(coming, None)
        if texts is None:
            return text, True
        offsets, _ = spans(texts)
        text += int(offsets[-1] - offsets[0])
    return text, False


def _mean_extent(measure: Measure, chunks: Iterator[pa.LargeStringArray]) -> float:
    if measure.is_settled:
        return 0.0
    counted = [(measure.extent(texts), len(texts)) for texts in chunks]
    return sum(extent for extent, _ in counted) / max(1, sum(count for _, count in counted))


def _width(corpus: LocalCorpus) -> int | None:
    """Bands that are looked at together: what is read from disk for one should fit."""
    return None if corpus.is_in_memory else 1


def _spans(documents: Documents, followers: npt.NDArray[np.int64], at_once: int) -> list[Span]:
    """Runs of documents that are the first of about as many meetings as can be held."""
    starts = documents[np.flatnonzero(np.diff(np.cumsum(followers) // at_once)) + 1]
    return list(itertools.pairwise([EVERYONE[0], *starts.tolist(), EVERYONE[1]]))


def _band_candidates(
    corpus: LocalCorpus, band: int, banding: Banding, hubs: int, firsts: Span
) -> tuple[Packed, int]:
    documents = corpus.representatives
    keys = corpus.keys.column(band)[documents]
    if corpus.is_in_memory:
        sketches = corpus.sketches.all()
        return candidates(keys, documents, sketches, banding, hubs=hubs, firsts=firsts)
    # Only documents that share a bucket are worth a read; there they have new numbers.
    crowded = _kernels.shared_keys(keys)
    keys, documents = keys[crowded], documents[crowded]
    numbers = np.arange(len(documents), dtype=np.uint32)
    sketches = corpus.sketches.take(documents)
    low, high = np.searchsorted(documents, firsts).tolist()
    pairs, met = candidates(keys, numbers, sketches, banding, hubs=hubs, firsts=(low, high))
    first, second = split_pairs(pairs)
    return join_pairs(documents[first], documents[second]), met


def _load_block(corpus: LocalCorpus, documents: Documents) -> Block:
    in_order = np.sort(documents)
    take = corpus.text_store.take
    return Block(documents=in_order, read=lambda start, stop: take(in_order[start:stop]))
