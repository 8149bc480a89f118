"""A source → a corpus: every partition signs its block; then equal ids meet, and equal texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from nearly.documents.block import SignedBlock, Tally, identity_of
from nearly.documents.corpus import Counts
from nearly.documents.folder import Folder, fingerprint
from nearly.documents.place import Stretch
from nearly.documents.readable import Skips, nothing_read
from nearly.engines.spark.block import (
    both_sides,
    fingerprint_of,
    first_rows_of_frames,
    narrowed,
)
from nearly.engines.spark.corpus import MOST_TOGETHER, Blocks, SparkCorpus
from nearly.engines.spark.exchange import deliver, each, kept, send, together
from nearly.engines.spark.frequency import counted
from nearly.engines.spark.partition import copy, signed_block
from nearly.engines.spark.partition.border import Border
from nearly.engines.spark.partition.copy import Repeats
from nearly.engines.spark.partition.signed_block import Plan
from nearly.engines.spark.shelf import Room
from nearly.measures.base import Measure
from nearly.measures.shingle import SIGNATURE_VERSION
from nearly.settings import Settings
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding
from nearly.tuning.method import choose_method

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

__all__ = ["load"]


def load(
    session: SparkSession,
    source: Any,
    measure: Measure,
    settings: Settings,
    banding: Banding,
    skipped: Skips,
    *,
    keep: Keep | None,
    checkpoint: str | None,
    room: Room | None,
) -> SparkCorpus:
    """Read and sign a source. Signed blocks are kept in `checkpoint`, and taken from there."""
    if keep is None:  # nobody will ask for whole rows
        source = narrowed(source)
    rule_type = source.type_of(keep.column) if keep and keep.column else None
    blocks, old_blocks = both_sides(session, source, rule_type)
    border = None
    if old_blocks is not None:
        lists_copies = settings.all_pairs and keep is None
        border = Border(old_blocks, keep is not None, lists_copies)
    plan = Plan(
        measure=measure,
        banding=banding,
        is_exact=settings.method == "exact" or measure.hashing is None,
        keep=keep,
        id_type=source.id_type,
        rule_type=rule_type,
        check_ids=not source.ids_are_unique,
        skipped=skipped.another(),
        kept_in=None,
        border=border,
    )
    plan = plan._replace(kept_in=_folder(checkpoint, source, plan, settings, blocks))
    plan, signed, tallies = _sign(blocks, counted(blocks, plan))
    _list(signed, signed_block.listed_skips, [tally.skipped for tally in tallies], skipped)
    total = _sum(tallies)
    if total.documents == 0 and len(skipped):
        raise nothing_read(source, skipped)
    read = Blocks(blocks, signed)
    partitions = signed.getNumPartitions()
    if room is not None and total.bytes <= MOST_TOGETHER and partitions > 1:
        blocks, signed = together(blocks), together(signed)
    repeats, copies, repeated_ids, later = _repeats(signed, plan, partitions)
    if repeated_ids:
        plan = plan._replace(with_places=True)
        repeats = _with_stretches(source, blocks, old_blocks, repeats)
    new = slice(old_blocks, None)
    told = _sum(tallies[new])
    choice = choose_method(
        settings,
        total.documents,
        total.bytes,
        measure,
        clusters_only=keep is not None,
        is_sided=border is not None,
    )
    return SparkCorpus(
        settings=plan.measure.decided(settings),
        choice=choice,
        counts=Counts(
            documents=told.documents,
            empty=told.empty,
            ignored=told.ignored,
            copies=sum(copies[new]),
            repeated_ids=repeated_ids,
            sharing_ids=repeated_ids + later,
            against=None if border is None else total.documents - told.documents,
            different=total.documents - total.empty - total.ignored - sum(copies),
        ),
        links=sum(copies),
        partitions=partitions,
        compared=[
            tally.documents - tally.empty - tally.ignored - count
            for tally, count in zip(tallies, copies, strict=True)
        ],
        read=read,
        source=source,
        plan=plan,
        text=total.bytes,
        blocks=blocks,
        signed=signed,
        repeats=repeats,
        room=room,
    )


def _folder(
    checkpoint: str | None, source: Any, plan: Plan, settings: Settings, blocks: RDD[Any]
) -> Folder | None:
    """Where stages of this very run are kept, or were kept by one that broke off."""
    if checkpoint is None:
        return None
    run = fingerprint(
        version=version("nearly"),
        signature=SIGNATURE_VERSION,
        measure=plan.measure.facts(),
        settings=settings.to_dict(),
        banding=plan.banding,
        keep=plan.keep,
        source=fingerprint_of(source, plan.rule_column),
        border=plan.border,
        partitions=blocks.getNumPartitions(),
    )
    return Folder(checkpoint, run)


def _sign(blocks: RDD[Any], plan: Plan) -> tuple[Plan, RDD[SignedBlock], list[Tally]]:
    """Each block with the measure that its first documents suggest; again, if all say otherwise."""
    signed = kept(each(partial(signed_block.sign_block, plan=plan), blocks, numbered=True))
    found = signed.map(signed_block.summary).collect()
    total = _sum([tally for tally, _ in found])
    plan = plan.settled(total.extent / max(1, total.documents))
    decided = identity_of(plan.measure)
    if any(tally.documents and measured_by != decided for tally, measured_by in found):
        again = partial(signed_block.sign_again, plan=plan)
        signed = kept(each(again, blocks, signed, numbered=True))
        found = signed.map(signed_block.summary).collect()
    return plan, signed, [tally for tally, _ in found]


def _repeats(
    signed: RDD[SignedBlock], plan: Plan, partitions: int
) -> tuple[RDD[Repeats], list[int], int, int]:
    """Who came later in each block; how many by text in each, how many ids repeat, how many came
    later."""
    step = partial(copy.digests_of, check_ids=plan.check_ids, partitions=partitions)
    there = deliver(send(step, signed, numbered=True), partitions)
    first_of_each = partial(copy.first_of_each, border=plan.border)
    repeats = kept(each(copy.repeats, deliver(send(first_of_each, there), partitions)))
    counts = repeats.map(copy.count_repeats).collect()
    by_id, copies = map(list, zip(*counts, strict=True))
    later = sum(by_id)
    repeated = sum(there.map(copy.count_repeated_ids).collect()) if later else 0
    return repeats, copies, repeated, later


def _with_stretches(
    source: Any, blocks: RDD[Any], old_blocks: int | None, repeats: RDD[Repeats]
) -> RDD[Repeats]:
    """The same, with what rows belong to: a file, or all of a frame."""
    starts = first_rows_of_frames(source, blocks, old_blocks)
    step = partial(copy.with_stretches, starts=starts)
    return kept(each(step, repeats, each(_stretches, blocks), numbered=True))


def _stretches(block: Any) -> Sequence[Stretch]:
    found: Sequence[Stretch] = block.stretches()
    return found


def _sum(tallies: Sequence[Tally]) -> Tally:
    return Tally(*map(sum, zip(*tallies, strict=True)))


def _list(
    states: RDD[Any], step: Callable[..., Any], counts: Sequence[int], skipped: Skips
) -> None:
    """Lists of skipped records, block by block, as far as there is room for them."""
    wanted = [number for number, count in enumerate(counts) if count]
    if not wanted:
        return
    for listed in states.context.runJob(states, partial(step, skipped.room), wanted):
        skipped.merge(listed)
