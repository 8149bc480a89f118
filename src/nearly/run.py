"""How a run goes about it: which engine, and what was given opened for it."""

import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from nearly.arguments import Running
from nearly.documents.two_sided import TwoSided
from nearly.engines.base import Engine, Parts
from nearly.engines.local.engine import LocalEngine
from nearly.errors import MissingError, SettingsError
from nearly.limits import spare_address_space, spare_memory
from nearly.progress import Silence
from nearly.remnant import make_scratch, remove_scratch
from nearly.sources import Skipped, Source, open_source

__all__ = [
    "Lying",
    "engine_name",
    "in_parts",
    "in_parts_on_disk",
    "is_in_parts",
    "of_old",
    "on_one_machine",
    "opened",
    "reopened",
    "skipped_records",
]

#: One source or two; and the parts of these, which bring a column along or not.
LyingThere = tuple[list[Any], Callable[[str | None], Parts]]
Lying = AbstractContextManager[LyingThere]

#: What only one of the engines has a use for.
_OPTIONS: Final = {
    "local": ("threads", "memory", "temporary"),
    "spark": ("master", "spark_conf", "checkpoint"),
}
#: Of the texts that are worked on together, units and messages take so many times the bytes.
_PARTS_IN_MEMORY: Final = 32
_LEAST_PART: Final = 2**20
#: More threads than this are a slip of the hand.
_MOST_THREADS: Final = 1024
_LIKE_SQL: Final = re.compile(r"\w\s.*\bfrom\s", re.IGNORECASE | re.DOTALL)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def skipped_records(running: Running) -> Skipped:
    """An empty list; or one whose first record is fatal."""
    return Skipped(strict=running.strict)


def engine_name(given: Any, running: Running, against: Any = None) -> str:
    """By what was said, or what was given; refuses options of another engine."""
    is_frame = _is_spark_frame(given) or _is_spark_frame(against)
    chosen = running.engine or ("spark" if is_frame or running.master else "local")
    if is_frame and chosen == "local":
        raise SettingsError(
            "a Spark DataFrame was given, and the engine is local; "
            "leave engine out, or give frame.toArrow()"
        )
    others = [(other, name) for other in _OPTIONS if other != chosen for name in _OPTIONS[other]]
    for other, name in others:
        value = getattr(running, name)
        if value:
            raise SettingsError(
                f"{name} is {_shown(value)}, which is for the engine {other}, and the "
                f"engine is {chosen}; leave it out, or choose the engine {other}"
            )
    return chosen


def _shown(value: Any) -> str:
    return ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, Mapping) else value


def _is_spark_frame(given: Any) -> bool:
    """Told by its name: whoever has no such frame need not have Spark."""
    kind = type(given)
    return kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame"


@contextmanager
def opened(
    given: Any, running: Running, against: Any = None
) -> Iterator[tuple[Any, Engine[Any, Any]]]:
    """A source and the engine that reads it; with old documents before it, if there are any."""
    name = engine_name(given, running, against)
    with _ENGINES[name](given, running) as (source, engine):
        if against is not None:
            source = TwoSided(_OPENERS[name](against, of_old(against, running)), source)
        yield source, engine


def of_old(against: Any, running: Running) -> Running:
    """How old documents are read: as the new ones, but for what is about files of a folder."""
    is_folder = isinstance(against, str | os.PathLike) and os.path.isdir(against)
    return running if is_folder else replace(running, glob=None)


def reopened(given: Any, running: Running, folder: Path | None = None) -> Source:
    """A source alone, for results that read it again.

    What it writes down goes with it, unless a folder is given, which is the caller's.
    """
    if folder is None:
        return _opened_here(given, running)[0]
    _check_means(running)
    return _open(given, running, folder)


def _opened_here(given: Any, running: Running) -> tuple[Source, Path]:
    spare_address_space()
    _check_means(running)
    if running.memory is not None:
        spare_memory(running.memory)
    with _folder(running.temporary) as folder:
        source = _open(given, running, folder)
    # Results may read the source again: the folder goes when the source does.
    weakref.finalize(source, remove_scratch, folder)
    return source, folder


@contextmanager
def on_one_machine(given: Any, running: Running) -> Iterator[tuple[Source, LocalEngine]]:
    """For what is done on one machine only, and for all that fits there."""
    source, folder = _opened_here(given, running)
    engine = LocalEngine(
        folder=folder,
        progress=running.progress or Silence(),
        threads=running.threads,
        memory=running.memory,
    )
    with engine:
        yield source, engine
    with suppress(OSError):  # it holds what the source needs, or nothing
        folder.rmdir()


@contextmanager
def _on_spark(given: Any, running: Running) -> Iterator[tuple[Any, Engine[Any, Any]]]:
    from nearly.engines.spark.engine import SparkEngine
    from nearly.engines.spark.session.session import translated

    session, source = _session_and_source(given, running)
    engine = SparkEngine(
        session,
        progress=running.progress or Silence(),
        checkpoint=_everywhere(running.checkpoint),
    )
    with translated():
        yield source, engine


def is_in_parts(given: Any, running: Running, against: Any = None) -> bool:
    """Whether the engine that is chosen works on many machines."""
    return engine_name(given, running, against) in _IN_PARTS


