"""A Spark cluster: the verbs of an engine as steps of partitions that send each other messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nearly.documents.lookup import Placed, TextReader
from nearly.documents.place import Place
from nearly.documents.readable import Skips
from nearly.engines.base import Cleaned, Found
from nearly.engines.spark import outcome
from nearly.engines.spark.corpus import SparkCorpus, SparkPairs
from nearly.engines.spark.exchange import each, kept, met
from nearly.engines.spark.loader import load
from nearly.engines.spark.near_pair import near_pairs
from nearly.engines.spark.partition import copy, lookup, search
from nearly.engines.spark.partition.number import Numbers, by_target
from nearly.engines.spark.partition.verification import Texts, joined_texts, texts_of
from nearly.measures.base import Measure
from nearly.progress import Progress, Stopwatch
from nearly.settings import Settings
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
        return load(
            self._session,
            source,
            measure,
            settings,
            banding,
            skipped,
            keep=keep,
            checkpoint=self._checkpoint,
        )

    def near_pairs(self, corpus: SparkCorpus, banding: Banding, *, hubs: int) -> SparkPairs:
        """Joined in groups, or met in buckets and verified; or known from a checkpoint."""
        return near_pairs(corpus, banding, hubs, self._begin)

    def found(self, corpus: SparkCorpus, near: SparkPairs) -> Found:
        """Pairs and clusters are made where their component is, and are lazy frames."""
        self._begin("cluster")
        return outcome.found(self._session, corpus, near, self._checkpoint)

    def cleaned(self, corpus: SparkCorpus, near: SparkPairs, keep: Keep) -> Cleaned:
        """Survivors are decided where their component is."""
        self._begin("cluster")
        return outcome.cleaned(self._session, corpus, near, keep, self._checkpoint)

    def audit(self, corpus: SparkCorpus, near: SparkPairs, documents: int) -> Audit:
        """Some texts are shown to every block, which looks for what is similar to them."""
        self._begin("audit")
        everyone = kept(each(copy.representatives, corpus.signed, corpus.repeats, numbered=True))
        counts = everyone.map(len).collect()
        drawn = draw(sum(counts), documents, corpus.settings.seed)
        texts = _drawn_texts(corpus, everyone, counts, drawn)
        shared = self._session.sparkContext.broadcast(texts)
        step = partial(
            search.search,
            skipped=corpus.nothing_skipped,
            sought=shared,
            measure=corpus.measure,
            threshold=corpus.measure.threshold(corpus.settings),
        )
        true = lookup.all_pairs(each(step, corpus.blocks, everyone, numbered=True).collect())
        only = partial(search.only_sought, sought=shared)
        claimed = lookup.all_pairs(near.states.map(only).collect())
        share = len(drawn) / max(1, sum(counts))
        return judge(texts.documents, true[:2], claimed[:2], share=share)

    def text_reader(self, corpus: SparkCorpus) -> TextReader:
        """Every block is asked for the texts that it has."""
        return _BlockTexts(met(corpus.blocks, corpus.repeats), corpus.nothing_skipped)

    def _begin(self, stage: str) -> None:
        self.progress.stage(stage, None)
        self._session.sparkContext.setJobDescription(f"nearly: {stage}")


@dataclass(frozen=True)
class _BlockTexts:
    """Texts of blocks, which are read where they are."""

    states: RDD[lookup.Known]
    skipped: Skips

    def by_id(self, ids: Iterable[Any]) -> dict[Any, list[Placed]]:
        """See `TextReader`."""
        found: dict[Any, list[Placed]] = {}
        step = partial(lookup.look_up_ids, self.skipped, set(ids))
        for name, placed in self.states.mapPartitions(step).collect():
            found.setdefault(name, []).append(placed)
        return found

    def by_place(self, places: Iterable[Place]) -> dict[Place, str]:
        """See `TextReader`."""
        step = partial(lookup.look_up_places, self.skipped, set(places))
        return dict(self.states.mapPartitions(step).collect())


def _drawn_texts(
    corpus: SparkCorpus, everyone: RDD[Numbers], counts: Sequence[int], drawn: Numbers
) -> Texts:
    """The texts of those who were drawn from all representatives, by their places there."""
    starts = np.cumsum([0, *counts])
    blocks = np.searchsorted(starts, drawn, "right") - 1
    places = {
        block: (theirs - starts[block]).tolist() for block, (theirs,) in by_target(blocks, drawn)
    }
    step = partial(search.some_texts, skipped=corpus.nothing_skipped, places=places)
    parts = each(step, corpus.blocks, everyone, numbered=True).collect()
    return texts_of(*joined_texts(parts))
