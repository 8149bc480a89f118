"""A corpus → verified pairs: joined in groups, or met in buckets and verified."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.engines.spark.corpus import SparkCorpus, SparkPairs
from nearly.engines.spark.exchange import apart, deliver, each, kept, send
from nearly.engines.spark.partition import (
    bucket,
    copy,
    join,
    lookup,
    probe,
    signed_block,
    verification,
)
from nearly.engines.spark.partition.bucket import Candidates, Shared
from nearly.engines.spark.partition.verification import Near, joined_texts
from nearly.engines.spark.sample import drawn_texts, everyone_of
from nearly.settings import Method
from nearly.stages.audit import draw
from nearly.stages.rehearsal import rehearse, settled
from nearly.tuning.banding import Banding
from nearly.tuning.method import (
    Choice,
    count_rehearsed,
    is_crowded,
    reconsider,
    usual_meetings,
)

if TYPE_CHECKING:
    from pyspark import RDD

    from nearly.documents.folder import Folder

__all__ = ["near_pairs", "texts_travel"]

Begin = Callable[[str], None]


class Facts(NamedTuple):
    """What is known of verified pairs besides themselves; kept with them."""

    meetings: int
    verified: int
    method: Method
    why: str
    largest_bucket: int | None


class Made(NamedTuple):
    """Pairs that Spark has yet to find, and the work that tells how many met on the way.

    What is counted is counted in one job at the end: a job of its own costs Spark a tenth of a
    second, however little there is to count.
    """

    near: RDD[Near]
    work: RDD[Any]
    effort: Callable[[Any], tuple[int, int]]  # how many pairs met, and how many were verified
    choice: Choice
    largest_bucket: int | None


def near_pairs(corpus: SparkCorpus, banding: Banding, hubs: int, begin: Begin) -> SparkPairs:
    """Found now, or kept by a run before this one."""
    stage = f"pairs-by-{hubs}-hubs" if hubs else "pairs"
    folder = corpus.plan.kept_in
    known = None if folder is None else folder.finished(stage)
    if folder is not None and known is not None:
        begin("verified pairs from the checkpoint")
        recalled = partial(_recalled, folder=folder, stage=stage)
        near = kept(each(recalled, corpus.blocks, numbered=True))
        return _pairs(near, sum(near.map(lookup.count_near).collect()), Facts(**known))
    made = _made(corpus, banding, hubs, begin)
    near = made.near
    if folder is not None:
        near = each(partial(_saved, folder=folder, stage=stage), near, numbered=True)
    near = kept(near)
    counts = each(partial(_counts, effort=made.effort), near, made.work).collect()
    count, meetings, verified = map(sum, zip(*counts, strict=True))
    facts = Facts(meetings, verified, made.choice.method, made.choice.why, made.largest_bucket)
    if folder is not None:
        folder.finish(stage, facts._asdict())
    return _pairs(near, count, facts)


def _counts(near: Near, work: Any, *, effort: Callable[[Any], tuple[int, int]]) -> Any:
    return lookup.count_near(near), *effort(work)


def _pairs(near: RDD[Near], count: int, facts: Facts) -> SparkPairs:
    return SparkPairs(
        states=near,
        count=count,
        meetings=facts.meetings,
        verified=facts.verified,
        choice=Choice(facts.method, facts.why),
        largest_bucket=facts.largest_bucket,
    )


def _saved(number: int, near: Near, *, folder: Folder, stage: str) -> Near:
    columns = [column_of(column) for column in near]
    folder.save(stage, number, pa.record_batch(columns, names=list(Near._fields)))
    return near


def _recalled(number: int, _: Any, *, folder: Folder, stage: str) -> Near:
    return Near(*map(numbers_of, folder.load_finished(stage, number).columns))


def _made(corpus: SparkCorpus, banding: Banding, hubs: int, begin: Begin) -> Made:
    """Joined or hashed: what is hashed by its size alone is joined if buckets are too crowded."""
    choice = _settled(corpus, banding) if corpus.choice.is_tentative else corpus.choice
    if choice.method == "exact":
        return _join(_where_joined(corpus), choice, None, begin)
    if banding.hashing.least_drawn:
        return _probe(corpus.taken_apart(), banding, begin)
    begin("buckets")
    shared = _shared(corpus)
    counts = shared.map(partial(bucket.count_crowd, hubs=hubs)).collect()
    meetings, largest = sum(met for met, _ in counts), max(most for _, most in counts)
    choice = _reconsidered(corpus, choice, banding, meetings, hubs)
    if corpus.is_together and meetings > usual_meetings(corpus.counts.different, hubs):
        corpus, shared = corpus.taken_apart(), apart(shared, corpus.partitions)
    if choice.method == "exact":
        return _join(corpus, choice, largest, begin)
    begin("verify")
    near, candidates = _verified(corpus, _candidates(corpus, shared, banding, hubs))
    return Made(near, candidates, verification.effort, choice, largest)


def _where_joined(corpus: SparkCorpus) -> SparkCorpus:
    """Together only if the join costs about what hashing does: others may take any time."""
    is_cheap = corpus.choice.is_tentative or corpus.text <= (corpus.measure.most_to_join or 0)
    return corpus if is_cheap else corpus.taken_apart()


def _settled(corpus: SparkCorpus, banding: Banding) -> Choice:
    """The method that is left of a tentative one."""
    count, read = corpus.counts.different, partial(_read_drawn, corpus)
    return settled(
        corpus.choice, corpus.measure, corpus.settings, banding, count, corpus.text, read
    )


def _read_drawn(corpus: SparkCorpus, drawn: npt.NDArray[np.int64]) -> pa.Array:
    return joined_texts([drawn_texts(corpus, *everyone_of(corpus), drawn)])[1]


def _reconsidered(
    corpus: SparkCorpus, choice: Choice, banding: Banding, meetings: int, hubs: int
) -> Choice:
    """The method again, now that meetings are counted."""
    count = corpus.counts.different
    if not is_crowded(choice, corpus.settings, count, meetings, hubs=hubs):
        return choice
    drawn = draw(count, count_rehearsed(count, corpus.text), corpus.settings.seed)
    documents, texts = joined_texts([drawn_texts(corpus, *everyone_of(corpus), drawn)])
    threshold = corpus.measure.threshold(corpus.settings)
    rehearsal = rehearse(corpus.measure, texts, corpus.sides_of(documents), banding, threshold)
    return reconsider(choice, count, corpus.text, meetings, rehearsal, hubs=hubs)


def _shared(corpus: SparkCorpus) -> RDD[Shared]:
    """Keys travel to buckets; those who are alone there are forgotten."""
    route = partial(_keys_of, partitions=corpus.partitions)
    sent = send(route, corpus.signed, corpus.repeats, numbered=True)
    step = partial(bucket.shared, border=corpus.border)
    return kept(each(step, deliver(sent, corpus.partitions)))


def _probe(corpus: SparkCorpus, banding: Banding, begin: Begin) -> Made:
    """Keys that were drawn travel to every block, pairs to where they are verified."""
    begin("verify")
    partitions = corpus.partitions
    everywhere = partial(probe.drawn_for_all, border=corpus.border, partitions=partitions)
    drawn = deliver(send(everywhere, corpus.signed, corpus.repeats, numbered=True), partitions)
    step = partial(
        probe.probed,
        skipped=corpus.nothing_skipped,
        measure=corpus.measure,
        banding=banding,
        threshold=corpus.measure.threshold(corpus.settings),
        partitions=partitions,
    )
    found = deliver(send(step, corpus.blocks, drawn, numbered=True), partitions)
    near, candidates = _verified(corpus, each(verification.each_once, found))
    return Made(near, candidates, verification.effort, corpus.choice, None)


def _verified(corpus: SparkCorpus, found: RDD[Candidates]) -> tuple[RDD[Near], RDD[Candidates]]:
    """Texts travel to the candidates that need them."""
    candidates = kept(found)
    texts = texts_travel(corpus, send(verification.asks_for_texts, candidates, numbered=True))
    threshold = corpus.measure.threshold(corpus.settings)
    step = partial(verification.verified, measure=corpus.measure, threshold=threshold)
    return each(step, candidates, texts), candidates


def _candidates(
    corpus: SparkCorpus, shared: RDD[Shared], banding: Banding, hubs: int
) -> RDD[Candidates]:
    """Sketches travel to crowded buckets, pairs to where they are verified."""
    partitions = corpus.partitions
    crowds = partial(bucket.crowded, partitions=partitions, hubs=hubs)
    work = kept(deliver(send(crowds, shared, numbered=True), partitions))
    shown = send(bucket.sketches_asked_for, corpus.signed, work, numbered=True)
    compare = partial(_compared, banding=banding, partitions=partitions)
    found = send(compare, work, deliver(shown, partitions))
    return each(verification.each_once, deliver(found, partitions))


def _keys_of(number: int, signed: Any, known: Any, *, partitions: int) -> Any:
    chosen = copy.is_representative(number, signed, known)
    return bucket.keys_by_bucket(
        number, signed.rows, signed.keys, chosen, known.both, partitions=partitions
    )


def _compared(work: Any, answers: Any, *, banding: Banding, partitions: int) -> Any:
    found = bucket.compare(work, answers, banding=banding)
    return verification.pairs_by_place(found, partitions=partitions)


def _join(corpus: SparkCorpus, choice: Choice, largest_bucket: int | None, begin: Begin) -> Made:
    """Texts travel to every task that joins their group."""
    begin("join")
    partitions = corpus.partitions
    groups = join.count_groups(corpus.text, tasks=1 if corpus.is_together else partitions)
    step_of_sides = partial(copy.sided, border=corpus.border)
    everyone = each(step_of_sides, corpus.signed, corpus.repeats, numbered=True)
    travel = partial(
        join.texts_by_group,
        skipped=corpus.nothing_skipped,
        groups=groups,
        partitions=partitions,
    )
    grouped = deliver(send(travel, corpus.blocks, everyone, numbered=True), partitions)
    step = partial(
        join.join_here,
        partitions=partitions,
        groups=groups,
        measure=corpus.measure,
        threshold=corpus.measure.threshold(corpus.settings),
    )
    joined = kept(each(step, grouped, numbered=True))
    return Made(each(join.near_of, joined), joined, join.effort, choice, largest_bucket)


def texts_travel(corpus: SparkCorpus, asks: RDD[Any]) -> RDD[Any]:
    """The texts that were asked for, where they were asked for."""
    asked = deliver(asks, corpus.partitions)
    show = partial(signed_block.read_texts, skipped=corpus.nothing_skipped)
    return deliver(send(show, corpus.blocks, asked, numbered=True), corpus.partitions)