def in_parts(given: Any, running: Running, against: Any = None) -> Lying | None:
    """What lies on many machines; None where the engine that is chosen works on one."""
    lie = _IN_PARTS.get(engine_name(given, running, against))
    return None if lie is None else lie(given, running, against)


@contextmanager
def _in_parts_on_spark(given: Any, running: Running, against: Any) -> Iterator[LyingThere]:
    if running.checkpoint is not None:
        raise SettingsError("only find and dedup are kept in a checkpoint; leave it out")
    from nearly.engines.spark.parts import SparkParts
    from nearly.engines.spark.session.session import translated

    session, source = _session_and_source(given, running)
    other = [] if against is None else [_opened_on_spark(against, of_old(against, running))]
    sources = [source, *other]
    with translated():
        yield sources, partial(SparkParts, session, sources)


@contextmanager
def in_parts_on_disk(
    given: Any, running: Running, against: Any, skipped: Skipped
) -> Iterator[LyingThere]:
    """The same on one machine, in parts that fit in its memory."""
    from nearly.engines.local.parts import LocalParts

    memory = running.memory or 0
    source, folder = _opened_here(given, running)
    other = [] if against is None else [reopened(against, running)]
    sources = [source, *other]
    size = max(_LEAST_PART, memory // _PARTS_IN_MEMORY)
    yield sources, partial(LocalParts, sources, folder, size, skipped)


def _everywhere(folder: str | Path | None) -> str | None:
    """The folder by a name that does not depend on where a process runs."""
    if folder is None:
        return None
    name = os.fspath(folder)
    return name if _SCHEME.match(name) else os.path.abspath(name)


def _session_and_source(given: Any, running: Running) -> tuple[Any, Any]:
    from nearly.engines.spark.session.frame import read_frame
    from nearly.engines.spark.session.session import open_session, session_of

    master, conf = running.master, running.spark_conf or {}
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
    weakref.finalize(session, remove_scratch, folder)
    return session, source


def _framed(frame: Any, name: str, running: Running) -> Any:
    """A frame with its columns chosen, as they are chosen everywhere."""
    from nearly.engines.spark.session.frame import arrow_schema, first_value
    from nearly.sources.formats.lazy_frame import LazyFrameSource

    for option in ("glob", "lines", "encoding"):
        if getattr(running, option):
            raise SettingsError(
                f"{option} is about files of this machine, not {name}; leave it out"
            )
    for option in ("by", "item"):
        if getattr(running, option):
            raise SettingsError(
                f"{option} is about a table that one machine reads, not {name}; group it first, as "
                "in frame.groupBy('customer').agg(collect_list('product').alias('items')), and "
                "name the column items"
            )
    return LazyFrameSource(
        frame,
        arrow_schema(frame),
        name=name,
        id_column=running.id,
        text_column=running.text,
        items_column=running.items,
        vector_column=running.vector,
        first_vector=None if running.vector is None else first_value(frame, running.vector),
    )


@contextmanager
def _folder(parent: str | Path | None) -> Iterator[Path]:
    """A temporary folder, which goes again only if what follows fails."""
    try:
        folder = make_scratch(parent)
    except OSError as error:
        place = "the folder for temporary files" if parent is None else repr(os.fspath(parent))
        raise SettingsError(
            f"no temporary folder can be made in {place}: {error.strerror}; "
            "name another one with temporary"
        ) from error
    try:
        yield folder
    except BaseException:
        remove_scratch(folder)
        raise


def _check_means(running: Running) -> None:
    _check_whole("threads", running.threads, 1, _MOST_THREADS)
    _check_whole("memory", running.memory, 0, None)


def _check_whole(name: str, value: object, least: int, most: int | None) -> None:
    if value is None:
        return
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):  # type: ignore[operator]
        unit = "bytes, such as 2**30" if name == "memory" else name
        limit = f"from {least} to {most:,}" if most is not None else f"not below {least}"
        raise SettingsError(f"{name} is {value!r}; give a whole number of {unit}, {limit}")


def _open(given: Any, running: Running, folder: Path) -> Source:
    try:
        return _open_as_given(given, running, folder)
    except MissingError as error:
        if isinstance(given, str) and _LIKE_SQL.search(given):
            raise MissingError(
                f"{error} It looks like a SQL query, and a query begins with SELECT, WITH or FROM."
            ) from error
        raise


def _open_as_given(given: Any, running: Running, folder: Path) -> Source:
    source = open_source(
        given,
        id=running.id,
        text=running.text,
        items=running.items,
        vector=running.vector,
        by=running.by,
        item=running.item,
        glob=running.glob,
        lines=running.lines,
        encoding=running.encoding,
        threads=running.threads,
        memory=running.memory,
        temporary=folder,
    )
    if running.longest is not None:
        source.skip_longer_than(running.longest)
    return source


def _opened_on_spark(given: Any, running: Running) -> Any:
    return _session_and_source(given, replace(running, master=None, spark_conf=None))[1]


_ENGINES: Final = {"local": on_one_machine, "spark": _on_spark}
_OPENERS: Final = {"local": reopened, "spark": _opened_on_spark}
#: Engines of many machines.
_IN_PARTS: Final[Mapping[str, Callable[[Any, Running, Any], Lying]]] = {"spark": _in_parts_on_spark}
