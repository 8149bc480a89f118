"""A frame that lies on a cluster: its partitions, one after the other, are the source.

Nothing here knows what kind of frame it is: an engine that does brings the rows of a partition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from nearly.sources.blocks.block import Block
from nearly.sources.column import choose_columns, facts_of, id_type_of, unviewed
from nearly.sources.embedding import Embedding
from nearly.sources.formats.arrow import TablePart
from nearly.sources.reader import Reading
from nearly.sources.vector import Shape

__all__ = ["LazyFrameSource"]


@dataclass(frozen=True)
class Partitions:
    """How the rows of a partition are read; it goes to where they are."""

    reading: Reading

    def block_of(self, number: int, batches: Sequence[pa.RecordBatch]) -> Block:
        """The rows of one partition."""
        table = pa.Table.from_batches(batches, None if batches else self.reading.schema)
        part = TablePart(table, f"partition {number}")
        return Block(self.reading, (part,), {}, (), None, table.num_rows)


class LazyFrameSource:
    """Rows known by their partition, and by their place in it."""

    def __init__(
        self,
        frame: Any,
        schema: pa.Schema,
        *,
        name: str = "the DataFrame",
        id_column: str | None,
        text_column: str | Sequence[str] | None,
        items_column: str | None = None,
        vector_column: str | None = None,
        first_vector: Any = None,
    ) -> None:
        self.name = name
        self.frame = frame
        self.drops_unreadable = False
        self.schema = pa.schema([f.with_type(unviewed(f.type)) for f in schema])
        self.columns = tuple(self.schema.names)
        choice = choose_columns(
            self.schema, name, id_column, text_column, items=items_column, vector=vector_column
        )
        if choice.shape is not None:
            choice = replace(choice, shape=choice.shape.known(first_vector))
        self._first_vector = first_vector
        self.looked_at = (choice.id, *choice.contents)
        self.ids_are_unique = choice.id is None
        self.needs_row_counts = choice.id is None
        kind = pa.int64() if choice.id is None else self.schema.field(choice.id).type
        self.id_type: pa.DataType = id_type_of(kind, choice.id or "row", self.name)
        self._reading = Reading(
            name=self.name,
            schema=self.schema,
            choice=choice,
            id_type=self.id_type,
            noun="row",
            has_columns=True,
            several=True,
        )

    @property
    def numbers_rows(self) -> bool:
        """Whether ids are the numbers of rows."""
        return self.needs_row_counts

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

    def embed(self, embedding: Embedding) -> None:
        """From now on, documents are the vectors of their texts."""
        choice = self._reading.choice.embedded(embedding)
        self._reading = replace(self._reading, choice=choice)

    @property
    def partitions(self) -> Partitions:
        """How its partitions are read."""
        return Partitions(replace(self._reading, drops_unreadable=self.drops_unreadable))

    def facts(self) -> dict[str, Any]:
        """Which columns were taken, and what nobody named of it."""
        return {**facts_of(self.partitions.reading.choice), "likely_id": None}

    def with_frame(self, narrower: Any, columns: Sequence[str]) -> "LazyFrameSource":
        """The same documents of a frame that has only these columns."""
        choice = self._reading.choice
        fields = [self.schema.field(name) for name in columns]
        same = LazyFrameSource(
            narrower,
            pa.schema(fields),
            name=self.name,
            id_column=choice.id,
            text_column=choice.texts or None,
            items_column=choice.items,
            vector_column=choice.vector,
            first_vector=self._first_vector,
        )
        if choice.embedding is not None:
            same.embed(choice.embedding)
        return same

    def type_of(self, column: str) -> pa.DataType:
        """The type in which `documents` gives a column that comes along."""
        self._reading.check_also(column)
        return self.schema.field(column).type
