"""The public functions: plain arguments in, one call of the pipeline, results out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from nearly import pipeline
from nearly.errors import SettingsError
from nearly.measures.base import Measure
from nearly.measures.jaccard import Jaccard
from nearly.progress import Silence
from nearly.results import Deduplicated, Found
from nearly.run import Running, on_one_machine, opened, runs_on_spark, skipped_records
from nearly.settings import Options, Settings
from nearly.sources import Skipped
from nearly.stages.survivor import Keep

if TYPE_CHECKING:
    from nearly.advice.advice import Advice, Chooser

__all__ = ["dedup", "find", "tune"]


class Arguments(Running, Options, total=False):
    """Everything that `find` and `dedup` take."""


def find(
    source: Any,
    *,
    audit: int = 0,
    measure: Measure | None = None,
    **arguments: Unpack[Arguments],
) -> Found:
    """Find every pair of documents at least as similar as `threshold`.

    `source` is a path, a glob, a list of paths, a SQL query, a list of texts, a dict of id to
    text, or a pandas, polars, Arrow or Spark table. See `Running` and `Settings` for the
    arguments. With `audit`, so many documents are searched exactly afterwards, and
    `statistics["audit"]` says what recall that proves. `measure` is how documents are
    compared: Jaccard similarity of shingles unless another one is given. On Spark, the
    tables of the result are Spark's DataFrames, and lazy.
    """
    if not (isinstance(audit, int) and audit >= 0):
        raise SettingsError(f"audit is {audit!r}; give the number of documents to search exactly")
    with _run(source, arguments) as (read, settings, engine, skipped):
        how = measure or Jaccard.of(settings)
        return pipeline.find(read, how, settings, engine, skipped, audited=audit)


def dedup(
    source: Any,
    *,
    keep: str = "first",
    measure: Measure | None = None,
    **arguments: Unpack[Arguments],
) -> Deduplicated:
    """Keep one document of each cluster.

    `keep` is first, last, longest, shortest, newest:COLUMN, oldest:COLUMN, max:COLUMN or
    min:COLUMN. Takes what `find` takes.
    """
    rule = Keep.parse(keep)
    with _run(source, arguments) as (read, settings, engine, skipped):
        how = measure or Jaccard.of(settings)
        return pipeline.dedup(read, how, settings, engine, skipped, rule)


def tune(
    source: Any = None,
    *,
    chooser: "Chooser" = "goal",
    sample: int = 500,
    documents: int = 1_000_000,
    measure: Measure | None = None,
    **arguments: Unpack[Arguments],
) -> "Advice":
    """Choose bands and rows, and foretell what they do.

    With a source, `sample` of its documents are searched exactly against all, and what is
    foretold is of this corpus; without one it is of so many `documents` of which nothing is
    known. `chooser` is goal (`recall` at the threshold, at the least cost), area (the least sum
    of both areas) or nearest (the rule of the papers); `bands` and `rows` overrule it. Takes
    what `find` takes, and runs on one machine.
    """
    from nearly.advice import advice

    settings, running = _divided(arguments)
    if runs_on_spark(source, running):
        raise SettingsError(
            "tune surveys a corpus on one machine; leave engine and master out, and of a Spark "
            "DataFrame give a sample, as in frame.sample(0.01).toArrow()"
        )
    how = measure or Jaccard.of(settings)
    if source is None:
        return advice.advise(how, settings, chooser, documents)
    with on_one_machine(source, running) as (surveyed, engine):
        return advice.survey(
            surveyed,
            how,
            settings,
            engine,
            skipped_records(running),
            chooser=chooser,
            sample=sample,
            progress=arguments.get("progress") or Silence(),
        )


@contextmanager
def _run(given: Any, arguments: Arguments) -> Iterator[tuple[Any, Settings, Any, Skipped]]:
    settings, running = _divided(arguments)
    with opened(given, running) as (source, engine):
        yield source, settings, engine, skipped_records(running)


def _divided(arguments: Arguments) -> tuple[Settings, dict[str, Any]]:
    """What is looked for, and how a run goes about it."""
    options: dict[str, Any] = dict(arguments)
    running = {name: options.pop(name) for name in Running.__annotations__ if name in options}
    return Settings.of(**options), running
