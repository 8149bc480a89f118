"""What lies on the desk: results by name, each prepared and mapped when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Final

from nearly.errors import EngineError, MissingError, NearlyError, SettingsError
from nearly.prepared.comparison import Beside, compare_results
from nearly.prepared.layout import stamp_of
from nearly.prepared.maker import prepare
from nearly.prepared.mark import Marks
from nearly.prepared.result import Prepared, is_prepared, open_prepared
from nearly.web.runs import Runs

__all__ = ["Desk", "Laid", "prepare_apart"]

#: Comparisons of two results that are kept.
MOST_COMPARED: Final = 8


@dataclass(frozen=True)
class Laid:
    """A result that is open."""

    name: str
    stamp: str  # of the result: a run may find another one
    prepared: Prepared
    marks: Marks
    labels: Marks  # that were given blind


@dataclass
class Desk:
    """All that pages are made of. A name leads to a folder; nothing of a request becomes a path."""

    #: Saved results by name, beside what runs find.
    places: Mapping[str, Path]
    #: The folder below which paths may be chosen.
    root: Path
    runs: Runs
    source: str | None = None
    group: str | None = None
    term: str | None = None
    _open: dict[str, Laid] = field(default_factory=dict)
    _beside: dict[tuple[str | bool, ...], Beside] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def results(self) -> dict[str, Path]:
        """All that can be looked at."""
        return {**self.runs.results(), **self.places}

    def result(self, name: str) -> Laid:
        """The result of a name, prepared if it is not yet."""
        with self._lock:
            place = self.results().get(name)
            if place is None:
                raise MissingError(
                    f"there is no result {name!r} here; choose one of the start page"
                )
            stamp = stamp_of(place)
            if name not in self._open or self._open[name].stamp != stamp:
                asked = self._asked(name)
                if not is_prepared(place, **asked):
                    prepare_apart(place, asked)
                prepared = open_prepared(place)
                self._open[name] = Laid(
                    name, stamp, prepared, Marks(prepared), Marks(prepared, "labels")
                )
            return self._open[name]

    def beside(self, here: Laid, there: Laid, *, hidden: bool) -> Beside:
        """Two results compared; the last answers are kept, since a million pairs take a while."""
        asked = here.name, here.stamp, there.name, there.stamp, hidden
        if asked not in self._beside:
            while len(self._beside) >= MOST_COMPARED:
                self._beside.pop(next(iter(self._beside)), None)
            self._beside[asked] = compare_results(here.prepared, there.prepared, hidden=hidden)
        return self._beside[asked]

    def _asked(self, name: str) -> dict[str, str | None]:
        """Where the documents are now, group and term: told to the server, or to a run."""
        if name in self.places:
            return {"source": self.source, "group": self.group, "term": self.term}
        request = self.runs.run(name).request or {}
        return {"source": None, "group": request.get("group"), "term": request.get("term")}


def prepare_apart(result: Path, asked: dict[str, str | None]) -> None:
    """Prepare in a process of its own, whose memory goes when it ends."""
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_prepare, args=(theirs, result, asked), daemon=True)
    worker.start()
    theirs.close()
    try:
        said = ours.recv()
    except EOFError:
        said = "the process that prepares it ended early; is there enough memory?"
    worker.join()
    if said is not None:
        raise said if isinstance(said, NearlyError) else EngineError(f"{result}: {said}")


def _prepare(pipe: object, result: Path, asked: dict[str, str | None]) -> None:
    try:
        prepare(result, **asked)
        said: object = None
    except NearlyError as error:
        said = SettingsError(str(error))
    pipe.send(said)  # type: ignore[attr-defined]
