"""A corpus → verified pairs: joined in groups, or met in buckets and verified."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.engines.spark.corpus import SparkCorpus, SparkPairs
from nearly.engines.spark.exchange import deliver, each, kept, send
from nearly.engines.spark.partition import bucket, copy, join, lookup, signed_block, verification
from nearly.engines.spark.partition.bucket import Candidates
from nearly.engines.spark.partition.verification import Near
from nearly.tuning.banding import Banding

if TYPE_CHECKING:
    from pyspark import RDD

    from nearly.documents.folder import Folder

__all__ = ["near_pairs", "texts_travel"]

Begin = Callable[[str], None]


def near_pairs(corpus: SparkCorpus, banding: Banding, hubs: int, begin: Begin) -> SparkPairs:
    """Found now, or kept by a run before this one."""
    is_exact = corpus.choice.method == "exact"
    stage = "near-exact" if is_exact else f"near-by-{hubs}-hubs" if hubs else "near"
    folder = corpus.plan.kept_in
    known = None if folder is None else folder.finished(stage)
    if folder is not None and known is not None:
        begin("verified pairs from the checkpoint")
        recalled = each(
            partial(_recalled, folder=folder, stage=stage), corpus.blocks, numbered=True
        )
        return _counted(kept(recalled), known["meetings"], known["verified"])
    if is_exact:
        near, meetings, verified = _join(corpus, begin)
    else:
        near, meetings, verified = _hash(corpus, banding, hubs, begin)
    if folder is None:
        return _counted(kept(near), meetings, verified)
    saved = each(partial(_saved, folder=folder, stage=stage), near, numbered=True)
    found = _counted(kept(saved), meetings, verified)
    folder.finish(stage, {"meetings": meetings, "verified": verified})
    return found


def _counted(near: RDD[Near], meetings: int, verified: int) -> SparkPairs:
    count = sum(near.map(lookup.count_near).collect())
    return SparkPairs(states=near, count=count, meetings=meetings, verified=verified)


def _saved(number: int, near: Near, *, folder: Folder, stage: str) -> Near:
    columns = [column_of(column) for column in near]
    folder.save(stage, number, pa.record_batch(columns, names=list(Near._fields)))
    return near


def _recalled(number: int, _: Any, *, folder: Folder, stage: str) -> Near:
    return Near(*map(numbers_of, folder.load_finished(stage, number).columns))


def _hash(
    corpus: SparkCorpus, banding: Banding, hubs: int, begin: Begin
) -> tuple[RDD[Near], int, int]:
    """Texts travel to the candidates that need them."""
    begin("candidates")
    candidates = kept(_candidates(corpus, banding, hubs))
    counts = candidates.map(verification.count_candidates).collect()
    begin("verify")
    texts = texts_travel(corpus, send(verification.asks_for_texts, candidates, numbered=True))
    threshold = corpus.measure.threshold(corpus.settings)
    step = partial(verification.verified, measure=corpus.measure, threshold=threshold)
    verified = sum(count for count, _ in counts)
    return each(step, candidates, texts), sum(meetings for _, meetings in counts), verified


def _candidates(corpus: SparkCorpus, banding: Banding, hubs: int) -> RDD[Candidates]:
    """Keys travel to buckets, sketches to crowded ones, pairs to where they are verified."""
    partitions = corpus.partitions
    route = partial(_keys_of, partitions=partitions)
    keys = deliver(send(route, corpus.signed, corpus.repeats, numbered=True), partitions)
    crowds = partial(bucket.crowded, partitions=partitions, hubs=hubs)
    work = kept(deliver(send(crowds, keys, numbered=True), partitions))
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


def _join(corpus: SparkCorpus, begin: Begin) -> tuple[RDD[Near], int, int]:
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
    return each(join.near_of, joined), meetings, verified


def texts_travel(corpus: SparkCorpus, asks: RDD[Any]) -> RDD[Any]:
    """The texts that were asked for, where they were asked for."""
    asked = deliver(asks, corpus.partitions)
    show = partial(signed_block.read_texts, skipped=corpus.nothing_skipped)
    return deliver(send(show, corpus.blocks, asked, numbered=True), corpus.partitions)
