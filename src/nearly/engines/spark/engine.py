"""A Spark cluster: the verbs of an engine as steps of partitions that send each other messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from nearly.documents.lookup import TextReader
from nearly.documents.readable import Skips
from nearly.engines.base import Cleaned, Found
from nearly.engines.spark import outcome
from nearly.engines.spark.corpus import SparkCorpus, SparkPairs
from nearly.engines.spark.exchange import beside, each, met
from nearly.engines.spark.loader import load
from nearly.engines.spark.near_pair import near_pairs
from nearly.engines.spark.partition import lookup, search
from nearly.engines.spark.partition.number import Numbers
from nearly.engines.spark.partition.verification import Near
from nearly.engines.spark.parts import SparkParts
from nearly.engines.spark.sample import drawn_texts, everyone_of
from nearly.engines.spark.session.session import room_beside
from nearly.engines.spark.text import BlockTexts
from nearly.measures.base import Measure
from nearly.progress import Progress, Stopwatch
from nearly.settings import Settings
from nearly.stages.around import Around, nearest_below
from nearly.stages.audit import Audit, draw, judge
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

__all__ = ["SparkEngine"]


class SparkEngine:
    """Runs a pipeline in a session; nothing that grows with the corpus comes to the driver."""

    def __init__(
        self, session: SparkSession, *, progress: Progress, checkpoint: str | None = None
    ) -> None:
        self.progress = Stopwatch(progress)
        self._session = session
        self._checkpoint = checkpoint

    def load(
        self,
        source: Any,
        measure: Measure,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> SparkCorpus:
        """Every partition signs its block; then equal ids meet, and equal texts."""
        self._begin("read and sign")
        room = room_beside(self._session)
        with beside(room):
            return load(
                self._session,
                source,
                measure,
                settings,
                banding,
                skipped,
                keep=keep,
                checkpoint=self._checkpoint,
                room=room,
            )

    def near_pairs(self, corpus: SparkCorpus, banding: Banding, *, hubs: int) -> SparkPairs:
        """Joined in groups, or met in buckets and verified; or known from a checkpoint."""
        with beside(corpus.room):
            return near_pairs(corpus, banding, hubs, self._begin)

    def found(self, corpus: SparkCorpus, near: SparkPairs, *, top: int) -> Found:
        """Pairs and clusters are made where their component is, and are lazy frames."""
        self._begin("cluster")
        with beside(corpus.room):
            return outcome.found(self._session, corpus, near, self._checkpoint, top=top)

    def cleaned(self, corpus: SparkCorpus, near: SparkPairs, keep: Keep) -> Cleaned:
        """Survivors are decided where their component is."""
        self._begin("cluster")
        with beside(corpus.room):
            return outcome.cleaned(self._session, corpus, near, keep, self._checkpoint)

    def audit(self, corpus: SparkCorpus, near: SparkPairs, documents: int) -> Audit:
        """Some texts are shown to every block, which looks for what is similar to them."""
        self._begin("audit")
        drawn = self._draw(corpus, documents)
        threshold = corpus.measure.threshold(corpus.settings)
        step = partial(search.search, threshold=threshold, border=corpus.border)
        true = lookup.all_pairs(self._search(step, corpus, drawn))
        only = partial(search.only_sought, sought=drawn.shared)
        claimed = lookup.all_pairs(near.states.map(only).collect())
        share = drawn.documents / max(1, drawn.everyone)
        return judge(drawn.shared.value.documents, true[:2], claimed[:2], share=share)

    def around(self, corpus: SparkCorpus, near: SparkPairs, documents: int, *, top: int) -> Around:
        """Every block looks for what is nearly as similar to some texts as it has to be."""
        self._begin("around")
        drawn = self._draw(corpus, documents)
        threshold = corpus.measure.threshold(corpus.settings)
        border = corpus.border
        step = partial(search.near_misses, threshold=threshold, count=top, border=border)
        missed = lookup.gathered(self._search(step, corpus, drawn))
        below = Near(*nearest_below(*missed, float(threshold), top))
        return Around(
            above=outcome.shown(corpus, outcome.nearest(near, top, least=True, border=border)),
            below=outcome.shown(corpus, below),
            searched=drawn.documents,
            documents=drawn.everyone,
        )

    def _draw(self, corpus: SparkCorpus, documents: int) -> _Drawn:
        """Some representatives, whose texts every partition sees; of two sides, new ones."""
        representatives, counts = everyone_of(corpus)
        asking = representatives
        if corpus.border is not None:
            asking, counts = everyone_of(corpus, border=corpus.border)
        drawn = draw(sum(counts), documents, corpus.settings.seed)
        texts = drawn_texts(corpus, asking, counts, drawn)
        shared = self._session.sparkContext.broadcast(texts)
        return _Drawn(representatives, shared, len(drawn), sum(counts))

    def _search(self, step: Callable[..., Near], corpus: SparkCorpus, drawn: _Drawn) -> list[Near]:
        """What a step finds among the representatives of each block."""
        known = partial(
            step, skipped=corpus.nothing_skipped, sought=drawn.shared, measure=corpus.measure
        )
        found = each(known, corpus.blocks, drawn.representatives, numbered=True)
        return found.collect()

    def text_reader(self, corpus: SparkCorpus) -> TextReader:
        """Every block is asked for the texts that it has."""
        return BlockTexts(
            met(corpus.blocks, corpus.repeats), corpus.nothing_skipped, room=corpus.room
        )

    def in_parts(self, source: Any) -> SparkParts:
        """The documents of a source, for work that is no search for near pairs."""
        return SparkParts(self._session, [source], None)

    def _begin(self, stage: str) -> None:
        self.progress.stage(stage, None)
        self._session.sparkContext.setJobDescription(f"nearly: {stage}")


class _Drawn(NamedTuple):
    """Some documents that were drawn from all representatives."""

    representatives: RDD[Numbers]
    shared: search.Shared
    documents: int
    everyone: int
