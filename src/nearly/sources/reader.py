"""How the rows of a source become documents: the same wherever they are read."""

import dataclasses
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of, spans, string_array, truths_of, whole_numbers
from nearly.documents.place import Stretch
from nearly.errors import SourceError, UnreadableError
from nearly.frozen import dataclass
from nearly.schemas import DOCUMENTS, shaped
from nearly.sources import vector
from nearly.sources.column import Choice, as_numbers, cast, check_column, content_of, text_of
from nearly.sources.cut_text import CutTexts
from nearly.sources.formats.soundness import checked
from nearly.sources.item import are_whole
from nearly.sources.part import FIRST, Noun, Part
from nearly.sources.skipped import Skipped

__all__ = ["LONGEST", "Ledger", "Members", "Reading"]

#: Bytes of text in a document, unless another limit is given. Texts of people are shorter by far;
#: what is longer is a dump or a log.
LONGEST: Final = 2**30


@dataclass(frozen=True)
class _Piece:
    """A batch, and where it stands: in its part, and in all that is read."""

    part: Part
    first_in_part: int
    first: int
    batch: pa.RecordBatch

    @property
    def is_broken(self) -> npt.NDArray[np.bool_]:
        """Which of the rows are none of the table."""
        broken = np.zeros(self.batch.num_rows, bool)
        places = np.array(self.part.broken, np.int64) - self.first_in_part
        broken[places[(places >= 0) & (places < len(broken))]] = True
        return broken


class Members(NamedTuple):
    """Keys and items of some rows of a long table, and which of the rows they are."""

    ids: pa.Array
    items: pa.Array
    is_member: npt.NDArray[np.bool_]


@dataclasses.dataclass
class Ledger:
    """What was met when documents were read, to be held against what is read later."""

    #: How many rows each part has.
    rows: list[int] = field(default_factory=list)
    #: The rows that could not become documents.
    unreadable: "array[int]" = field(default_factory=lambda: array("q"))

    def clear(self) -> None:
        """Begin anew."""
        self.rows.clear()
        del self.unreadable[:]


