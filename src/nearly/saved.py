"""Saved results, opened again without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearly.arguments import Running
from nearly.documents.lookup import Placed, SourceTexts, WholeReader
from nearly.documents.place import Place
from nearly.documents.two_sided import TwoSided
from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.origin import rows_reader
from nearly.result_folder import read_result
from nearly.results import Deduplicated, Found, Origin, Statistics
from nearly.run import reopened
from nearly.settings import Settings
from nearly.sources import Skipped, Source
from nearly.stages.around import Around
from nearly.stages.audit import Audit

__all__ = ["open", "open_mapped"]


def open(  # noqa: A001
    folder: str | Path, *, source: Any = None, against: Any = None
) -> Found | Deduplicated:
    """Open a result that `save` wrote, without running again.

    Texts are read from where they were; where that was an object of Python, or they moved, give
    them as `source`, and the old documents that they were compared with as `against`.
    """
    return _read(Path(folder), source, against, mapped=False)


def open_mapped(folder: str | Path) -> Found | Deduplicated:
    """The same, with tables that stay on the disk until they are looked at."""
    return _read(Path(folder), None, None, mapped=True)


def _read(folder: Path, source: Any, against: Any, *, mapped: bool) -> Found | Deduplicated:
    try:
        return _opened(*read_result(folder, mapped=mapped), source, against)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # Its checksum fits: somebody else wrote it so.
        raise UnreadableError(
            f"{str(folder)!r} is no result as nearly saves it: {type(error).__name__} {error}. "
            "Run again, and save again."
        ) from error


def _opened(
    members: dict[str, Any], tables: dict[str, pa.Table], source: Any, against: Any
) -> Found | Deduplicated:
    origin = _origin(members["origin"])
    statistics = _statistics(members["statistics"])
    is_sided = statistics.against is not None
    documents = _documents(origin, source, against, is_sided=is_sided)
    shared: dict[str, Any] = {
        "clusters": tables["clusters"],
        "skipped": tables["skipped"],
        "settings": Settings.from_dict(members["settings"]),
        "statistics": statistics,
        "origin": origin,
    }
    if documents is not None:
        ids_repeat = statistics.repeated_ids is not None
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


def _origin(plain: dict[str, Any] | None) -> Origin | None:
    if plain is None:
        return None
    return Origin(**{**plain, "against": _origin(plain.get("against"))})


def _documents(
    origin: Origin | None, given: Any, against: Any, *, is_sided: bool
) -> Callable[[], Source] | None:
    """What opens the source when it is needed, once; with the old documents, if there were any."""
    old = None if origin is None else origin.against
    if (origin is None and given is None) or (is_sided and old is None and against is None):
        return None

    @cache
    def reopen() -> Any:
        new = _reopened(origin, given)
        return TwoSided(_old(old, against), new) if is_sided else new

    return reopen


def _old(origin: Origin | None, given: Any) -> Any:
    """Old documents, of a source or an index."""
    from nearly.index.index import Index, is_index

    place: Any = given if given is not None or origin is None else origin.given
    if isinstance(place, Index):
        return place.every_document()
    if not is_index(place):
        return _reopened(origin, given)
    with Index.open(place, read_only=True) as index:
        return index.every_document()


def _reopened(origin: Origin | None, given: Any) -> Source:
    if origin is None:
        return reopened(given, Running())
    place = origin.given
    known = place if isinstance(place, str) else [Path(path) for path in place]
    columns = Running(
        id=origin.id,
        text=origin.text,
        items=origin.items,
        vector=origin.vector,
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

    def values(self, column: str) -> dict[Any, Any]:
        """See `ColumnReader`."""
        return self._texts().values(column)

    def every(self) -> Iterator[tuple[pa.Array, pa.Array]]:
        """See `WholeReader`."""
        return self._texts().every()

    def _texts(self) -> WholeReader:
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
