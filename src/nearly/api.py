"""The public functions: plain arguments in, one call of the pipeline, results out."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from nearly import pipeline
from nearly.corpora import Progress
from nearly.engines.local import LocalEngine
from nearly.errors import SettingsError
from nearly.limits import spare_address_space
from nearly.results import Deduplicated, Found
from nearly.settings import Options, Settings
from nearly.sources import Skipped, open_source
from nearly.survivors import Keep

if TYPE_CHECKING:
    from nearly.advising import Advice, Chooser

__all__ = ["dedup", "find", "tune"]


class Silence:
    """Progress that nobody watches."""

    def stage(self, name: str, total: int | None) -> None:
        """See `Progress`."""

    def advance(self, steps: int = 1) -> None:
        """See `Progress`."""


class Running(TypedDict, total=False):
    """How a run goes about it; none of it changes the answer.

    `id`, `text`: names of columns. `glob`: which files of a folder. `lines`: a document a line.
    `strict`: a bad record is an error. `threads`, `memory` (bytes held before spilling to disk),
    `temporary` (a folder for that): what the run may use. `progress`: who watches.
    """

    id: str | None
    text: str | None
    glob: str | None
    lines: bool
    strict: bool
    threads: int | None
    memory: int | None
    temporary: str | Path | None
    progress: Progress


class Arguments(Running, Options, total=False):
    """Everything that `find` and `dedup` take."""


def find(source: Any, *, audit: int = 0, **arguments: Unpack[Arguments]) -> Found:
    """Find every pair of documents at least as similar as `threshold`.

    `source` is a path, a glob, a list of paths, a SQL query, a list of texts, a dict of id to
    text, or a pandas, polars or Arrow table. See `Running` and `Settings` for the arguments.
    With `audit`, so many documents are searched exactly afterwards, and `statistics["audit"]`
    says what recall that proves.
    """
    if not (isinstance(audit, int) and audit >= 0):
        raise SettingsError(f"audit is {audit!r}; give the number of documents to search exactly")
    with _run(source, arguments) as (opened, settings, engine, skipped):
        return pipeline.find(opened, settings, engine, skipped, audited=audit)


def dedup(source: Any, *, keep: str = "first", **arguments: Unpack[Arguments]) -> Deduplicated:
    """Keep one document of each cluster.

    `keep` is first, last, longest, shortest, newest:COLUMN, oldest:COLUMN, max:COLUMN or
    min:COLUMN. Takes what `find` takes.
    """
    rule = Keep.parse(keep)
    with _run(source, arguments) as (opened, settings, engine, skipped):
        return pipeline.dedup(opened, settings, engine, skipped, rule)


def tune(
    source: Any = None,
    *,
    chooser: "Chooser" = "goal",
    sample: int = 500,
    documents: int = 1_000_000,
    **arguments: Unpack[Arguments],
) -> "Advice":
    """Choose bands and rows, and foretell what they do.

    With a source, `sample` of its documents are searched exactly against all, and what is
    foretold is of this corpus; without one it is of so many `documents` of which nothing is
    known. `chooser` is goal (`recall` at the threshold, at the least cost), area (the least sum
    of both areas) or nearest (the rule of the papers); `bands` and `rows` overrule it. Takes
    what `find` takes.
    """
    from nearly import advising

    if source is None:
        settings, _ = _divided(arguments)
        return advising.advise(settings, chooser, documents)
    with _run(source, arguments) as (opened, settings, engine, skipped):
        return advising.survey(
            opened,
            settings,
            engine,
            skipped,
            chooser=chooser,
            sample=sample,
            progress=arguments.get("progress") or Silence(),
        )


@contextmanager
def _run(given: Any, arguments: Arguments) -> Iterator[tuple[Any, Settings, LocalEngine, Skipped]]:
    settings, running = _divided(arguments)
    spare_address_space()
    folder = Path(tempfile.mkdtemp(prefix="nearly-", dir=running.get("temporary")))
    try:
        source = open_source(
            given,
            id=running.get("id"),
            text=running.get("text"),
            glob=running.get("glob"),
            lines=running.get("lines", False),
            threads=running.get("threads"),
            temporary=folder,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # Results may read the source again: the folder goes when the source does.
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    engine = LocalEngine(
        folder=folder,
        progress=running.get("progress") or Silence(),
        threads=running.get("threads"),
        memory=running.get("memory"),
    )
    with engine:
        yield source, settings, engine, Skipped(strict=running.get("strict", False))


def _divided(arguments: Arguments) -> tuple[Settings, dict[str, Any]]:
    """What is looked for, and how a run goes about it."""
    options: dict[str, Any] = dict(arguments)
    running = {name: options.pop(name) for name in Running.__annotations__ if name in options}
    return Settings.of(**options), running
