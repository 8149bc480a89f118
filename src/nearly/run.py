"""How a run goes about it: which engine, and what was given opened for it."""

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

from nearly.documents.corpus import Progress
from nearly.engines.base import Engine
from nearly.engines.local import LocalEngine
from nearly.errors import SettingsError
from nearly.limits import spare_address_space
from nearly.sources import Skipped, Source, open_source

__all__ = ["Running", "Silence", "on_one_machine", "opened", "runs_on_spark", "skipped_records"]

#: What only one of the engines has a use for.
_OPTIONS: Final = {
    "local": ("threads", "memory", "temporary"),
    "spark": ("master", "spark_conf", "checkpoint"),
}
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Silence:
    """Progress that nobody watches."""

    def stage(self, name: str, total: int | None) -> None:
        """See `Progress`."""

    def advance(self, steps: int = 1) -> None:
        """See `Progress`."""


class Running(TypedDict, total=False):
    """How a run goes about it; none of it changes the answer.

    `id`, `text`: names of columns; several columns of text are joined. `glob`: which files of a
    folder. `lines`: a document a line. `encoding`: of text files and text tables that are not
    UTF-8, a name, or auto to find it out.
    `strict`: a bad record is an error. `progress`: who watches.

    `engine`: local, or spark, which is taken by itself for a Spark DataFrame or where a `master`
    is named. What the engine local may use: `threads`, `memory` (bytes held before spilling to
    disk), `temporary` (a folder for that). For the engine spark: `master` (`local[*]` unless a
    session is there) and `spark_conf` (names and values) say what session to open; a DataFrame
    brings its own. `checkpoint` is a folder that keeps finished stages, for a run that is
    stopped and started again.
    """

    id: str | None
    text: str | Sequence[str] | None
    glob: str | None
    lines: bool
    encoding: str | None
    strict: bool
    progress: Progress
    engine: Literal["local", "spark"] | None
    threads: int | None
    memory: int | None
    temporary: str | Path | None
    master: str | None
    spark_conf: Mapping[str, str]
    checkpoint: str | Path | None


def skipped_records(running: Mapping[str, Any]) -> Skipped:
    """An empty list; or one whose first record is fatal."""
    return Skipped(strict=running.get("strict", False))


def runs_on_spark(given: Any, running: Mapping[str, Any]) -> bool:
    """By what was said, or what was given; refuses options of the other engine."""
    is_frame = _is_spark_frame(given)
    chosen = running.get("engine") or ("spark" if is_frame or running.get("master") else "local")
    if chosen not in _OPTIONS:
        raise SettingsError(f"engine is {chosen!r}; choose one of {', '.join(_OPTIONS)}")
    if is_frame and chosen == "local":
        raise SettingsError(
            "a Spark DataFrame was given, and the engine is local; "
            "leave engine out, or give frame.toArrow()"
        )
    other = "local" if chosen == "spark" else "spark"
    for name in _OPTIONS[other]:
        if running.get(name):
            raise SettingsError(
                f"{name} is {_shown(running[name])}, which is for the engine {other}, and the "
                f"engine is {chosen}; leave it out, or choose the engine {other}"
            )
    return chosen == "spark"


def _shown(value: Any) -> str:
    return ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, Mapping) else value


def _is_spark_frame(given: Any) -> bool:
    """Told by its name: whoever has no such frame need not have Spark."""
    kind = type(given)
    return kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame"


@contextmanager
def opened(given: Any, running: Mapping[str, Any]) -> Iterator[tuple[Any, Engine]]:
    """A source and the engine that reads it."""
    on_engine = _on_spark if runs_on_spark(given, running) else on_one_machine
    with on_engine(given, running) as (source, engine):
        yield source, engine


@contextmanager
def on_one_machine(given: Any, running: Mapping[str, Any]) -> Iterator[tuple[Source, LocalEngine]]:
    """For what is done on one machine only, and for all that fits there."""
    spare_address_space()
    with _folder(running.get("temporary")) as folder:
        source = _open(given, running, folder)
    # Results may read the source again: the folder goes when the source does.
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    engine = LocalEngine(
        folder=folder,
        progress=running.get("progress") or Silence(),
        threads=running.get("threads"),
        memory=running.get("memory"),
    )
    with engine:
        yield source, engine


@contextmanager
def _on_spark(given: Any, running: Mapping[str, Any]) -> Iterator[tuple[Any, Engine]]:
    from nearly.engines.spark.engine import SparkEngine
    from nearly.engines.spark.session.session import translated

    session, source = _session_and_source(given, running)
    engine: Engine = SparkEngine(
        session,
        progress=running.get("progress") or Silence(),
        checkpoint=_everywhere(running.get("checkpoint")),
    )
    with translated():
        yield source, engine


def _everywhere(folder: str | Path | None) -> str | None:
    """The folder by a name that does not depend on where a process runs."""
    if folder is None:
        return None
    name = os.fspath(folder)
    return name if _SCHEME.match(name) else os.path.abspath(name)


def _session_and_source(given: Any, running: Mapping[str, Any]) -> tuple[Any, Any]:
    from nearly.engines.spark.session.frame import read_frame
    from nearly.engines.spark.session.session import open_session, session_of

    master, conf = running.get("master"), running.get("spark_conf") or {}
    if _is_spark_frame(given):
        if master or conf:
            raise SettingsError(
                "a Spark DataFrame brings its own session; leave master and spark_conf out"
            )
        return session_of(given), _framed(given, "the DataFrame", running)
    if isinstance(given, str) and _SCHEME.match(given):
        session = open_session(master, conf)
        return session, _framed(read_frame(session, given), given, running)
    # A mistake in the source is found at once, and a session takes seconds.
    with _folder(None) as folder:
        source = _open(given, running, folder)
        session = open_session(master, conf)
    # Lazy results may read the source again, through their session: the folder goes with it.
    weakref.finalize(session, shutil.rmtree, folder, ignore_errors=True)
    return session, source


def _framed(frame: Any, name: str, running: Mapping[str, Any]) -> Any:
    """A frame with its columns chosen, as they are chosen everywhere."""
    from nearly.engines.spark.session.frame import arrow_schema
    from nearly.sources.formats.lazy_frame import LazyFrameSource

    for option in ("glob", "lines", "encoding"):
        if running.get(option):
            raise SettingsError(
                f"{option} is about files of this machine, not {name}; leave it out"
            )
    columns = {"id_column": running.get("id"), "text_column": running.get("text")}
    return LazyFrameSource(frame, arrow_schema(frame), name=name, **columns)


@contextmanager
def _folder(parent: str | Path | None) -> Iterator[Path]:
    """A temporary folder, which goes again only if what follows fails."""
    folder = Path(tempfile.mkdtemp(prefix="nearly-", dir=parent))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _open(given: Any, running: Mapping[str, Any], folder: Path) -> Source:
    return open_source(
        given,
        id=running.get("id"),
        text=running.get("text"),
        glob=running.get("glob"),
        lines=running.get("lines", False),
        encoding=running.get("encoding"),
        threads=running.get("threads"),
        temporary=folder,
    )
