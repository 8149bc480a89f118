"""Saved results, opened again without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearly.arguments import Running
from nearly.documents.lookup import Placed, SourceTexts, TextReader
from nearly.documents.place import Place
from nearly.errors import MissingError, SourceError
from nearly.origin import rows_reader
from nearly.result_folder import read_result
from nearly.results import Deduplicated, Found, Origin, Statistics
from nearly.run import reopened
from nearly.settings import Settings
from nearly.sources import Skipped, Source
from nearly.stages.around import Around
from nearly.stages.audit import Audit

__all__ = ["open"]


def open(folder: str | Path, *, source: Any = None) -> Found | Deduplicated:  # noqa: A001
    """Open a result that `save` wrote, without running again.

    Texts are read from where they were; where that was an object of Python, or they moved, give
    them as `source`.
    """
    members, tables = read_result(Path(folder))
    origin = None if members["origin"] is None else Origin(**members["origin"])
    documents = _documents(origin, source)
    shared: dict[str, Any] = {
        "clusters": tables["clusters"],
        "skipped": tables["skipped"],
        "settings": Settings.from_dict(members["settings"]),
        "statistics": _statistics(members["statistics"]),
        "origin": origin,
    }
    if documents is not None:
        ids_repeat = shared["statistics"].repeated_ids is not None
        shared["read_texts"] = _LateTexts(documents, ids_repeat)
    if members["kind"] == "found":
        return Found(
            pairs=tables["pairs"],
            read_top=lambda: tables["top"],
            around=_around(members.get("around"), tables),
            **shared,
        )
    removed = tables["removed"]
    return Deduplicated(
        removed=removed,
        schema=tables["schema"].schema,
        read_kept=_kept(documents, removed),
        **shared,
    )


def _statistics(plain: dict[str, Any]) -> Statistics:
    audit = plain.pop("audit", None)
    return Statistics(**plain, audit=audit and Audit(**audit))


def _around(numbers: dict[str, int] | None, tables: dict[str, pa.Table]) -> Around | None:
    if numbers is None:
        return None
    return Around(above=tables["above"], below=tables["below"], **numbers)


def _documents(origin: Origin | None, given: Any) -> Callable[[], Source] | None:
    """What opens the source when it is needed, once."""
    if origin is None and given is None:
        return None

    @cache
    def reopen() -> Source:
        if origin is None:
            return reopened(given, Running())
        place = origin.given
        known = place if isinstance(place, str) else [Path(path) for path in place]
        columns = Running(
            id=origin.id,
            text=origin.text,
            items=origin.items,
            by=origin.by,
            item=origin.item,
            glob=origin.glob,
            lines=origin.lines,
            encoding=origin.encoding,
        )
        source = reopened(known if given is None else given, columns)
        source.rename_parts(origin.names or [])
        if given is None and origin.stamp not in (None, source.stamp()):
            raise SourceError(
                f"{source.name} changed after the result was saved, and texts may be others. "
                "Run again; or give the documents as they were: nearly.open(folder, source=...)."
            )
        return source

    return reopen


@dataclass(frozen=True)
class _LateTexts:
    """Texts of a source that is opened when they are asked for."""

    documents: Callable[[], Source]
    ids_repeat: bool

    def by_id(self, ids: Iterable[Any]) -> dict[Any, list[Placed]]:
        """See `TextReader`."""
        return self._texts().by_id(ids)

    def by_place(self, places: Iterable[Place]) -> dict[Place, str]:
        """See `TextReader`."""
        return self._texts().by_place(places)

    def _texts(self) -> TextReader:
        return SourceTexts(self.documents(), Skipped(), self.ids_repeat)


def _kept(documents: Callable[[], Source] | None, removed: pa.Table) -> Callable[[], Any]:
    def read() -> Any:
        if documents is None:
            raise MissingError(
                "the clean copy is read from the documents, which were given as an object of "
                "another process. Give them: nearly.open(folder, source=...)."
            )
        return rows_reader(documents(), removed)()

    return read
