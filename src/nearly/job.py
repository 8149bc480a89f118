"""One run as it was asked for: source, engine, measure and settings, opened together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nearly.arguments import Measuring, Running, Searching
from nearly.declaration import declarations
from nearly.documents.remaining import Remaining
from nearly.documents.two_sided import TwoSided
from nearly.engines.base import Engine
from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.measures.base import Measure
from nearly.measures.choice import check_settings, choose_measure
from nearly.origin import origin_of
from nearly.results import Origin, Statistics
from nearly.run import is_in_parts, of_old, opened, reopened, skipped_records
from nearly.settings import Settings, TextSettings
from nearly.sources import Skipped
from nearly.sources.embedding import Embed, embedding_of
from nearly.sources.template import with_templates
from nearly.sources.weight import read_weights, weights_for

if TYPE_CHECKING:
    from nearly.index.index import Index

__all__ = ["Job", "measure_of", "opened_job", "prepared"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What the pipeline is called with."""

    given: Any
    against: Any
    running: Running
    read: Any
    engine: Engine[Any, Any]
    skipped: Skipped
    measure: Measure
    settings: Settings
    index: Index | None = None
    in_index: int = 0  # documents of the index

    def origin(self) -> Origin | None:
        """Of new documents, and of the old ones that they were compared with."""
        if self.against is None:
            return origin_of(self.given, self.running, self.read)
        if self.index is not None:
            old = Origin(given=self.index.place) if self.index.place is not None else None
        else:
            old = origin_of(self.against, of_old(self.against, self.running), self.read.old)
        new = origin_of(self.given, self.running, self.read.new)
        return None if old is None or new is None else replace(new, against=old)

    def told(self, statistics: Statistics) -> Statistics:
        """Of an index all documents were asked, though few of them became the old side."""
        return statistics if self.index is None else replace(statistics, against=self.in_index)

    def survivors(self) -> Remaining | None:
        """The new documents that stay, as an index takes them; None where they are elsewhere."""
        is_local = not is_in_parts(self.given, self.running, self.against)
        if self.against is None or not is_local:
            return None
        return Remaining(self.read.new, self.read.removed)


@contextmanager
def opened_job(
    given: Any, settings: Settings, searching: Searching, running: Running
) -> Iterator[Job]:
    """For as long as the engine works."""
    settings = prepared(searching, settings)
    told: dict[str, Any] = {"given": given, "against": searching.against, "running": running}
    if searching.against is not None and _is_index(searching.against):
        with _asked(searching, settings) as index:
            measure, settings = index.settings_of_run(settings)
            with _beside_index(given, index, settings, running) as (read, engine):
                told |= {"read": read, "engine": engine, "measure": measure, "settings": settings}
                skipped = skipped_records(running)
                yield Job(**told, skipped=skipped, index=index, in_index=len(index))
        return
    settings.check_length()
    weights = read_weights(settings.weights)
    with opened(given, running, searching.against) as (read, engine):
        measure = measure_of(searching, settings, running, read, weights)
        told |= {"read": read, "engine": engine, "measure": measure, "settings": settings}
        yield Job(**told, skipped=skipped_records(running))


def _is_index(against: Any) -> bool:
    from nearly.index.index import is_index  # rarely needed

    return is_index(against)


@contextmanager
def _asked(searching: Searching, settings: Settings) -> Iterator[Index]:
    """An index that is open, or is opened for reading; settings that are not its own are refused.

    A setting that has its default counts as not given: the index has its own.
    """
    from nearly.index.index import Index

    chosen = {name: getattr(settings.text, name) for name in declarations(TextSettings)}
    chosen |= {name: getattr(settings, name) for name in declarations(Settings)}
    chosen |= {"measure": searching.measure, "embed": searching.embed}
    declared = {**declarations(Settings), **declarations(TextSettings)}
    usual = {name: each.default for name, each in declared.items()}
    given = {name: value for name, value in chosen.items() if value != usual.get(name)}
    if isinstance(searching.against, Index):
        searching.against.check_same(given)
        yield searching.against
        return
    with Index.open(searching.against, read_only=True) as index:
        index.check_same(given)
        yield index


@contextmanager
def _beside_index(
    given: Any, index: Index, settings: Settings, running: Running
) -> Iterator[tuple[TwoSided, Engine[Any, Any]]]:
    """New documents, after those of the index that have a pair with one of them."""
    with opened(given, running) as (read, engine):
        engine.progress.stage("asking the index", None)
        if is_in_parts(given, running):
            old: Any = _old_of_parts(read, engine, index, settings)
        else:
            old = index.old_side(read, every_copy=settings.all_pairs)
        yield TwoSided(old, read), engine


def _old_of_parts(read: Any, engine: Any, index: Index, settings: Settings) -> Any:
    """The executors open the folder of an index; the driver asks one that is elsewhere."""
    if index.holds != "text":
        raise SettingsError(
            "the index holds no texts, which Spark could be given; leave engine out"
        )
    copies = settings.all_pairs
    if index.place is not None:
        old = index.old_side_in_parts(read, engine.in_parts(read), every_copy=copies)
    elif hasattr(read, "frame"):
        raise SettingsError(
            "the documents are a Spark DataFrame, and an index in PostgreSQL is asked by one "
            "machine; give frame.toArrow(), or the old documents as a source"
        )
    else:
        old = index.old_side(read, every_copy=copies)
    return reopened(old.table(), Running(id="id", text="text"))


def prepared(measuring: Measuring, settings: Settings) -> Settings:
    """The settings with the texts to ignore: read before a source is opened, which takes longer."""
    check_settings(measuring.measure, settings)
    return replace(settings, text=with_templates(settings.text))


def measure_of(
    measuring: Measuring, settings: Settings, running: Running, source: Any, table: Any
) -> Measure:
    """The measure for what was opened, which is embedded first if that was asked for."""
    if measuring.embed is not None:
        _embed(source, measuring.embed, running, with_text=measuring.measure == "mean")
    elif measuring.measure == "mean" and source.shape is not None:
        raise SettingsError(
            f"measure is 'mean', which compares texts too, and {source.name} holds vectors alone; "
            "name a column of texts with text, and what makes vectors of them with embed"
        )
    weights = weights_for(table, settings, source)
    return choose_measure(measuring.measure, settings, source, weights)


def _embed(source: Any, embed: str | Embed, running: Running, *, with_text: bool) -> None:
    """Compare the texts of a source as vectors."""
    if source.holds_items or source.shape is not None:
        kind = "items" if source.holds_items else "vectors"
        raise SettingsError(f"embed makes vectors of texts, and {source.name} holds {kind}")
    if running.checkpoint is not None and not isinstance(embed, str):
        raise SettingsError(
            "embed is a function, of which a checkpoint cannot know whether it is the same "
            "next time; leave checkpoint out"
        )
    source.embed(embedding_of(embed, with_text=with_text))
