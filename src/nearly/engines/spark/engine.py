"""A Spark cluster: the pipeline's verbs as steps of partitions that send each other messages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from nearly.documents.corpus import Counts, Progress
from nearly.documents.readable import Skips, nothing_read
from nearly.engines.spark import steps
from nearly.engines.spark.block import blocks_of, narrowed, stamp_of
from nearly.engines.spark.checkpoint import Checkpoint, fingerprint
from nearly.engines.spark.component import connect
from nearly.engines.spark.corpus import Held, HeldNear, SparkClusters, SparkCorpus
from nearly.engines.spark.exchange import deliver, each, kept, meet, send
from nearly.engines.spark.partition import join, lookup, number
from nearly.engines.spark.partition.bucket import Candidates
from nearly.engines.spark.partition.copy import Later, Prints
from nearly.engines.spark.partition.group import Group
from nearly.engines.spark.partition.number import Numbers, by_target
from nearly.engines.spark.partition.row import Tables
from nearly.engines.spark.partition.signed_block import Plan, Signed, Tally
from nearly.engines.spark.partition.verification import Near, Texts, joined_texts, texts_of
from nearly.engines.spark.session.result_frame import frame_of
from nearly.schemas import CLUSTERS, PAIRS, REMOVED, with_id_type
from nearly.settings import Settings
from nearly.stages.audit import Audit, draw, judge
from nearly.stages.survivor import Keep
from nearly.stages.table import top_table
from nearly.stages.verification import exact_ratio
from nearly.tuning.banding import Banding
from nearly.tuning.method import choose_method

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkEngine"]

#: Tables of packed rows, and of each partition how many rows and first documents they have.
Ordered: TypeAlias = "tuple[RDD[Tables], list[dict[str, tuple[int, int]]]]"

#: Where rows of results stand in the order of all: the columns that come first in them.
PLACES = [pa.field("first", pa.int64()), pa.field("second", pa.int64())]
#: Rows of clusters before the clusters are numbered.
_CLUSTERS = pa.schema([("id", pa.string()), ("weakest", pa.float64())])
_FATES = pa.schema(
    [*_CLUSTERS, ("goes", pa.bool_()), ("survivor", pa.string()), ("similarity", pa.float64())]
)


class SparkEngine:
    """Runs a pipeline in a session; nothing that grows with the corpus comes to the driver."""

    def __init__(
        self, session: SparkSession, *, progress: Progress, checkpoint: str | None = None
    ) -> None:
        self.progress = progress
        self.compared = 0
        self.verified = 0
        self._session = session
        self._folder = checkpoint
        self._checkpoint: Checkpoint | None = None
        self._gathered: tuple[HeldNear, RDD[Group]] | None = None
        self._ordered: tuple[HeldNear, Ordered] | None = None

    def load(
        self,
        source: Any,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> SparkCorpus:
        """Every partition signs its block; then equal ids meet, and equal texts."""
        self._begin("read and sign")
        if keep is None:  # nobody will ask for whole rows
            source = narrowed(source)
        blocks = blocks_of(self._session, source)
        plan = Plan(
            settings=settings,
            banding=banding,
            keep=keep,
            id_type=source.id_type,
            also_type=source.type_of(keep.column) if keep and keep.column else None,
            check_ids=not source.ids_are_unique,
        )
        self._checkpoint = self._checkpoint_of(source, plan, blocks.getNumPartitions())
        plan, signed, tallies = self._sign(blocks, plan, skipped)
        _list(signed, steps.some_skipped, [tally.skipped for tally in tallies], skipped)
        total = _sum(tallies)
        if total.documents == 0 and len(skipped):
            raise nothing_read(source, skipped)
        later, again, copies = self._later(signed, plan)
        if sum(again):
            _list(meet(signed, later), steps.repeated_names, again, skipped)
        choice = choose_method(
            settings, total.documents, total.bytes, clusters_only=keep is not None
        )
        return SparkCorpus(
            settings=plan.settings,
            choice=choice,
            counts=Counts(
                documents=total.documents - sum(again),
                empty=_count_empty(signed, later) if sum(again) else total.empty,
                copies=copies,
                repeated=sum(again),
            ),
            source=source,
            plan=plan,
            text=total.bytes,
            blocks=blocks,
            signed=signed,
            later=later,
            nothing_skipped=skipped.another(),
        )

    def _sign(
        self, blocks: RDD[Any], plan: Plan, skipped: Skips
    ) -> tuple[Plan, RDD[Signed], list[Tally]]:
        """Each block with the k that its first documents suggest; again, if all say otherwise."""
        step = partial(steps.sign, plan, skipped.another(), self._checkpoint)
        signed = kept(each(blocks, step))
        found = signed.map(steps.tally).collect()
        total = _sum([tally for tally, _ in found])
        plan = plan.with_k(total.characters / max(1, total.documents))
        if any(tally.documents and k != plan.settings.text.whole_k for tally, k in found):
            again = partial(steps.sign_again, plan, skipped.another(), self._checkpoint)
            signed = kept(each(meet(blocks, signed), again))
            found = signed.map(steps.tally).collect()
        return plan, signed, [tally for tally, _ in found]

    def _checkpoint_of(self, source: Any, plan: Plan, partitions: int) -> Checkpoint | None:
        """Where stages of this very run are kept, or were kept by one that broke off."""
        if self._folder is None:
            return None
        run = fingerprint(
            version=version("nearly"),
            settings=plan.settings.to_dict(),
            banding=plan.banding,
            keep=plan.keep,
            source=stamp_of(source, plan),
            partitions=partitions,
        )
        return Checkpoint(self._folder, run)

    def _later(self, signed: RDD[Signed], plan: Plan) -> tuple[RDD[Later], list[int], int]:
        """Who came later in each block; how many by id in each, and how many by text in all."""
        partitions = signed.getNumPartitions()
        met = deliver(send(signed, partial(steps.contents_meet, plan, partitions)), partitions)
        later = kept(_back_in_blocks(met))
        counts = later.map(steps.count_later).collect()
        again = [repeated for repeated, _ in counts]
        if sum(again):  # A text that was repeated with its id is no one's original.
            step = partial(steps.texts_meet, partitions)
            met = deliver(send(meet(signed, later), step), partitions)
            later = kept(each(meet(later, _back_in_blocks(met)), steps.later_texts))
            counts = later.map(steps.count_later).collect()
        return later, again, sum(copies for _, copies in counts)

    def candidates(self, corpus: SparkCorpus, banding: Banding, *, hubs: int) -> Held[Candidates]:
        """Keys travel to buckets, sketches to crowded ones, pairs to where they are verified."""
        stage = f"near-by-{hubs}-hubs" if hubs else "near"
        known = self._finished(stage)
        if known is not None:
            self.compared += known["compared"]
            return Held(corpus.signed.context.emptyRDD(), known["candidates"], stage)
        self._begin("candidates")
        partitions = corpus.partitions
        step = partial(steps.keys_travel, partitions)
        keys = deliver(send(meet(corpus.signed, corpus.later), step), partitions)
        crowds = partial(steps.find_crowds, partitions, hubs)
        work = kept(deliver(send(keys, crowds), partitions))
        sketches = deliver(send(meet(corpus.signed, work), steps.show_sketches), partitions)
        compare = partial(steps.compare, banding, partitions)
        found = deliver(send(meet(work, sketches), compare), partitions)
        pairs = kept(each(found, steps.each_once))
        counts = pairs.map(steps.candidate_counts).collect()
        self.compared += sum(compared for _, compared in counts)
        work.unpersist()
        return Held(pairs, sum(count for count, _ in counts), stage)

    def verify(
        self, corpus: SparkCorpus, candidates: Held[Candidates], threshold: Fraction
    ) -> HeldNear:
        """Texts travel to the candidates that need them."""
        self.verified += len(candidates)
        if self._checkpoint is not None and self._finished(candidates.stage) is not None:
            return self._recalled(corpus, self._checkpoint, candidates.stage)
        self._begin("verify")
        pairs = candidates.states
        texts = self._texts(corpus, send(pairs, steps.ask_for_texts))
        step = partial(steps.verify, corpus.settings, threshold)
        return self._held_near(each(meet(pairs, texts), step), candidates.stage)

    def _held_near(self, near: RDD[Near], stage: str) -> HeldNear:
        """Verified pairs are worth keeping: here, and where that was asked beyond this run."""
        if self._checkpoint is not None:
            near = each(near, partial(steps.save_near, self._checkpoint, stage))
        held = _counted(kept(near))
        if self._checkpoint is not None:
            facts = {"compared": self.compared, "candidates": self.verified}
            self._checkpoint.finish(stage, facts)
        return held

    def _finished(self, stage: str) -> dict[str, int] | None:
        return None if self._checkpoint is None else self._checkpoint.finished(stage)

    def _recalled(self, corpus: SparkCorpus, checkpoint: Checkpoint, stage: str) -> HeldNear:
        """Verified pairs of a run before this one."""
        self._begin("verified pairs from the checkpoint")
        return _counted(kept(each(corpus.blocks, partial(steps.recall_near, checkpoint, stage))))

    def _texts(self, corpus: SparkCorpus, asks: RDD[Any]) -> RDD[Any]:
        partitions = corpus.partitions
        asked = meet(corpus.blocks, deliver(asks, partitions))
        show = partial(steps.show_texts, corpus.nothing_skipped)
        return deliver(send(asked, show), partitions)

    def give_back_copies(self, corpus: SparkCorpus, near: HeldNear) -> Held[bytes]:
        """Pairs are spelt out where their component is, and ordered where their first one is."""
        tables, counts = self._found(corpus, near)
        return Held(each(tables, partial(steps.table, "pairs")), _rows(counts, "pairs"))

    def cluster(self, corpus: SparkCorpus, near: HeldNear, keep: Keep | None) -> SparkClusters:
        """Clusters are made where their component is, and numbered by their first members."""
        found = self._found(corpus, near) if keep is None else self._fates(corpus, near, keep)
        tables, counts = found
        starts = [0, *itertools.accumulate(count["clusters"][1] for count in counts)]
        numbered = each(tables, partial(steps.number_clusters, starts))
        return SparkClusters(numbered, starts[-1])

    def _found(self, corpus: SparkCorpus, near: HeldNear) -> Ordered:
        """Pairs and clusters, made together and once in a run."""
        if self._ordered is None or self._ordered[0] is not near:
            self._begin("cluster")
            step = partial(steps.found_rows, corpus.settings)
            rows = send(self._groups(corpus, near), step)
            schemas = {"pairs": PAIRS, "clusters": _CLUSTERS}
            self._ordered = near, self._in_order(corpus, rows, schemas)
        return self._ordered[1]

    def _fates(self, corpus: SparkCorpus, near: HeldNear, keep: Keep) -> Ordered:
        """Clusters, and for each member who stands for it; texts travel for what is not known."""
        self._begin("cluster")
        groups = self._groups(corpus, near)
        asks = send(groups, partial(steps.ask_for_survivors, corpus.settings, keep))
        state = meet(groups, self._texts(corpus, asks))
        rows = send(state, partial(steps.fate_rows, corpus.settings, keep))
        return self._in_order(corpus, rows, {"clusters": _FATES})

    def _in_order(
        self, corpus: SparkCorpus, rows: RDD[Any], schemas: Mapping[str, pa.Schema]
    ) -> Ordered:
        """Rows of some tables in the blocks of their first documents, and how many there are."""
        placed = {name: _placed(schema, corpus.plan.id_type) for name, schema in schemas.items()}
        there = deliver(rows, corpus.partitions)
        tables = kept(each(there, partial(steps.order_rows, placed)))
        return tables, tables.map(steps.count_rows).collect()

    def _groups(self, corpus: SparkCorpus, near: HeldNear) -> RDD[Group]:
        """Whole components, gathered once in a run."""
        if self._gathered is None or self._gathered[0] is not near:
            partitions = corpus.partitions
            edges = each(meet(near.states, corpus.later), steps.edges)
            count = len(near) + corpus.counts.copies
            labels = connect(edges, count, partitions, folder=self._folder)
            travelled = deliver(send(meet(labels, near.states), steps.labels_travel), partitions)
            known = meet(meet(corpus.signed, corpus.later), travelled)
            pieces = deliver(send(known, partial(steps.pieces_travel, partitions)), partitions)
            self._gathered = near, kept(each(pieces, partial(steps.gather, corpus.plan)))
        return self._gathered[1]

    def remove(
        self,
        corpus: SparkCorpus,
        near: HeldNear,  # noqa: ARG002 - clusters carry what was decided
        clusters: SparkClusters,
        keep: Keep,  # noqa: ARG002
    ) -> Held[bytes]:
        """Rows of members that go, ordered by document."""
        rows = send(clusters.rows, steps.removed_travel)
        tables, counts = self._in_order(corpus, rows, {"removed": REMOVED})
        return Held(each(tables, partial(steps.table, "removed")), _rows(counts, "removed"))

    def pair_table(self, corpus: SparkCorpus, pairs: Held[bytes]) -> DataFrame:
        """See `schemas.PAIRS`."""
        return self._table(corpus, pairs.states, PAIRS)

    def cluster_table(
        self,
        corpus: SparkCorpus,
        near: HeldNear,  # noqa: ARG002 - rows say how near
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

    def top(
        self, corpus: SparkCorpus, near: HeldNear, pairs: Held[bytes]
    ) -> Callable[[], pa.Table]:
        """The best of all partitions with their texts; of copies, where nothing else is near."""

        def read() -> pa.Table:
            best = near.best
            if not len(near):
                parts = pairs.states.map(steps.pairs_of_rows).map(lookup.best_pairs).collect()
                best = lookup.top_pairs(parts)
            shown = self._look_up(corpus, np.unique(np.concatenate(best[:2])))
            return top_table(shown, shown.renumbered(best), corpus.plan.id_type)

        return read

    def _look_up(self, corpus: SparkCorpus, documents: Numbers) -> lookup.Few:
        """Ids and texts of a few documents; only their blocks are read."""
        wanted = np.unique(number.blocks_of(documents)).tolist()
        step = partial(lookup.look_up, corpus.nothing_skipped, documents)
        there = corpus.blocks.mapPartitionsWithIndex(step)
        found = there.context.runJob(there, list, wanted)
        return lookup.few(found, corpus.plan.id_type)

    def join(self, corpus: SparkCorpus, threshold: Fraction) -> HeldNear:
        """Texts travel to every task that joins their group."""
        known = self._finished("near-exact")
        if self._checkpoint is not None and known is not None:
            self.compared += known["compared"]
            self.verified += known["candidates"]
            return self._recalled(corpus, self._checkpoint, "near-exact")
        self._begin("join")
        partitions, groups = corpus.partitions, join.count_groups(corpus.text)
        state = meet(corpus.blocks, meet(corpus.signed, corpus.later))
        travel = partial(steps.groups_travel, corpus.nothing_skipped, groups, partitions)
        step = partial(steps.join, groups, corpus.settings, threshold, partitions)
        joined = kept(each(deliver(send(state, travel), partitions), step))
        met, verified = map(sum, zip(*joined.map(steps.join_counts).collect(), strict=True))
        self.compared += met
        self.verified += verified
        return self._held_near(each(joined, steps.near_of), "near-exact")

    def audit(self, corpus: SparkCorpus, near: HeldNear, documents: int) -> Audit:
        """Some texts are shown to every block, which looks for what is similar to them."""
        self._begin("audit")
        everyone = kept(each(meet(corpus.signed, corpus.later), steps.representatives))
        counts = everyone.map(len).collect()
        drawn = draw(sum(counts), documents, corpus.settings.seed)
        state = meet(corpus.blocks, everyone)
        shared = self._session.sparkContext.broadcast(
            self._drawn_texts(corpus, state, counts, drawn)
        )
        threshold = exact_ratio(corpus.settings.threshold)
        step = partial(steps.search, corpus.nothing_skipped, shared, corpus.settings, threshold)
        true = lookup.all_pairs(each(state, step).collect())
        claimed = lookup.all_pairs(near.states.map(partial(steps.only_these, shared)).collect())
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


def _sum(tallies: Sequence[Tally]) -> Tally:
    return Tally(*map(sum, zip(*tallies, strict=True)))


def _count_empty(signed: RDD[Signed], later: RDD[Later]) -> int:
    return sum(each(meet(signed, later), steps.count_empty).collect())


def _back_in_blocks(met: RDD[list[Prints]]) -> RDD[Later]:
    """Later documents of equal contents, in their blocks."""
    return each(deliver(send(met, steps.first_of_each), met.getNumPartitions()), steps.later)


def _counted(near: RDD[Near]) -> HeldNear:
    counts, best = zip(*near.map(steps.count_near).collect(), strict=True)
    return HeldNear(near, sum(counts), best=lookup.top_pairs(best))


def _rows(counts: Sequence[Mapping[str, tuple[int, int]]], table: str) -> int:
    return sum(count[table][0] for count in counts)


def _list(
    states: RDD[Any], step: Callable[..., Any], counts: Sequence[int], skipped: Skips
) -> None:
    """Lists of skipped records, block by block, as far as there is room for them."""
    wanted = [number for number, count in enumerate(counts) if count]
    if not wanted:
        return
    for listed in states.context.runJob(states, partial(step, skipped.room), wanted):
        skipped.merge(listed)


def _placed(schema: pa.Schema, id_type: pa.DataType) -> pa.Schema:
    fields = (field.with_nullable(True) for field in with_id_type(schema, id_type))
    return pa.schema([*PLACES, *fields])