@dataclass(frozen=True)
class Reading:
    """What was found out about a source as a whole; it travels with every block of it."""

    name: str
    schema: pa.Schema
    choice: Choice
    id_type: pa.DataType
    noun: Noun
    has_columns: bool
    #: Whether there are several parts: then a record is looked for in its part first.
    several: bool
    #: Bytes of text; a longer document is skipped.
    longest: int = LONGEST
    #: Whether rows that could not become documents are removed like duplicates.
    drops_unreadable: bool = False

    @property
    def numbers_rows(self) -> bool:
        """Whether ids are the numbers of rows."""
        return self.choice.id is None and bool(self.id_type == pa.int64())

    @property
    def item_type(self) -> pa.DataType:
        """The type of an item, where documents are sets of items."""
        return self.schema.field(self.choice.items).type.value_type

    def documents(
        self,
        parts: Sequence[Part],
        skipped: Skipped,
        *,
        first_row: int = 0,
        also: str | None = None,
        also_type: pa.DataType | None = None,
        ledger: Ledger | None = None,
        shown: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Batches of `row`, `id`, `text` and perhaps `also`; `row` counts what is read here.

        Where documents are sets, `text` holds the hashes of their items; or, to be `shown`, lists.
        Where they are vectors, it holds their numbers; or what people read of them.
        """
        named = (self.choice.id, *self.choice.contents, also)
        wanted = dict.fromkeys(column for column in named if column is not None)
        ledger = Ledger() if ledger is None else ledger
        ledger.clear()
        for piece in self._read(parts, list(wanted), skipped, ledger):
            found = self._documents_of(piece, first_row, also, also_type, skipped, ledger)
            is_as_read = self.choice.texts and self.choice.embedding is None
            yield self._as_shown(found, piece) if shown and not is_as_read else found

    def _as_shown(self, found: pa.RecordBatch, piece: _Piece) -> pa.RecordBatch:
        """Lists of items as they are, texts that were embedded, of vectors what people read."""
        places = numbers_of(found.column("row")) - piece.first
        if self.choice.embedding is not None:
            texts = text_of(piece.batch, self.choice).take(column_of(places))
            return found.set_column(2, "text", texts)
        name = self.choice.contents[0]
        column = self._cast(piece.batch.column(name), self.schema.field(name))
        values = column.take(column_of(places))
        if self.choice.shape is not None:
            shape = self.choice.shape
            values = string_array([vector.shown(one, shape) for one in values.to_pylist()])
        return found.set_column(2, "text", values)

    def members(
        self, parts: Sequence[Part], item: str, skipped: Skipped, ledger: Ledger
    ) -> Iterator[Members]:
        """The keys and items of a table of one item per row; rows that lack one are skipped."""
        ledger.clear()
        for piece in self._read(parts, [str(self.choice.id), item], skipped, ledger):
            ids, items = self._ids_of(piece, 0), piece.batch.column(item)
            bad = _are_null(ids, items)
            for i in np.flatnonzero(bad).tolist():
                record = piece.part.record(piece.first_in_part + i)
                reason = self._why_no_member(piece, ids, item, i)
                skipped.add(self._located(piece.part, record), reason)
            good = truths_of(~bad)
            whole = not bad.any()
            yield Members(
                ids if whole else ids.filter(good), items if whole else items.filter(good), ~bad
            )

    def _why_no_member(self, piece: _Piece, ids: pa.Array, item: str, i: int) -> str:
        if piece.is_broken[i]:
            return piece.part.why_null(piece.first_in_part + i)
        if ids[i].is_valid:
            return f"null {item}"
        given = piece.batch.column(self.choice.id)[i].as_py()
        known = f"{given!r} is not a whole number, as the first ones are"
        return f"null {self.choice.id}" if given is None else f"{self.choice.id} {known}"

    def kept(
        self,
        parts: Sequence[Part],
        removed: npt.NDArray[np.int64],
        cut: CutTexts | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Every row but those, which are given by number in ascending order, and texts cut.

        A record that is none of the table cannot be written as one of its rows, and is left out.
        """
        for piece in self._read(parts, None, Skipped(), Ledger()):
            low, high = np.searchsorted(removed, [piece.first, piece.first + piece.batch.num_rows])
            kept = ~piece.is_broken
            kept[removed[low:high] - piece.first] = False
            if self.drops_unreadable:
                kept &= ~self._is_unreadable(piece)
            batch = piece.batch
            if cut is not None:
                here = cut.between(piece.first, piece.first + batch.num_rows)
                batch = here.in_rows(batch, self.choice.texts[0])
            yield batch if kept.all() else batch.filter(truths_of(kept))

    def count_rows(self, parts: Sequence[Part]) -> list[int]:
        """How many rows of each part there are to be read."""
        ledger = Ledger()
        for _ in self._read(parts, list(self.choice.contents), Skipped(), ledger):
            pass
        return ledger.rows

    def stretches(self, parts: Sequence[Part], rows: Sequence[int]) -> list[Stretch]:
        """Where rows stand that are counted through these parts, of which each has so many."""
        return [
            Stretch(part.name if part.given else None, part.first + FIRST[part.noun], count)
            for part, count in zip(parts, rows, strict=False)  # the last ones may be yet to come
        ]

    def check_also(self, also: str) -> None:
        """Refuse a column that cannot come along."""
        if not self.has_columns:
            raise SourceError(
                f"{self.name} is made of text files, which have no column {also!r}. "
                "Point at a table instead, or choose by length or order."
            )
        check_column(self.schema, also, self.name)

    def aligned(self, batch: pa.RecordBatch, columns: list[str] | None) -> pa.RecordBatch:
        """The batch with the columns asked for, in the types that all parts share."""
        if columns is None and batch.schema.equals(self.schema):
            return batch
        if columns is None and batch.schema.names == self.schema.names:
            fields, found = list(self.schema), batch.columns
        else:
            fields = [self.schema.field(name) for name in columns or self.schema.names]
            found = [_column_or_nulls(batch, field) for field in fields]
            if columns is not None and self.choice.items is not None:
                fields = [self._narrow(*pair) for pair in zip(fields, found, strict=True)]
        arrays = [self._cast(*pair) for pair in zip(found, fields, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _read(
        self, parts: Sequence[Part], columns: list[str] | None, skipped: Skipped, ledger: Ledger
    ) -> Iterator[_Piece]:
        first = 0
        for part in parts:
            before_part = first - part.first
            ledger.rows.append(0)

            def reject(record: str, reason: str, part: Part = part) -> None:
                skipped.add(self._located(part, record), reason)

            try:
                for batch in part.batches(columns, reject):
                    yield _Piece(part, first - before_part, first, self.aligned(batch, columns))
                    first += batch.num_rows
                    ledger.rows[-1] += batch.num_rows
            except UnreadableError as error:
                if not self.several or not part.steady or skipped.strict:
                    raise
                done = f"after {first - before_part} {self.noun}s"
                skipped.add(part.name, f"unreadable {done}: {error}")

    def _narrow(self, field: pa.Field, column: pa.Array) -> pa.Field:
        """Whole numbers of a list are hashed as they come: wide, they may take most of a run."""
        is_narrow = field.name == self.choice.items and are_whole(field.type, column.type)
        return field.with_type(column.type) if is_narrow else field

    def _cast(self, column: pa.Array, field: pa.Field) -> pa.Array:
        try:
            return cast(column, field.type)
        except pa.ArrowException as error:
            raise SourceError(
                f"column {field.name!r} of {self.name} holds {column.type} in one file and "
                f"{field.type} in another. Give it one type in all files."
            ) from error

    def _documents_of(
        self,
        piece: _Piece,
        first_row: int,
        also: str | None,
        also_type: pa.DataType | None,
        skipped: Skipped,
        ledger: Ledger,
    ) -> pa.RecordBatch:
        text = content_of(piece.batch, self.choice)
        ids = self._ids_of(piece, first_row)
        columns = [whole_numbers(piece.first, piece.batch.num_rows), ids, text]
        schema = shaped(DOCUMENTS, self.id_type, content=text.type)
        if also is not None:
            column = piece.batch.column(also)
            columns.append(column if also_type is None else as_numbers(column, also_type))
            schema = schema.append(pa.field("also", columns[-1].type))
        found = pa.RecordBatch.from_arrays(columns, schema=schema)
        bad = self._are_no_documents(piece, text, ids)
        if not bad.any():
            return found
        for i in np.flatnonzero(bad).tolist():
            record = piece.part.record(piece.first_in_part + i)
            skipped.add(self._located(piece.part, record), self._why_skipped(piece, text, i))
            ledger.unreadable.append(piece.first + i)
        return found.filter(truths_of(~bad))

    def _is_unreadable(self, piece: _Piece) -> npt.NDArray[np.bool_]:
        named = (self.choice.id, *self.choice.contents)
        looked_at = [column for column in named if column is not None]
        piece = replace(piece, batch=checked(piece.batch, looked_at, piece.part.name)[0])
        text = content_of(piece.batch, self.choice)
        return self._are_no_documents(piece, text, self._ids_of(piece, 0))

    def _are_no_documents(
        self, piece: _Piece, text: pa.Array, ids: pa.Array
    ) -> npt.NDArray[np.bool_]:
        return _are_null(text, ids) | (self._lengths(piece, text) > self.longest)

    def _lengths(self, piece: _Piece, text: pa.Array) -> npt.NDArray[np.int64]:
        """In bytes, of what was read: a vector is as long for any text."""
        if self.choice.embedding is not None:
            text = text_of(piece.batch, self.choice)
        return np.diff(spans(text)[0])

    def _ids_of(self, piece: _Piece, first_row: int) -> pa.Array:
        if self.choice.id is not None:
            column = piece.batch.column(self.choice.id)
            if self.id_type == pa.int64() and not pa.types.is_integer(column.type):
                return as_numbers(column, self.id_type)
            return cast(column, self.id_type)
        start = FIRST[self.noun]
        if self.numbers_rows:
            return whole_numbers(first_row + piece.first + start, piece.batch.num_rows)
        start += piece.first_in_part
        numbers = range(start, start + piece.batch.num_rows)
        return string_array([f"{piece.part.name}:{n}" for n in numbers], pa.string())

    def _why_skipped(self, piece: _Piece, text: pa.Array, i: int) -> str:
        if not text[i].is_valid:
            return self._why_null(piece, i)
        length = int(self._lengths(piece, text)[i])
        if length > self.longest:
            return f"too long: {length:,} bytes of text, and the limit is {self.longest:,}"
        given = piece.batch.column(self.choice.id)[i].as_py()
        if given is None:
            return "null id"
        return f"id {given!r} is not a whole number, as the first ids are"

    def _why_null(self, piece: _Piece, i: int) -> str:
        is_embedded = self.choice.embedding is not None
        if is_embedded and text_of(piece.batch, self.choice)[i].is_valid:
            return "its embedding has a number that is not finite"
        why = piece.part.why_null(piece.first_in_part + i)
        if self.choice.items is not None:
            return why.replace("null text", "null items")
        if self.choice.shape is None or is_embedded:
            return why
        value = piece.batch.column(self.choice.vector)[i].as_py()
        if value is None and why != "null text":
            return why.replace("null text", "null vector")
        return vector.why_none(value, self.choice.shape)

    def _located(self, part: Part, record: str) -> str:
        return f"{part.name}: {record}" if self.several else record


def _are_null(*columns: pa.Array) -> npt.NDArray[np.bool_]:
    """The places where any of them is null."""
    found = np.zeros(len(columns[0]), bool)
    for column in columns:
        if column.null_count:
            found |= column.is_null().to_numpy(zero_copy_only=False)
    return found


def _column_or_nulls(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    index = batch.schema.get_field_index(field.name)
    return pa.nulls(batch.num_rows, field.type) if index < 0 else batch.column(index)
