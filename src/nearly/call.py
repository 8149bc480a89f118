"""What the public functions do, once their arguments are settings: one call of the pipeline.

`nearly.api` is generated from the signatures and docstrings here and the declarations of the
settings: run `python tools/make_api.py` after a change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearly import pipeline
from nearly.arguments import (
    Comparing,
    Cutting,
    Deduplicating,
    Finding,
    Reading,
    Running,
    Tuning,
)
from nearly.declaration import declarations
from nearly.documents.lookup import SourceTexts, SpeltIds
from nearly.errors import SettingsError
from nearly.job import measure_of, opened_job, prepared
from nearly.measures.choice import choose_measure
from nearly.progress import Silence
from nearly.results import Comparison, Deduplicated, Found
from nearly.run import (
    Lying,
    engine_name,
    in_parts,
    in_parts_on_disk,
    on_one_machine,
    reopened,
    skipped_records,
)
from nearly.settings import (
    CutSettings,
    ExplainSettings,
    PassageSettings,
    Settings,
    SignatureSettings,
    TextSettings,
    UniqueSettings,
)
from nearly.sources import Skipped
from nearly.sources.template import with_templates
from nearly.sources.weight import read_weights
from nearly.stages.survivor import Keep
from nearly.text.unit import unit_of

if TYPE_CHECKING:
    from nearly.advice.advice import Advice
    from nearly.evaluation.mention import Mentions
    from nearly.explanation import Explanation
    from nearly.measures.base import Measure
    from nearly.passage.cut_result import Cut
    from nearly.passage.hole import LeftOut
    from nearly.passage.result import Passages
    from nearly.plans.plan import Plan
    from nearly.streams.stream import Unique

__all__ = [
    "compare",
    "cut_repeats",
    "dedup",
    "explain",
    "find",
    "mentions",
    "passages",
    "plan",
    "tune",
    "unique",
]


def find(source: Any, settings: Settings, finding: Finding, running: Running) -> Found:
    """Find every pair of documents at least as similar as the threshold.

    The source is a path, a pattern of paths, a list of paths, a SQL query, a list of texts, a
    dict of id to text, or a pandas, polars, Arrow or Spark table. On Spark, the tables of the
    result are lazy Spark DataFrames.

    With `against`, another source of old documents, every pair is one of an old document, which
    comes first, and a new one. It may be an index (`nearly.Index`, or its folder), whose settings
    hold then.
    """
    with opened_job(source, settings, finding, running) as job:
        if job.index is not None and (finding.audit or finding.around):
            raise SettingsError(
                "an audit and the pairs around the threshold search all old documents exactly, and "
                "an index is asked by hashing; leave them out, or give the old documents as a "
                "source"
            )
        if finding.difference:
            _check_words(job.read, job.measure)
        found = pipeline.find(
            job.read,
            job.measure,
            job.settings,
            job.engine,
            job.skipped,
            audited=finding.audit,
            unique_ids=finding.unique_ids,
            top=finding.top,
            around=finding.around,
        )
    found = replace(found, origin=job.origin(), statistics=job.told(found.statistics))
    return found.with_difference() if finding.difference else found


def _check_words(read: Any, measure: Measure) -> None:
    """Refuse to tell the kind of difference where there are no words: before the long work."""
    unit = unit_of(measure.name, read.facts())
    if unit in (None, "item"):
        kind = "vectors" if unit is None else "items"
        raise SettingsError(
            f"difference tells in what kind of words two texts differ, and {read.name} holds "
            f"{kind}; leave it out"
        )


def dedup(
    source: Any, settings: Settings, deduplicating: Deduplicating, running: Running
) -> Deduplicated:
    """Keep one document of each cluster.

    The source is anything that `find` takes. Every removed document names its survivor. With
    `against`, another source of old documents or an index, new ones that are like an old one go
    too; what was old stays, and is no part of the clean copy. `survivors` of the result are what an
    index can be given then.
    """
    rule = None if deduplicating.keep is None else Keep.parse(deduplicating.keep)
    engine_is = engine_name(source, running, deduplicating.against)
    if running.by is not None and engine_is != "local":
        raise SettingsError(
            "rows of a long table are removed on one machine only; leave engine and master out, "
            "or find the pairs on Spark"
        )
    if deduplicating.unreadable == "fail":
        running = replace(running, strict=True)
    with opened_job(source, settings, deduplicating, running) as job:
        read, measure = job.read, job.measure
        read.drops_unreadable = deduplicating.unreadable == "drop"
        rule = rule or Keep.parse(measure.usual_keep)
        digests = read.keep_digests() if getattr(read, "is_folder", False) else {}
        clean = pipeline.dedup(
            read,
            measure,
            measure.settings_to_dedup(job.settings),
            job.engine,
            job.skipped,
            rule,
            unique_ids=deduplicating.unique_ids,
        )
    return replace(
        clean,
        origin=job.origin(),
        digests=digests,
        statistics=job.told(clean.statistics),
        survivors=job.survivors(),
    )


def cut_repeats(source: Any, settings: CutSettings, cutting: Cutting, running: Running) -> Cut:
    """Cut repeated sentences, paragraphs or lines out of documents; one place of each stays.

    The source is anything that `find` takes, with one column of text. A piece goes if it belongs to
    pieces in a row that stand, equal but for case and white space, at an earlier place, and that
    have at least `least` words together. Every cut names what stays for it. Runs on one machine.
    """
    from nearly.passage.collected import collect
    from nearly.passage.cutting import cut_of
    from nearly.passage.piece_store import PieceStore

    keep = Keep.parse(cutting.keep)
    _check_local(source, running, "text is cut")
    if cutting.unreadable == "fail":
        running = replace(running, strict=True)
    skipped = skipped_records(running)
    with on_one_machine(source, running) as (read, engine):
        read.drops_unreadable = cutting.unreadable == "drop"
        _check_texts(read)
        if len(read.text_columns) > 1:
            raise SettingsError(
                f"text is {', '.join(read.text_columns)}, and a text that is cut has to stand in "
                "one column; name one of them"
            )
        engine.progress.stage("reading", None)
        pieces = PieceStore(engine.shop.budget, engine.shop.folder)
        collected = collect(read, skipped, settings, keep, pieces, engine.progress)
        engine.progress.stage("passages", None)
        return cut_of(read, collected, skipped, settings, keep)


def explain(documents: Any, settings: ExplainSettings, shingling: TextSettings) -> Explanation:
    """Show the textbook's way from a few small documents to similar pairs, table by table.

    Documents are texts by name, a list of texts, or sets by name. Shingles, characteristic matrix,
    hash functions or permutations, the signature matrix as it fills row by row, bands and buckets,
    candidates and true similarities are tables of the result.
    """
    from nearly.explanation import explain_documents

    return explain_documents(documents, settings, with_templates(shingling))


def plan(
    folder: str | Path, settings: Settings, deduplicating: Deduplicating, running: Running
) -> Plan:
    """Plan which files of a folder to remove, so that one file of each cluster stays.

    Nothing is removed yet. In `nearly.plans`, `save_plan` writes the plan to a file, `check_plan`
    says what it would do now, and `apply_plan` does it.
    """
    return dedup(folder, settings, deduplicating, running).plan()


def mentions(source: Any, reading: Reading) -> Mentions:
    """Group texts that differ only in whom they mention (@name), as a truth for `evaluate`.

    Such texts should be found as similar, and nobody has to label them. Only the recall counts:
    other documents may be similar too.
    """
    from nearly.evaluation.mention import Mentions, differing_in_mentions, named_groups

    skipped = Skipped(strict=reading.strict)
    running = Running(**{name: getattr(reading, name) for name in declarations(Reading)})
    read = reopened(source, running)
    if read.holds_items or read.shape is not None:
        raise SettingsError(
            "mentions stand in texts, and items or vectors were named; leave them out"
        )
    ids: dict[int, Any] = {}  # by row, for others may have the id of a document

    def documents() -> Iterator[tuple[int, str]]:
        for batch in read.documents(skipped):
            for row in batch.to_pylist():
                ids[row["row"]] = row["id"]
                yield row["row"], row["text"]

    groups = named_groups(differing_in_mentions(documents()), ids, read.stretches())
    return Mentions(groups=groups, skipped=skipped.table(), skipped_count=len(skipped))


def passages(
    source: Any,
    against: Any = None,
    ignore: Any = None,
    *,
    settings: PassageSettings,
    running: Running,
) -> Passages:
    """Find the passages that documents share, and where they stand.

    The source is anything that `find` takes. All its documents are compared with each other; with
    `against`, another source, only documents of the one with documents of the other. What stands
    in the documents of `ignore`, a source too, is left out. On Spark documents are compared where
    they lie, and the tables of what was found are brought here. With a limit on memory, parts of
    the documents are put on disk and compared one after the other.
    """
    skipped = skipped_records(running)
    lying = in_parts(source, running, against)
    if lying is None and running.memory is not None:
        lying = in_parts_on_disk(source, running, against, skipped)
    if lying is None:
        return _passages_here(source, against, ignore, settings, running, skipped)
    return _passages_in_parts(lying, ignore, settings, running, skipped)


def _passages_here(
    source: Any,
    against: Any,
    ignore: Any,
    settings: PassageSettings,
    running: Running,
    skipped: Skipped,
) -> Passages:
    from nearly.passage.result import Passages
    from nearly.passage.whole import found_together

    progress = running.progress or Silence()
    progress.stage("reading", None)
    opened_source = reopened(source, running)
    _check_texts(opened_source)
    opened_other = None if against is None else reopened(against, running)
    found = found_together(
        opened_source,
        opened_other,
        _left_out(ignore, settings, running, skipped),
        settings,
        (skipped, Skipped(strict=False)),
        running.threads or os.cpu_count() or 1,
        progress,
    )
    return Passages(
        **found,
        skipped=skipped.table(),
        skipped_count=len(skipped),
        settings=settings,
        read_source=_texts_of(opened_source),
        read_against=_texts_of(opened_other or opened_source),
    )


def _texts_of(source: Any) -> SpeltIds:
    return SpeltIds(SourceTexts(source, Skipped(), ids_repeat=True), source.id_type)


def _passages_in_parts(
    lying: Lying,
    ignore: Any,
    settings: PassageSettings,
    running: Running,
    skipped: Skipped,
) -> Passages:
    from nearly.passage.parted import found_in_parts
    from nearly.passage.reading import check_column
    from nearly.passage.result import Passages

    progress = running.progress or Silence()
    progress.stage("reading", None)
    with lying as (sources, parts_with):
        for each in sources:
            _check_texts(each)
        (column, *_) = [check_column(each, settings.group) for each in sources]
        parts = parts_with(column)
        left_out = _left_out(ignore, settings, running, skipped)
        progress.stage("passages", None)
        id_types = [each.id_type for each in sources]
        found = found_in_parts(parts, id_types, left_out, settings, skipped)
        readers = [
            SpeltIds(parts.text_reader(side, Skipped()), id_type)
            for side, id_type in enumerate(id_types)
        ]
    return Passages(
        **found,
        skipped=skipped.table(),
        skipped_count=len(skipped),
        settings=settings,
        read_source=readers[0],
        read_against=readers[-1],
    )


def _left_out(
    ignore: Any, settings: PassageSettings, running: Running, skipped: Skipped
) -> LeftOut:
    """What stands in the documents to be ignored, which are read on this machine."""
    from nearly.passage.hole import ignored_grams
    from nearly.passage.reading import read

    if ignore is None:
        return {}
    here = replace(running, id=None, text=None, glob=None, lines=False)
    return ignored_grams(read(reopened(ignore, here), skipped, None).texts, settings)


def _check_local(source: Any, running: Running, what: str) -> None:
    """Refuse Spark."""
    if engine_name(source, running) != "local":
        raise SettingsError(
            f"{what} on one machine; leave engine and master out, and of a Spark DataFrame give "
            "frame.toArrow()"
        )


def _check_texts(source: Any) -> None:
    """Refuse sets and vectors."""
    if source.holds_items or source.shape is not None:
        raise SettingsError(
            "passages stand in texts, and items or vectors were named; leave them out"
        )


def tune(source: Any = None, *, settings: Settings, tuning: Tuning, running: Running) -> Advice:
    """Choose bands and rows, and predict what they will find and cost.

    With a source, some of its documents are searched exactly among all others, and the predictions
    are about this corpus. Without one they come from the mathematics alone. Bands and rows, where
    they are given, are explained. Runs on one machine.
    """
    from nearly.advice import advice

    if engine_name(source, running) != "local":
        raise SettingsError(
            "tune surveys a corpus on one machine; leave engine and master out, and of a Spark "
            "DataFrame give a sample, as in frame.sample(0.01).toArrow()"
        )
    settings = prepared(tuning, settings)
    weights = read_weights(settings.weights)
    if source is None:
        usual = None if tuning.embed is None else "cosine"
        measure = choose_measure(tuning.measure or usual, settings, None)
        return advice.advise(measure, settings, tuning.chooser, tuning.documents)
    settings.check_length()
    with on_one_machine(source, running) as (surveyed, engine):
        return advice.survey(
            surveyed,
            measure_of(tuning, settings, running, surveyed, weights),
            settings,
            engine,
            skipped_records(running),
            chooser=tuning.chooser,
            sample=tuning.sample,
            progress=running.progress or Silence(),
        )


def compare(
    a: str, b: str, text: TextSettings, signature: SignatureSettings, comparing: Comparing
) -> Comparison:
    """Compare two texts: similarity, containment, what a signature estimates, and what differs.

    Where k is auto, the mean length of both texts decides it. A run of `find` decides it by the
    mean length of all documents, so give that run's k to get the same similarity.
    """
    from nearly.comparison import compare_texts

    text = with_templates(text)
    return compare_texts(a, b, text, signature, comparing.name_a, comparing.name_b)


def unique(source: Any, settings: UniqueSettings, shingling: TextSettings) -> Unique:
    """Drop copies from a stream of any length, in memory that is fixed beforehand.

    The source is a path, a file that is open for reading bytes, or texts one by one; lines come out
    with their ends, byte for byte. Iterate over the result, and ask for its `statistics`. Every
    copy is dropped; a text that is none is dropped with a chance of at most `error`. Near-copies
    are told by bands and not verified. Runs on one machine.
    """
    from nearly.streams.stream import Unique

    return Unique(source, settings, with_templates(shingling))
