"""A corpus → verified pairs: joined in groups, or met in buckets and verified."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.engines.spark.corpus import SparkCorpus, SparkPairs
from nearly.engines.spark.exchange import deliver, each, kept, send
from nearly.engines.spark.partition import bucket, copy, join, lookup, signed_block, verification
from nearly.engines.spark.partition.bucket import Candidates, Shared
from nearly.engines.spark.partition.verification import Near, joined_texts
from nearly.engines.spark.sample import drawn_texts, everyone_of
from nearly.settings import Method
from nearly.stages.audit import draw
from nearly.stages.rehearsal import rehearse
from nearly.tuning.banding import Banding
from nearly.tuning.method import Choice, count_rehearsed, is_crowded, reconsider

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


def near_pairs(corpus: SparkCorpus, banding: Banding, hubs: int, begin: Begin) -> SparkPairs:
    """Found now, or kept by a run before this one."""
    stage = f"pairs-by-{hubs}-hubs" if hubs else "pairs"
    folder = corpus.plan.kept_in
    known = None if folder is None else folder.finished(stage)
    if folder is not None and known is not None:
        begin("verified pairs from the checkpoint")
        recalled = each(
            partial(_recalled, folder=folder, stage=stage), corpus.blocks, numbered=True
        )
        return _counted(kept(recalled), Facts(**known))
    near, facts = _found(corpus, banding, hubs, begin)
    if folder is None:
        return _counted(kept(near), facts)
    saved = each(partial(_saved, folder=folder, stage=stage), near, numbered=True)
    found = _counted(kept(saved), facts)
    folder.finish(stage, facts._asdict())
    return found


def _counted(near: RDD[Near], facts: Facts) -> SparkPairs:
    return SparkPairs(
        states=near,
        count=sum(near.map(lookup.count_near).collect()),
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


def _found(
    corpus: SparkCorpus, banding: Banding, hubs: int, begin: Begin
) -> tuple[RDD[Near], Facts]:
    """Joined or hashed: what is hashed by its size alone is joined if buckets are too crowded."""
    if corpus.choice.method == "exact":
        return _join(corpus, corpus.choice, None, begin)
    begin("buckets")
    shared = _shared(corpus)
    counts = shared.map(partial(bucket.count_crowd, hubs=hubs)).collect()
    meetings, largest = sum(met for met, _ in counts), max(most for _, most in counts)
    choice = _reconsidered(corpus, banding, meetings, hubs)
    if choice.method == "exact":
        return _join(corpus, choice, largest, begin)
    near, meetings, verified = _hash(corpus, shared, banding, hubs, begin)
    return near, Facts(meetings, verified, choice.method, choice.why, largest)


def _reconsidered(corpus: SparkCorpus, banding: Banding, meetings: int, hubs: int) -> Choice:
    """The method again, now that meetings are counted; hubs keep them few."""
    count, choice = corpus.counts.different, corpus.choice
    if hubs or not is_crowded(choice, corpus.settings, count, meetings):
        return choice
    drawn = draw(count, count_rehearsed(count, corpus.text), corpus.settings.seed)
    _, texts = joined_texts([drawn_texts(corpus, *everyone_of(corpus), drawn)])
    threshold = corpus.measure.threshold(corpus.settings)
    rehearsal = rehearse(corpus.measure, texts, banding, threshold)
    return reconsider(choice, count, corpus.text, meetings, rehearsal)


def _shared(corpus: SparkCorpus) -> RDD[Shared]:
    """Keys travel to buckets; those who are alone there are forgotten."""
    route = partial(_keys_of, partitions=corpus.partitions)
    sent = send(route, corpus.signed, corpus.repeats, numbered=True)
    return kept(each(bucket.shared, deliver(sent, corpus.partitions)))


def _hash(
    corpus: SparkCorpus, shared: RDD[Shared], banding: Banding, hubs: int, begin: Begin
) -> tuple[RDD[Near], int, int]:
    """Texts travel to the candidates that need them."""
    begin("candidates")
    candidates = kept(_candidates(corpus, shared, banding, hubs))
    counts = candidates.map(verification.count_candidates).collect()
    begin("verify")
    texts = texts_travel(corpus, send(verification.asks_for_texts, candidates, numbered=True))
    threshold = corpus.measure.threshold(corpus.settings)
    step = partial(verification.verified, measure=corpus.measure, threshold=threshold)
    verified = sum(count for count, _ in counts)
    return each(step, candidates, texts), sum(meetings for _, meetings in counts), verified


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
    return bucket.keys_by_bucket(number, signed.rows, signed.keys, chosen, partitions=partitions)


def _compared(work: Any, answers: Any, *, banding: Banding, partitions: int) -> Any:
    found = bucket.compare(work, answers, banding=banding)
    return verification.pairs_by_place(found, partitions=partitions)


def _join(
    corpus: SparkCorpus, choice: Choice, largest_bucket: int | None, begin: Begin
) -> tuple[RDD[Near], Facts]:
    """Texts travel to every task that joins their group."""
    begin("join")
    partitions, groups = corpus.partitions, join.count_groups(corpus.text)
    everyone = each(copy.representatives, corpus.signed, corpus.repeats, numbered=True)
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
    meetings, verified = map(sum, zip(*joined.map(join.counts).collect(), strict=True))
    facts = Facts(meetings, verified, choice.method, choice.why, largest_bucket)
    return each(join.near_of, joined), facts


def texts_travel(corpus: SparkCorpus, asks: RDD[Any]) -> RDD[Any]:
    """The texts that were asked for, where they were asked for."""
    asked = deliver(asks, corpus.partitions)
    show = partial(signed_block.read_texts, skipped=corpus.nothing_skipped)
    return deliver(send(show, corpus.blocks, asked, numbered=True), corpus.partitions)
