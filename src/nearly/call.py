"""What the public functions do, once their arguments are settings: one call of the pipeline.

`nearly.api` is generated from the signatures and docstrings here and the declarations of the
settings: run `python tools/make_api.py` after a change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from nearly import pipeline
from nearly.arguments import Comparing, Deduplicating, Finding, Measuring, Reading, Running, Tuning
from nearly.comparison import compare_texts
from nearly.declaration import declarations
from nearly.errors import SettingsError
from nearly.evaluation.mention import Mentions, differing_in_mentions
from nearly.measures.base import Measure
from nearly.measures.item_jaccard import ItemJaccard
from nearly.measures.jaccard import Jaccard
from nearly.origin import origin_of
from nearly.passage.result import Passages
from nearly.plans.plan import Plan
from nearly.progress import Silence
from nearly.results import Comparison, Deduplicated, Found
from nearly.run import engine_name, on_one_machine, opened, reopened, skipped_records
from nearly.settings import (
    ExplainSettings,
    PassageSettings,
    Settings,
    SignatureSettings,
    TextSettings,
    UniqueSettings,
)
from nearly.sources import Skipped
from nearly.sources.template import with_templates
from nearly.stages.survivor import Keep

if TYPE_CHECKING:
    from nearly.advice.advice import Advice
    from nearly.explanation import Explanation
    from nearly.streams.stream import Unique

__all__ = ["compare", "dedup", "explain", "find", "mentions", "passages", "plan", "tune", "unique"]


def find(source: Any, settings: Settings, finding: Finding, running: Running) -> Found:
    """Find every pair of documents at least as similar as the threshold.

    The source is a path, a pattern of paths, a list of paths, a SQL query, a list of texts, a
    dict of id to text, or a pandas, polars, Arrow or Spark table. On Spark, the tables of the
    result are lazy Spark DataFrames.
    """
    if finding.difference and engine_name(source, running) != "local":
        raise SettingsError(
            "difference is told on one machine only; leave it out on Spark, where found.top tells "
            "it for the most similar pairs"
        )
    settings = _prepared(finding, settings)
    with _run(source, settings, running) as (read, engine, skipped):
        measure = _measure(finding, settings, read)
        found = pipeline.find(
            read,
            measure,
            settings,
            engine,
            skipped,
            audited=finding.audit,
            unique_ids=finding.unique_ids,
            top=finding.top,
            around=finding.around,
        )
    found = replace(found, origin=origin_of(source, running, read))
    return found.with_difference() if finding.difference else found


def dedup(
    source: Any, settings: Settings, deduplicating: Deduplicating, running: Running
) -> Deduplicated:
    """Keep one document of each cluster.

    The source is anything that `find` takes. Every removed document names its survivor.
    """
    rule = Keep.parse(deduplicating.keep)
    if running.by is not None and engine_name(source, running) != "local":
        raise SettingsError(
            "rows of a long table are removed on one machine only; leave engine and master out, "
            "or find the pairs on Spark"
        )
    if deduplicating.unreadable == "fail":
        running = replace(running, strict=True)
    settings = _prepared(deduplicating, settings)
    with _run(source, settings, running) as (read, engine, skipped):
        read.drops_unreadable = deduplicating.unreadable == "drop"
        measure = _measure(deduplicating, settings, read)
        digests = read.keep_digests() if getattr(read, "is_folder", False) else {}
        clean = pipeline.dedup(
            read, measure, settings, engine, skipped, rule, unique_ids=deduplicating.unique_ids
        )
    return replace(clean, origin=origin_of(source, running, read), digests=digests)


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
    skipped = Skipped(strict=reading.strict)
    running = Running(**{name: getattr(reading, name) for name in declarations(Reading)})
    read = reopened(source, running)
    if read.holds_items:
        raise SettingsError("mentions stand in texts, and items were named; leave items out")
    batches = read.documents(skipped)
    rows = (row for batch in batches for row in batch.select(["id", "text"]).to_pylist())
    groups = differing_in_mentions((row["id"], row["text"]) for row in rows)
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
    in the documents of `ignore`, a source too, is left out. Runs on one machine.
    """
    from nearly.passage.reading import corpus_of, read
    from nearly.passage.result import tables
    from nearly.passage.search import search

    if engine_name(source, running) != "local":
        raise SettingsError(
            "passages are found on one machine; leave engine and master out, and of a Spark "
            "DataFrame give frame.toArrow()"
        )
    if running.memory is not None:
        raise SettingsError("passages are found with all texts in memory; leave memory out")
    progress = running.progress or Silence()
    skipped = skipped_records(running)
    progress.stage("reading", None)
    opened_source = reopened(source, running)
    if opened_source.holds_items:
        raise SettingsError("passages stand in texts, and items were named; leave items out")
    one = read(opened_source, skipped, settings.group)
    opened_other = None if against is None else reopened(against, running)
    other = None if opened_other is None else read(opened_other, skipped, settings.group)
    left_out = replace(running, id=None, text=None, glob=None, lines=False)
    ignored = [] if ignore is None else [read(reopened(ignore, left_out), skipped, None)]
    corpus = corpus_of(one, other, ignored[0].texts if ignored else one.texts.slice(0, 0))
    progress.stage("passages", None)
    found, places = search(corpus, settings, running.threads or os.cpu_count() or 1)
    return Passages(
        **tables(
            found,
            places,
            one.ids + (other.ids if other else []),
            one.id_type if other is None or one.id_type == other.id_type else pa.string(),
            pc.utf8_length(corpus.texts).to_pylist(),
            listed=len(one.ids),
        ),
        skipped=skipped.table(),
        skipped_count=len(skipped),
        settings=settings,
        read_texts=_reader(opened_source, opened_other),
    )


