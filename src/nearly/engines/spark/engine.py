"""A Spark cluster: the pipeline's verbs as steps of partitions that send each other messages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nearly.auditing import Audit, draw, judge
from nearly.corpora import Progress
from nearly.engines.base import Counts, Skips, nothing_read
from nearly.engines.spark import joining, looking, numbers, steps
from nearly.engines.spark.blocks import blocks_of, peek
from nearly.engines.spark.buckets import Candidates
from nearly.engines.spark.connecting import connect
from nearly.engines.spark.copies import Copies, Prints
from nearly.engines.spark.corpus import Held, SparkClusters, SparkCorpus
from nearly.engines.spark.exchange import deliver, each, kept, meet, send
from nearly.engines.spark.groups import Group
from nearly.engines.spark.meetings import Near, Texts, joined_texts, texts_of
from nearly.engines.spark.numbers import Numbers, by_target
from nearly.engines.spark.signing import Plan, Signed, Tally
from nearly.engines.spark.tables import frame_of
from nearly.methods import auto_k, choose_method
from nearly.schemas import CLUSTERS, PAIRS, REMOVED, with_id_type
from nearly.settings import Settings
from nearly.stages.verify import exact_ratio
from nearly.survivors import Keep
from nearly.tables import top_table
from nearly.tuning import Banding

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkEngine"]

#: Where rows of results stand in the order of all: the columns that come first in them.
PLACES = [("first", pa.int64()), ("second", pa.int64())]


class SparkEngine:
    """Runs a pipeline in a session; nothing that grows with the corpus comes to the driver."""

    def __init__(
        self, session: SparkSession, *, progress: Progress, checkpoint: str | None = None
    ) -> None:
        self.progress = progress
        self.compared = 0
        self.verified = 0
        self._session = session
        self._checkpoint = checkpoint
        self._gathered: tuple[Held[Near], RDD[Group]] | None = None

    def load(
        self,
        source: Any,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> SparkCorpus:
        """Every partition signs its block; then equal ids meet, and equal contents."""
        self._begin("read and sign")
        blocks = blocks_of(self._session, source)
        plan, signed, tallies = self._sign(blocks, source, settings, banding, skipped, keep)
        light = kept(each(signed, steps.without_signatures))
        _list(light, steps.some_skipped, [tally.skipped for tally in tallies], skipped)
        total = Tally(*map(sum, zip(*tallies, strict=True)))
        if total.documents == 0:
            raise nothing_read(source, skipped)
        repeated, again = self._repeated(light, blocks, plan, skipped)
        copies, count = self._copies(light, repeated)
        empty = total.empty
        if again:
            empty = sum(each(meet(light, repeated), steps.count_empty).collect())
        choice = choose_method(
            settings, total.documents, total.bytes, clusters_only=keep is not None
        )
        return SparkCorpus(
            settings=plan.settings,
            choice=choice,
            counts=Counts(
                documents=total.documents - again, empty=empty, copies=count, repeated=again
            ),
            source=source,
            plan=plan,
            text=total.bytes,
            blocks=blocks,
            signed=signed,
            light=light,
            repeated=repeated,
            copies=copies,
            nothing_skipped=skipped.another(),
        )

    def _sign(
        self,
        blocks: RDD[Any],
        source: Any,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        keep: Keep | None,
    ) -> tuple[Plan, RDD[Signed], list[Tally]]:
        """Signed with the k that the first documents suggest; again, if all say otherwise."""
        length, also_type = peek(blocks, skipped.another(), keep.column if keep else None)
        while True:
            plan = Plan(
                settings=_with_k(settings, length),
                banding=banding,
                keep=keep,
                id_type=source.id_type,
                also_type=also_type,
                check_ids=not source.ids_are_unique,
            )
            signed = kept(each(blocks, partial(steps.sign, plan, skipped.another())))
            tallies = signed.map(steps.tally).collect()
            length = sum(t.characters for t in tallies) / max(1, sum(t.documents for t in tallies))
            if _with_k(settings, length) == plan.settings:
                return plan, signed, tallies
            signed.unpersist()

    def _repeated(
        self, light: RDD[Signed], blocks: RDD[Any], plan: Plan, skipped: Skips
    ) -> tuple[RDD[Copies], int]:
        """Documents of each block whose id came before, listed as skipped."""
        nobody = each(blocks, steps.nobody)
        if not plan.check_ids:
            return nobody, 0
        partitions = light.getNumPartitions()
        met = deliver(send(light, partial(steps.ids_meet, partitions)), partitions)
        repeated, counts = _in_blocks(met)
        if not sum(counts):
            return nobody, 0
        _list(meet(light, repeated), steps.repeated_names, counts, skipped)
        return repeated, sum(counts)

    def _copies(self, light: RDD[Signed], repeated: RDD[Copies]) -> tuple[RDD[Copies], int]:
        partitions = light.getNumPartitions()
        step = partial(steps.contents_meet, partitions)
        copies, counts = _in_blocks(deliver(send(meet(light, repeated), step), partitions))
        return copies, sum(counts)

    def candidates(self, corpus: SparkCorpus, banding: Banding, *, hubs: int) -> Held[Candidates]:
        """Keys travel to buckets, sketches to crowded ones, pairs to where they are verified."""
        self._begin("candidates")
        partitions = corpus.partitions
        left_out = meet(corpus.repeated, corpus.copies)
        step = partial(steps.keys_travel, partitions)
        keys = deliver(send(meet(corpus.signed, left_out), step), partitions)
        crowds = partial(steps.find_crowds, partitions, hubs)
        work = kept(deliver(send(keys, crowds), partitions))
        sketches = deliver(send(meet(corpus.signed, work), steps.show_sketches), partitions)
        compare = partial(steps.compare, banding, partitions)
        found = deliver(send(meet(work, sketches), compare), partitions)
        pairs = kept(each(found, steps.each_once))
        counts = pairs.map(steps.candidate_counts).collect()
        self.compared += sum(compared for _, compared in counts)
        work.unpersist()
        corpus.signed.unpersist()
        return Held(pairs, sum(count for count, _ in counts))

    def verify(
        self, corpus: SparkCorpus, candidates: Held[Candidates], threshold: Fraction
    ) -> Held[Near]:
        """Texts travel to the candidates that need them."""
        self._begin("verify")
        self.verified += len(candidates)
        pairs = candidates.states
        texts = self._texts(corpus, send(pairs, steps.ask_for_texts))
        near = kept(each(meet(pairs, texts), partial(steps.verify, corpus.settings, threshold)))
        return Held(near, sum(near.map(steps.count_near).collect()))

    def _texts(self, corpus: SparkCorpus, asks: RDD[Any]) -> RDD[Any]:
        partitions = corpus.partitions
        asked = meet(corpus.blocks, deliver(asks, partitions))
        show = partial(steps.show_texts, corpus.nothing_skipped)
        return deliver(send(asked, show), partitions)

    def give_back_copies(self, corpus: SparkCorpus, near: Held[Near]) -> Held[bytes]:
        """Pairs are spelt out where their component is, and ordered where their first one is."""
        self._begin("pairs")
        step = partial(steps.pair_rows, corpus.settings)
        schema = _placed(with_id_type(PAIRS, corpus.plan.id_type))
        return self._ordered(send(self._groups(corpus, near), step), schema, corpus.partitions)

    def _ordered(self, found: RDD[Any], schema: pa.Schema, partitions: int) -> Held[bytes]:
        ordered = kept(each(deliver(found, partitions), partial(steps.order_rows, schema)))
        return Held(ordered, sum(ordered.map(steps.count_rows).collect()))

    def cluster(self, corpus: SparkCorpus, near: Held[Near], keep: Keep | None) -> SparkClusters:
        """Clusters are made where their component is, and numbered by their first members."""
        self._begin("cluster")
        groups = self._groups(corpus, near)
        if keep is None:
            found = send(groups, partial(steps.cluster_rows, corpus.settings))
        else:
            asks = send(groups, partial(steps.ask_for_survivors, corpus.settings, keep))
            state = meet(groups, self._texts(corpus, asks))
            found = send(state, partial(steps.fate_rows, corpus.settings, keep))
        schema = _cluster_schema(corpus.plan)
        rows = self._ordered(found, schema, corpus.partitions).states
        counts = rows.map(steps.count_clusters).collect()
        starts = [0, *itertools.accumulate(counts)]
        numbered = each(rows, partial(steps.number_clusters, starts))
        return SparkClusters(numbered, starts[-1])

    def _groups(self, corpus: SparkCorpus, near: Held[Near]) -> RDD[Group]:
        """Whole components, gathered once in a run."""
        if self._gathered is None or self._gathered[0] is not near:
            partitions = corpus.partitions
            edges = each(meet(near.states, corpus.copies), steps.edges)
            labels = connect(edges, partitions)
            travelled = deliver(send(meet(labels, near.states), steps.labels_travel), partitions)
            known = meet(meet(corpus.light, corpus.copies), travelled)
            pieces = deliver(send(known, partial(steps.pieces_travel, partitions)), partitions)
            self._gathered = near, kept(each(pieces, partial(steps.gather, corpus.plan)))
        return self._gathered[1]

    def remove(
        self,
        corpus: SparkCorpus,
        near: Held[Near],  # noqa: ARG002 - clusters carry what was decided
        clusters: SparkClusters,
        keep: Keep,  # noqa: ARG002
    ) -> Held[bytes]:
        """Rows of members that go, ordered by document."""
        schema = _placed(with_id_type(REMOVED, corpus.plan.id_type))
        return self._ordered(send(clusters.rows, steps.removed_travel), schema, corpus.partitions)

    def pair_table(self, corpus: SparkCorpus, pairs: Held[bytes]) -> DataFrame:
        """See `schemas.PAIRS`."""
        return self._table(corpus, pairs.states, PAIRS)

    def cluster_table(
        self,
        corpus: SparkCorpus,
        near: Held[Near],  # noqa: ARG002 - rows say how near
        clusters: SparkClusters,
    ) -> DataFrame:
        """See `schemas.CLUSTERS`."""
        return self._table(corpus, clusters.rows, CLUSTERS)

    def removed_table(self, corpus: SparkCorpus, removed: Held[bytes]) -> DataFrame:
        """See `schemas.REMOVED`."""
        return self._table(corpus, removed.states, REMOVED)

    def _table(self, corpus: SparkCorpus, rows: RDD[bytes], schema: pa.Schema) -> DataFrame:
        return frame_of(self._session, rows, with_id_type(schema, corpus.plan.id_type))

    def kept(self, corpus: SparkCorpus, removed: Held[bytes]) -> Callable[[], DataFrame]:
        """The rows of every block without those that go."""
        session, schema = self._session, corpus.source.schema

        def read() -> DataFrame:
            rows = send(meet(corpus.blocks, removed.states), steps.rows_kept)
            return frame_of(session, rows, schema)

        return read

    def top_table(self, corpus: SparkCorpus, near: Held[Near], pairs: Held[bytes]) -> pa.Table:
        """The best of every partition, of which the best are shown with their texts."""
        states = near.states if len(near) else pairs.states.map(steps.pairs_of_rows)
        top = looking.top_pairs(states.map(looking.best_pairs).collect())
        shown = self._look_up(corpus, np.unique(np.concatenate(top[:2])))
        return top_table(shown, shown.renumbered(top), corpus.plan.id_type)

    def _look_up(self, corpus: SparkCorpus, documents: Numbers) -> looking.Few:
        """Ids and texts of a few documents; only their blocks are read."""
        wanted = np.unique(numbers.blocks_of(documents)).tolist()
        step = partial(looking.look_up, corpus.nothing_skipped, documents)
        there = corpus.blocks.mapPartitionsWithIndex(step)
        found = there.context.runJob(there, list, wanted)
        return looking.few(found, corpus.plan.id_type)

    def join(self, corpus: SparkCorpus, threshold: Fraction) -> Held[Near]:
        """Texts travel to every task that joins their group."""
        self._begin("join")
        partitions, groups = corpus.partitions, joining.count_groups(corpus.text)
        state = meet(corpus.blocks, meet(corpus.light, meet(corpus.repeated, corpus.copies)))
        travel = partial(steps.groups_travel, corpus.nothing_skipped, groups, partitions)
        step = partial(steps.join, groups, corpus.settings, threshold, partitions)
        joined = kept(each(deliver(send(state, travel), partitions), step))
        counts = joined.map(steps.join_counts).collect()
        pairs, met, verified = (sum(column) for column in zip(*counts, strict=True))
        self.compared += met
        self.verified += verified
        return Held(each(joined, steps.near_of), pairs)

    def audit(self, corpus: SparkCorpus, near: Held[Near], documents: int) -> Audit:
        """Some texts are shown to every block, which looks for what is similar to them."""
        self._begin("audit")
        left_out = meet(corpus.repeated, corpus.copies)
        everyone = kept(each(meet(corpus.light, left_out), steps.representatives))
        counts = everyone.map(len).collect()
        drawn = draw(sum(counts), documents, corpus.settings.seed)
        state = meet(corpus.blocks, everyone)
        shared = self._session.sparkContext.broadcast(
            self._drawn_texts(corpus, state, counts, drawn)
        )
        threshold = exact_ratio(corpus.settings.threshold)
        step = partial(steps.search, corpus.nothing_skipped, shared, corpus.settings, threshold)
        true = looking.all_pairs(each(state, step).collect())
        claimed = looking.all_pairs(near.states.map(partial(steps.only_these, shared)).collect())
        share = len(drawn) / max(1, sum(counts))
        return judge(shared.value.documents, true[:2], claimed[:2], share=share)

    def _drawn_texts(
        self,
        corpus: SparkCorpus,
        state: RDD[tuple[Any, Numbers]],
        counts: Sequence[int],
        drawn: Numbers,
    ) -> Texts:
        """The texts of those who were drawn from all representatives, by their places there."""
        starts = np.cumsum([0, *counts])
        blocks = np.searchsorted(starts, drawn, "right") - 1
        places = {
            block: (theirs - starts[block]).tolist()
            for block, (theirs,) in by_target(blocks, drawn)
        }
        step = partial(steps.some_texts, corpus.nothing_skipped, places)
        return texts_of(*joined_texts(each(state, step).collect()))

    def _begin(self, stage: str) -> None:
        self.progress.stage(stage, None)
        self._session.sparkContext.setJobDescription(f"nearly: {stage}")


def _with_k(settings: Settings, length: float) -> Settings:
    if settings.text.k != "auto":
        return settings
    return settings.with_k(auto_k(settings.text.unit, length))


def _in_blocks(met: RDD[list[Prints]]) -> tuple[RDD[Copies], list[int]]:
    """Later documents of equal contents, back in their blocks, and how many each has."""
    partitions = met.getNumPartitions()
    found = kept(each(deliver(send(met, steps.first_of_each), partitions), steps.in_order))
    return found, found.map(steps.count_documents).collect()


def _list(
    states: RDD[Any], step: Callable[..., Any], counts: Sequence[int], skipped: Skips
) -> None:
    """Lists of skipped records, block by block, as far as there is room for them."""
    wanted = [number for number, count in enumerate(counts) if count]
    if not wanted:
        return
    for listed in states.context.runJob(states, partial(step, skipped.room), wanted):
        skipped.merge(listed)


def _placed(schema: pa.Schema) -> pa.Schema:
    return pa.schema([*PLACES, *(field.with_nullable(True) for field in schema)])


def _cluster_schema(plan: Plan) -> pa.Schema:
    fields = [*PLACES, ("id", plan.id_type), ("weakest", pa.float64())]
    if plan.keep is not None:
        fields += [("goes", pa.bool_()), ("survivor", plan.id_type), ("similarity", pa.float64())]
    return pa.schema(fields)
