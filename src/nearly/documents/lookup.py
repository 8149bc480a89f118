"""Texts looked up in the source itself: nothing is held between a run and a question."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.documents.place import Place, Places, located, place_list
from nearly.documents.readable import Readable, Skips
from nearly.errors import MissingError, SettingsError, SourceError
from nearly.frozen import dataclass

__all__ = [
    "ColumnReader",
    "NamedPairs",
    "Placed",
    "SourceTexts",
    "SpeltIds",
    "TextReader",
    "WholeReader",
    "named_pairs",
    "rows_at",
    "rows_of_ids",
    "shown_texts",
    "text_of",
    "texts_of",
]

#: How many places the error of an id that repeats tells.
MOST_TOLD = 3


class Placed(NamedTuple):
    """A text, and where it stands."""

    place: Place
    text: str


class TextReader(Protocol):
    """Texts of a source that is read again; what is not there is left out."""

    def by_id(self, ids: Iterable[Any]) -> dict[Any, list[Placed]]:
        """All documents of each id, in the order of the source."""

    def by_place(self, places: Iterable[Place]) -> dict[Place, str]:
        """The text of each place."""


@runtime_checkable
class ColumnReader(TextReader, Protocol):
    """Reads other columns too."""

    def values(self, column: str) -> dict[Any, Any]:
        """The value of each document, by its id and by its place."""


@runtime_checkable
class WholeReader(ColumnReader, Protocol):
    """Reads all documents, too."""

    def every(self) -> Iterator[tuple[pa.Array, pa.Array]]:
        """What tells documents apart, and what people read of them, in the order of the source."""


@dataclass(frozen=True)
class SourceTexts:
    """Reads a source on this machine up to the last text that is asked for."""

    source: Readable
    skipped: Skips  # of the kind that the source fills; nothing is added to it
    ids_repeat: bool

    def by_id(self, ids: Iterable[Any]) -> dict[Any, list[Placed]]:
        """See `TextReader`."""
        wanted = set(ids)
        found: dict[Any, list[Placed]] = {}
        for batch in self.source.shown(self.skipped.another()):
            some = rows_of_ids(batch, wanted)
            if some.num_rows:
                texts = zip(self._places(some).to_list(), shown_texts(some["text"]), strict=True)
                for name, placed in zip(some["id"].to_pylist(), texts, strict=True):
                    found.setdefault(name, []).append(Placed(*placed))
            if len(found) == len(wanted) and not self.ids_repeat:
                break
        return found

    def by_place(self, places: Iterable[Place]) -> dict[Place, str]:
        """See `TextReader`."""
        wanted = set(places)
        found: dict[Place, str] = {}
        for batch in self.source.shown(self.skipped.another()):
            found.update(rows_at(batch, self._places(batch), wanted))
            if len(found) == len(wanted):
                break
        return found

    def values(self, column: str) -> dict[Any, Any]:
        """See `ColumnReader`; where documents share an id, only their places tell them apart."""
        if column not in self.source.schema.names:
            raise SettingsError(
                f"group is {column!r}, and {self.source.name} has no such column; name one of "
                f"{', '.join(self.source.schema.names)}, or folder for files"
            )
        found: dict[Any, Any] = {}
        for batch in self.source.documents(self.skipped.another(), also=column):
            values = batch.column(batch.num_columns - 1).to_pylist()
            found.update(zip(batch.column("id").to_pylist(), values, strict=True))
            if self.ids_repeat:
                found.update(zip(self._places(batch).to_list(), values, strict=True))
        return found

    def every(self) -> Iterator[tuple[pa.Array, pa.Array]]:
        """See `WholeReader`."""
        for batch in self.source.shown(self.skipped.another()):
            names = self._places(batch).keys() if self.ids_repeat else batch.column("id")
            yield names, _read_as_texts(batch.column("text"))

    def _places(self, batch: pa.RecordBatch) -> Places:
        return located(self.source.stretches(), numbers_of(batch.column("row")))


@dataclass(frozen=True)
class SpeltIds:
    """Reads by ids or by how they are spelt: tables of two sources may have strings only."""

    reader: TextReader
    id_type: pa.DataType

    def by_id(self, ids: Iterable[Any]) -> dict[Any, list[Placed]]:
        """See `TextReader`."""
        values = {name: self._value(name) for name in ids}
        found = self.reader.by_id(set(values.values()))
        return {name: found[value] for name, value in values.items() if value in found}

    def by_place(self, places: Iterable[Place]) -> dict[Place, str]:
        """See `TextReader`."""
        return self.reader.by_place(places)

    def _value(self, name: Any) -> Any:
        """The id that a string spells, if it spells one."""
        if not isinstance(name, str):
            return name
        try:
            value = pa.scalar(name).cast(self.id_type).as_py()
        except pa.ArrowException:
            return name
        return value if str(value) == name else name


def _read_as_texts(column: pa.Array) -> pa.Array:
    if column.type in (pa.string(), pa.large_string()):
        return column.cast(pa.large_string())
    return pa.array(shown_texts(column), pa.large_string())


def shown_texts(column: pa.Array) -> list[str]:
    """What people read: texts as they are, of lists an item per line, in alphabetical order."""
    return [one if isinstance(one, str) else _lines(one) for one in column.to_pylist()]


def _lines(items: Sequence[Any]) -> str:
    return "\n".join(sorted(str(item) for item in items if item is not None))


def rows_of_ids(batch: pa.RecordBatch, wanted: set[Any]) -> pa.RecordBatch:
    """The rows of a batch whose ids are wanted."""
    import pyarrow.compute as pc

    ids = batch.column("id")
    try:
        known = pa.array(sorted(wanted, key=str), ids.type)
    except (pa.ArrowException, TypeError):
        return batch.slice(0, 0)  # no id here is of such a type
    return batch.filter(pc.is_in(ids, known))


def rows_at(
    batch: pa.RecordBatch, places: Places, wanted: set[Place]
) -> Iterator[tuple[Place, str]]:
    """The texts of a batch that stand at wanted places."""
    here = np.array([place in wanted for place in places.to_list()], bool)
    chosen = np.flatnonzero(here)
    texts = shown_texts(batch.column("text").take(column_of(chosen)))
    yield from zip(places.take(chosen).to_list(), texts, strict=True)


def text_of(reader: TextReader, name: Any, file: str | None, row: int | None) -> str:
    """The text of the one document of this id, or of the one that stands there."""
    found = reader.by_id([name]).get(name, [])
    there = [
        placed
        for placed in found
        if (file is None or placed.place.file == file) and (row is None or placed.place.row == row)
    ]
    if found and not there:
        raise MissingError(
            f"the id {name!r} stands in {_told(found)}, and not in {Place(file, row or 0)}; "
            "give file and row as they are in the tables"
        )
    return _only(name, there)


def texts_of(reader: TextReader, ids: Sequence[Any]) -> list[str]:
    """The texts of these ids, of which each has one document."""
    found = reader.by_id(ids)
    return [_only(name, found.get(name, [])) for name in ids]


def _only(name: Any, found: Sequence[Placed]) -> str:
    if not found:
        raise MissingError(
            f"there is no document with the id {name!r}; give an id as it is in the tables"
        )
    if len(found) > 1:
        row = found[-1].place
        named = "" if row.file is None else f"file={row.file!r}, "
        raise SourceError(
            f"{len(found):,} documents have the id {name!r}: {_told(found)}. Say which one, as in "
            f"text({name!r}, {named}row={row.row})."
        )
    return found[0].text


def _told(found: Sequence[Placed]) -> str:
    more = len(found) - MOST_TOLD
    told = ", ".join(str(placed.place) for placed in found[:MOST_TOLD])
    return told + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True)
class NamedPairs:
    """The documents of pairs as ids or, where these repeat, as places; and what reads them."""

    first: Sequence[Any]
    second: Sequence[Any]
    read: Callable[[Sequence[Any]], list[str]]


def named_pairs(reader: TextReader, pairs: pa.Table) -> NamedPairs:
    """What names the documents of a table of pairs."""
    first, second = (place_list(pairs, column) for column in ("id_a", "id_b"))
    if first is None or second is None:
        a, b = (pairs[column].to_pylist() for column in ("id_a", "id_b"))
        return NamedPairs(a, b, partial(texts_of, reader))
    return NamedPairs(first, second, partial(_texts_at, reader))


def _texts_at(reader: TextReader, places: Sequence[Place]) -> list[str]:
    found = reader.by_place(places)
    return [found[place] for place in places]
