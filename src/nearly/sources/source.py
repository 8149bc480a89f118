"""A source: what the user pointed at, as batches of documents and as its own rows."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.place import Stretch
from nearly.errors import UnreadableError
from nearly.sources.blocks.block import Block, blocks_of
from nearly.sources.blocks.fingerprint import stamp_of
from nearly.sources.blocks.portable import Spool, carry
from nearly.sources.column import (
    Choice,
    check_column,
    choose_columns,
    facts_of,
    id_type_of,
    likely_id,
    looks_unique,
    unviewed,
)
from nearly.sources.cut_text import CutTexts
from nearly.sources.embedding import Embedding
from nearly.sources.file_state import check_unchanged, states_of
from nearly.sources.formats.text_file import TextFilesPart
from nearly.sources.kept import Kept
from nearly.sources.part import Cut, Part
from nearly.sources.reader import Ledger, Members, Reading
from nearly.sources.skipped import Skipped
from nearly.sources.vector import Shape

__all__ = ["Source"]


class Source:
    """Parts one after the other, read as often as wanted, always in the same order.

    A row is known by its place in its part. So where ids are row numbers there is one part, and
    its blocks know where they begin without counting.
    """

    needs_row_counts = False
    border: int | None = None  # it has one side

    def __init__(
        self,
        name: str,
        parts: Sequence[Part],
        *,
        id_column: str | None = None,
        text_column: str | Sequence[str] | None = None,
        items_column: str | None = None,
        vector_column: str | None = None,
        key_column: str | None = None,
        guess_id: bool = True,
        ids_are_unique: bool = False,
        is_folder: bool = False,
        has_columns: bool = True,
        unreadable: Sequence[tuple[str, str]] = (),
        notes: Mapping[str, Any] | None = None,
        temporary: Path,
    ) -> None:
        self.name = name
        self.is_folder = is_folder
        self.schema = _united([part.schema for part in parts], name)
        self.columns: tuple[str, ...] = tuple(self.schema.names) if has_columns else ()
        #: Whether rows that cannot become documents stay in a clean copy, or go.
        self.drops_unreadable = False
        self._parts = parts
        self._unreadable = unreadable
        self.notes = notes or {}
        self._guess_id = guess_id
        self._ledger = Ledger()
        self._states = states_of(self.files)
        self._temporary = temporary
        if key_column is not None:
            check_column(self.schema, key_column, name)
            choice = Choice(texts=(), id=key_column)
        else:
            choice = choose_columns(
                self.schema,
                name,
                id_column,
                text_column,
                items=items_column,
                vector=vector_column,
                guess_id=guess_id,
            )
            choice = self._with_length(choice)
        self.ids_are_unique = ids_are_unique or choice.id is None
        self.id_type: pa.DataType = self._find_id_type(choice.id)
        self._reading = Reading(
            name=name,
            schema=self.schema,
            choice=choice,
            id_type=self.id_type,
            noun=parts[0].noun,
            has_columns=has_columns,
            several=len(parts) > 1,
        )

    @property
    def numbers_rows(self) -> bool:
        """Whether ids are the numbers of rows."""
        return self._reading.numbers_rows

    def skip_longer_than(self, longest: int) -> None:
        """From now on, a document of more bytes of text is skipped."""
        self._reading = replace(self._reading, longest=longest)

    def embed(self, embedding: Embedding) -> None:
        """From now on, documents are the vectors of their texts."""
        choice = self._reading.choice.embedded(embedding)
        self._reading = replace(self._reading, choice=choice)

    def documents(self, skipped: Skipped, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of `row`, `id`, `text` and, where a column is asked for, `also`.

        What cannot be a document is added to `skipped`; its row number stays unused.
        """
        if also is not None:
            self._reading.check_also(also)
        for record, reason in self._unreadable:
            skipped.add(record, reason)
        also_type = None if also is None else self._number_type(also)
        yield from self._reading.documents(
            self._parts, skipped, also=also, also_type=also_type, ledger=self._ledger
        )
        if not isinstance(self._parts[0], TextFilesPart):  # which reads each file at once
            self.check_unchanged(self._parts)

    def part_names(self) -> list[str]:
        """What its parts are called, in messages and in tables."""
        return [part.name for part in self._parts]

    def rename_parts(self, names: Sequence[str]) -> None:
        """Call its parts as they were called before, from another folder or by other paths."""
        if len(names) == len(self._parts):
            for part, name in zip(self._parts, names, strict=True):
                part.name = name

    def stretches(self) -> list[Stretch]:
        """What the rows belong to that `documents` has given since it was called last."""
        return self._reading.stretches(self._parts, self._ledger.rows)

    def members(self, item: str, skipped: Skipped) -> Iterator[Members]:
        """The keys and items of a table of one item per row."""
        for record, reason in self._unreadable:
            skipped.add(record, reason)
        yield from self._reading.members(self._parts, item, skipped, self._ledger)

    @property
    def files(self) -> list[str]:
        """The files it is read from, by their full paths."""
        return [file for part in self._parts for file in part.files]

    @property
    def holds_items(self) -> bool:
        """Whether documents are sets of items, and no texts."""
        return self._reading.choice.items is not None

    @property
    def item_type(self) -> pa.DataType:
        """The type of an item, where documents are sets of items."""
        return self._reading.item_type

    @property
    def shape(self) -> Shape | None:
        """That of the vectors, where documents are vectors."""
        return self._reading.choice.shape

    def _with_length(self, choice: Choice) -> Choice:
        """All vectors are as long as the first that is not empty, where their type does not say."""
        if choice.shape is None or choice.shape.length is not None:
            return choice
        firsts = (value for part in self._parts for value in part.some_values(str(choice.vector)))
        first: Any = next((value for value in firsts if value), [])
        return replace(choice, shape=choice.shape.known(first))

    def shown(self, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        """As `documents`, with what people read of items or vectors where these are compared."""
        for record, reason in self._unreadable:
            skipped.add(record, reason)
        yield from self._reading.documents(self._parts, skipped, ledger=self._ledger, shown=True)

    def keep_digests(self) -> Mapping[str, tuple[str, int]]:
        """The SHA-256 and size of each file of a folder, by id, filled as it is read."""
        return self._parts[0].keep_digests()

    def kept(self, removed: npt.NDArray[np.int64]) -> Kept:
        """The clean copy: all rows but those, which are given by number in ascending order."""
        return self._kept(removed, None)

    def kept_with_cuts(self, cut: CutTexts) -> Kept:
        """All rows, where something is taken out of the texts of some."""
        return self._kept(np.empty(0, np.int64), cut)

    def _kept(self, removed: npt.NDArray[np.int64], cut: CutTexts | None) -> Kept:
        reading = replace(self._reading, drops_unreadable=self.drops_unreadable)
        return Kept(reading, self._parts, self._ledger, removed, self.check_unchanged, cut)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns whose values are the text, joined; none where documents are no texts."""
        return self._reading.choice.texts

    def check_unchanged(self, parts: Sequence[Part]) -> None:
        """Refuse to go on where a file is no longer the one that was opened."""
        names = {part.path: part.name for part in parts if part.path}
        states = {file: self._states[file] for part in parts for file in part.files}
        check_unchanged(states, names)

    def blocks(self, size: int) -> list[Block]:
        """The same rows in blocks of about `size` bytes, for other processes to read.

        What lives in this process alone is written down below the temporary folder, and goes
        along when its block is sent.
        """
        spool = Spool(self._temporary)
        cuts = [cut for part in self._parts for cut in self._cut(part, size, spool)]
        kinds = {name: self._number_type(name) for name in self.schema.names}
        number_types = {name: kind for name, kind in kinds.items() if kind is not None}
        reading = replace(self._reading, drops_unreadable=self.drops_unreadable)
        return blocks_of(cuts, size, reading, number_types, self._unreadable, self._states)

    def facts(self) -> dict[str, Any]:
        """What was decided about the input: columns, encodings, files that were left."""
        choice = self._reading.choice
        columns = {**facts_of(choice), "likely_id": self._likely_id()} if self.columns else {}
        return {**columns, **self.notes}

    def _likely_id(self) -> str | None:
        """A column that nobody named and that may be the id: its first values are unique."""
        found = likely_id(self.schema, self._reading.choice)
        if found is None or not self._guess_id or found not in self._parts[0].schema.names:
            return None
        try:
            return found if looks_unique(self._parts[0].some_values(found)) else None
        except UnreadableError:
            return None

    def stamp(self) -> str:
        """Sixteen hex digits that are others wherever the rows may be."""
        return stamp_of(self._parts, self._temporary)

    @property
    def size(self) -> int:
        """Bytes of the files it is read from; 0 where there are none."""
        return sum(state.size for state in self._states.values() if state is not None)

    def _cut(self, part: Part, size: int, spool: Spool) -> list[Cut]:
        if self._is_ours(part):
            return carry(part, self._reading, size, spool)
        return part.cut(size)

    def _is_ours(self, part: Part) -> bool:
        """Whether no other process can read it: it is in memory, or a copy that we made."""
        folder = os.path.join(os.path.abspath(self._temporary), "")
        return part.in_memory or part.path.startswith(folder)

    def type_of(self, column: str) -> pa.DataType:
        """The type in which `documents` gives a column that comes along."""
        self._reading.check_also(column)
        return self._number_type(column) or self.schema.field(column).type

    def _find_id_type(self, chosen: str | None) -> pa.DataType:
        if chosen is None:
            return pa.string() if len(self._parts) > 1 else pa.int64()
        if self._number_type(chosen) == pa.int64():
            return pa.int64()
        return id_type_of(self.schema.field(chosen).type, chosen, self.name)

    def _number_type(self, column: str) -> pa.DataType | None:
        """What the strings of a column spell, if they spell numbers in every part."""
        kinds = {p.number_type(column) for p in self._parts if column in p.schema.names}
        if kinds == {pa.int64(), pa.float64()}:
            return pa.float64()
        return kinds.pop() if len(kinds) == 1 else None


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