def _reader(*sources: Any) -> Callable[[Iterable[Any]], Mapping[Any, str]]:
    """Looks texts up in the sources, which are read again."""

    def texts(ids: Iterable[Any]) -> Mapping[Any, str]:
        wanted = set(ids)
        found: dict[Any, str] = {}
        for source in sources:
            for batch in [] if source is None else source.documents(Skipped(strict=False)):
                for row in batch.select(["id", "text"]).to_pylist():
                    if row["id"] in wanted:
                        found.setdefault(row["id"], row["text"])
        return found

    return texts


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
    settings = _prepared(tuning, settings)
    if source is None:
        measure = _measure(tuning, settings, None)
        return advice.advise(measure, settings, tuning.chooser, tuning.documents)
    settings.check_length()
    with on_one_machine(source, running) as (surveyed, engine):
        return advice.survey(
            surveyed,
            _measure(tuning, settings, surveyed),
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


def _prepared(measuring: Measuring, settings: Settings) -> Settings:
    """The settings with the texts to ignore: read before a source is opened, which takes longer."""
    if measuring.measure is not None:
        _refuse_to_drop(settings, f"{measuring.measure.name} was given as the measure")
    return replace(settings, text=with_templates(settings.text))


def _measure(measuring: Measuring, settings: Settings, source: Any) -> Measure:
    """The one that was given, or Jaccard similarity: of items where there are any, or shingles."""
    if measuring.measure is not None:
        return measuring.measure
    if source is None or not source.holds_items:
        return Jaccard.of(settings)
    _refuse_to_drop(settings, f"{source.name} holds items, which are compared as they are")
    for name, declared in declarations(TextSettings).items():
        given = getattr(settings.text, name)
        if given != declared.default:
            raise SettingsError(
                f"{name} is {given!r}, which is about texts, and {source.name} holds items, which "
                f"are compared as they are; leave {name} out"
            )
    return ItemJaccard.of(settings)


def _refuse_to_drop(settings: Settings, why: str) -> None:
    for name, given in (("ignore", settings.text.ignore), ("common", settings.common)):
        if given:
            raise SettingsError(f"{name} drops shingles, and {why}; leave one of them out")


@contextmanager
def _run(given: Any, settings: Settings, running: Running) -> Iterator[tuple[Any, Any, Skipped]]:
    settings.check_length()
    with opened(given, running) as (source, engine):
        yield source, engine, skipped_records(running)
