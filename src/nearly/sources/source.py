"""A source: what the user pointed at, as batches of documents and as its own rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from nearly.arrays import string_array, whole_numbers
from nearly.errors import SourceError, UnreadableError
from nearly.schemas import DOCUMENTS, with_id_type
from nearly.sources.columns import (
    as_numbers,
    cast,
    check_column,
    choose_columns,
    id_type_of,
    unviewed,
)
from nearly.sources.part import Part
from nearly.sources.skipped import Skipped

__all__ = ["Source"]

#: A row number counts from zero; a line is called as editors call it, from one.
_FIRST = {"row": 0, "line": 1}


@dataclass(frozen=True)
class _Piece:
    """A batch, and where it stands: in its part, and in the whole source."""

    part: Part
    first_in_part: int
    first: int
    batch: pa.RecordBatch


class Source:
    """Parts one after the other, read as often as wanted, always in the same order."""

    def __init__(
        self,
        name: str,
        parts: Sequence[Part],
        *,
        id_column: str | None = None,
        text_column: str | None = None,
        ids_are_unique: bool = False,
        is_folder: bool = False,
        has_columns: bool = True,
        noun: Literal["row", "line"] = "row",
        unreadable: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.name = name
        self.is_folder = is_folder
        self.schema = _united([part.schema for part in parts], name)
        self.columns: tuple[str, ...] = tuple(self.schema.names) if has_columns else ()
        self._parts = parts
        self._noun = noun
        self._unreadable = unreadable
        self._choice = choose_columns(self.schema, name, id_column, text_column)
        self.ids_are_unique = ids_are_unique or self._choice.id is None
        self.id_type: pa.DataType = self._find_id_type()

    def documents(self, skipped: Skipped, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of `row`, `id`, `text` and, where a column is asked for, `also`.

        What cannot be a document is added to `skipped`; its row number stays unused.
        """
        if also is not None:
            self._check_also(also)
        for record, reason in self._unreadable:
            skipped.add(record, reason)
        wanted = dict.fromkeys(c for c in (self._choice.id, self._choice.text, also) if c)
        for piece in self._read(list(wanted), skipped):
            yield self._documents_of(piece, also, skipped)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Every row with its own columns; `documents` counts the same rows in the same order."""
        for piece in self._read(None, Skipped()):
            yield piece.batch

    def _read(self, columns: list[str] | None, skipped: Skipped) -> Iterator[_Piece]:
        first = 0
        for part in self._parts:
            first_of_part = first

            def reject(record: str, reason: str, part: Part = part) -> None:
                skipped.add(self._located(part, record), reason)

            try:
                for batch in part.batches(columns, reject):
                    yield _Piece(part, first - first_of_part, first, self._aligned(batch, columns))
                    first += batch.num_rows
            except UnreadableError as error:
                if len(self._parts) == 1 or not part.steady or skipped.strict:
                    raise
                done = f"after {first - first_of_part} {self._noun}s"
                skipped.add(part.name, f"unreadable {done}: {error}")

    def _aligned(self, batch: pa.RecordBatch, columns: list[str] | None) -> pa.RecordBatch:
        """The batch with the columns asked for, in the types that all parts share."""
        if columns is None and batch.schema.equals(self.schema):
            return batch
        if columns is None and batch.schema.names == self.schema.names:
            fields, found = list(self.schema), batch.columns
        else:
            fields = [self.schema.field(name) for name in columns or self.schema.names]
            found = [_column_or_nulls(batch, field) for field in fields]
        arrays = [self._cast(*pair) for pair in zip(found, fields, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _cast(self, column: pa.Array, field: pa.Field) -> pa.Array:
        try:
            return cast(column, field.type)
        except pa.ArrowException as error:
            raise SourceError(
                f"column {field.name!r} of {self.name} holds {column.type} in one file and "
                f"{field.type} in another. Give it one type in all files."
            ) from error

    def _documents_of(self, piece: _Piece, also: str | None, skipped: Skipped) -> pa.RecordBatch:
        text = cast(piece.batch.column(self._choice.text), pa.large_string())
        ids = self._ids_of(piece)
        columns = [whole_numbers(piece.first, piece.batch.num_rows), ids, text]
        schema = with_id_type(DOCUMENTS, self.id_type)
        if also is not None:
            columns.append(self._also_of(piece.batch, also))
            schema = schema.append(pa.field("also", columns[-1].type))
        found = pa.RecordBatch.from_arrays(columns, schema=schema)
        if text.null_count == 0 and ids.null_count == 0:
            return found
        import pyarrow.compute as pc  # slow to import, and seldom needed

        good = pc.and_(text.is_valid(), ids.is_valid())
        for i in pc.indices_nonzero(pc.invert(good)).to_pylist():
            record = piece.part.record(piece.first_in_part + i)
            skipped.add(self._located(piece.part, record), self._why_skipped(piece, text, i))
        return found.filter(good)

    def _ids_of(self, piece: _Piece) -> pa.Array:
        start = _FIRST[self._noun]
        if self._choice.id is not None:
            column = piece.batch.column(self._choice.id)
            if self.id_type == pa.int64() and not pa.types.is_integer(column.type):
                return as_numbers(column, self.id_type)
            return cast(column, self.id_type)
        if self.id_type == pa.int64():
            return whole_numbers(piece.first + start, piece.batch.num_rows)
        start += piece.first_in_part
        numbers = range(start, start + piece.batch.num_rows)
        return string_array([f"{piece.part.name}:{n}" for n in numbers], pa.string())

    def _also_of(self, batch: pa.RecordBatch, also: str) -> pa.Array:
        column = batch.column(also)
        kind = self._number_type(also)
        return column if kind is None else as_numbers(column, kind)

    def _why_skipped(self, piece: _Piece, text: pa.Array, i: int) -> str:
        if not text[i].is_valid:
            return piece.part.why_null(piece.first_in_part + i)
        given = piece.batch.column(self._choice.id)[i].as_py()
        if given is None:
            return "null id"
        return f"id {given!r} is not a whole number, as the first ids are"

    def _located(self, part: Part, record: str) -> str:
        """A record is looked for in its file first, where there are several."""
        return record if len(self._parts) == 1 else f"{part.name}: {record}"

    def _find_id_type(self) -> pa.DataType:
        chosen = self._choice.id
        if chosen is None:
            several_files = self._noun == "line" and len(self._parts) > 1
            return pa.string() if several_files else pa.int64()
        if self._number_type(chosen) == pa.int64():
            return pa.int64()
        return id_type_of(self.schema.field(chosen).type, chosen, self.name)

    def _number_type(self, column: str) -> pa.DataType | None:
        """What the strings of a column spell, if they spell numbers in every part."""
        kinds = {p.number_type(column) for p in self._parts if column in p.schema.names}
        if kinds == {pa.int64(), pa.float64()}:
            return pa.float64()
        return kinds.pop() if len(kinds) == 1 else None

    def _check_also(self, also: str) -> None:
        if not self.columns:
            raise SourceError(
                f"{self.name} is made of text files, which have no column {also!r}. "
                "Point at a table instead, or choose by length or order."
            )
        check_column(self.schema, also, self.name)


def _column_or_nulls(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    index = batch.schema.get_field_index(field.name)
    return pa.nulls(batch.num_rows, field.type) if index < 0 else batch.column(index)


def _united(schemas: Sequence[pa.Schema], name: str) -> pa.Schema:
    """The columns of all parts; types that cannot be reconciled become strings."""
    schemas = [
        pa.schema([f.with_type(unviewed(f.type)) for f in schema], schema.metadata)
        for schema in schemas
    ]
    if len(schemas) == 1:
        return schemas[0]
    for schema in schemas:
        for column in schema.names:
            check_column(schema, column, name)
    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except pa.ArrowException:
        kinds: dict[str, set[pa.DataType]] = {}
        for field in (field for schema in schemas for field in schema):
            kinds.setdefault(field.name, set()).add(field.type)
        return pa.schema(
            [(n, k.pop() if len(k) == 1 else pa.large_string()) for n, k in kinds.items()]
        )
