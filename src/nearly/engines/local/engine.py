"""The verbs of an engine, on this machine."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from nearly.documents.local import LocalCorpus
from nearly.documents.lookup import SourceTexts, TextReader
from nearly.documents.pair_store import PairStore
from nearly.documents.readable import Readable, Skips
from nearly.documents.table_store import TableStore
from nearly.engines.base import Cleaned, Found
from nearly.engines.local.loader import load
from nearly.engines.local.near_pair import LocalPairs, near_pairs
from nearly.engines.local.verification import compare
from nearly.engines.local.workshop import Workshop
from nearly.limits import arrow_to_read
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed, Pairs
from nearly.progress import Progress
from nearly.settings import Settings
from nearly.stages import table
from nearly.stages.around import Around, near_misses
from nearly.stages.audit import Audit, asking, audit, draw
from nearly.stages.cluster import Clusters, cluster
from nearly.stages.copy import parts_with_copies
from nearly.stages.crossing import crossing, parts_across
from nearly.stages.survivor import Keep, by_best_copy, rank, survivors
from nearly.text.unit import unit_of
from nearly.tuning.banding import Banding

__all__ = ["LocalEngine"]

#: Bytes of files, perhaps compressed, that one thread has read and compared before others begin.
TINY = 2**16


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
        self.shop = Workshop(folder=folder, progress=progress, threads=threads, memory=memory)
        self.progress = self.shop.progress

    @property
    def threads(self) -> int:
        """How many work."""
        return self.shop.threads

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shop.close()

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
        if 0 < source.size <= TINY:
            self.shop.work_alone()
        with arrow_to_read(source.size):
            return load(self.shop, source, measure, settings, banding, skipped, keep=keep)

    def near_pairs(self, corpus: LocalCorpus, banding: Banding, *, hubs: int) -> LocalPairs:
        """Joined in blocks that fit in memory, or met in buckets band by band and verified."""
        return near_pairs(self.shop, corpus, banding, hubs=hubs)

    def found(self, corpus: LocalCorpus, near: LocalPairs, *, top: int) -> Found:
        """Copies are linked to their representatives, or listed as all pairs."""
        self.progress.stage("cluster", None)
        pairs = self._with_copies(corpus, near.pairs)
        order = np.arange(len(corpus), dtype=np.uint32)
        # Across a border, only what is reported connects documents, copies too.
        is_sided = corpus.sides is not None
        connecting, copies = (pairs, 0) if is_sided else (near.pairs, len(corpus.copies))
        clusters = self._clusters(corpus, connecting, order, copies=copies)
        self.progress.stage("tables", None)
        id_type = corpus.source.id_type
        tells_copies = not len(near) or (is_sided and corpus.settings.all_pairs)
        nearest = table.best_pairs(pairs if tells_copies else near.pairs, top)
        return Found(
            pairs=self._table(table.pair_tables(corpus, pairs, corpus.measure, id_type)),
            clusters=self._table(
                table.cluster_tables(corpus, clusters, connecting, corpus.measure, id_type)
            ),
            pair_count=len(pairs),
            cluster_count=clusters.count,
            read_top=self._showing(corpus)(nearest),
        )

    def _showing(self, corpus: LocalCorpus) -> Callable[[Pairs], Callable[[], pa.Table]]:
        """What shows a few pairs with what people read of them."""
        return partial(
            table.read_shown,
            corpus,
            measure=corpus.measure,
            id_type=corpus.source.id_type,
            unit=unit_of(corpus.measure.name, corpus.source.facts()),
            reader=self.text_reader(corpus),
        )

    def _with_copies(self, corpus: LocalCorpus, near: Pairs) -> Pairs:
        if len(corpus.copies) == 0:
            return near
        copies, originals, same = corpus.copies, corpus.originals, corpus.measure.same
        all_pairs = corpus.settings.all_pairs
        parts = parts_with_copies(near, copies, originals, same, all_pairs=all_pairs)
        if corpus.sides is not None:
            parts = parts_across(near, copies, originals, corpus.old, same, all_pairs=all_pairs)
        return self._in_order(parts)

    def _in_order(self, parts: Iterable[tuple[Packed, Nearness]]) -> Pairs:
        store = PairStore(self.shop.budget, self.shop.folder)
        for part in parts:
            store.add(*part)
            self.shop.budget.check()
        return store.pairs()

    def _clusters(
        self, corpus: LocalCorpus, connecting: Pairs, order: Documents, *, copies: int
    ) -> Clusters:
        """Of pairs, and of so many copies."""
        documents = corpus.copies[:copies], corpus.originals[:copies]
        return cluster(connecting, *documents, order, corpus.settings.cluster, self._in_order)

    def _table(self, parts: Iterator[pa.Table]) -> pa.Table:
        store = TableStore(self.shop.budget, self.shop.folder)
        for part in parts:
            store.add(part)
            self.shop.budget.check()
        return store.table()

    def cleaned(self, corpus: LocalCorpus, near: LocalPairs, keep: Keep) -> Cleaned:
        """Leaders lead, and survivors stay, in the order of the rule."""
        self.progress.stage("cluster", None)
        order = rank(corpus, near.pairs, keep)
        leading, copies = by_best_copy(order, corpus), len(corpus.copies)
        clusters = self._clusters(corpus, near.pairs, leading, copies=copies)
        compare_here = partial(compare, self.shop, corpus)
        removed = survivors(corpus, clusters, order, near.pairs, compare_here, corpus.measure.same)
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
        everyone = asking(corpus)
        sought = everyone[draw(len(everyone), documents, corpus.settings.seed)]
        below = near_misses(corpus, sought, top, threads=self.threads, progress=self.progress)
        above = table.best_pairs(crossing(near.pairs, corpus.old), top, least=True)
        show = self._showing(corpus)
        return Around(
            above=show(above)(), below=show(below)(), searched=len(sought), documents=len(everyone)
        )

    def text_reader(self, corpus: LocalCorpus) -> TextReader:
        """Reads the source again, up to the last text that is asked for."""
        return SourceTexts(corpus.source, corpus.nothing_skipped, ids_repeat=corpus.ids_repeat)
