"""Two sources as one: documents of the old side, and after them those of the new side.

A row of the new side counts from the end of the old one, so whoever knows the border knows the side
of a row. The clean copy has rows of the new side only.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.place import Stretch
from nearly.errors import SourceError
from nearly.frozen import dataclass

__all__ = ["Beyond", "SidedBlock", "TwoSided", "check_alike"]

#: What the file of an old document is called where there is none, or a new one has its name.
AGAINST = "against"


@dataclass(frozen=True)
class Beyond:
    """What has to be done to the documents of one side, so that both go together."""

    id_type: pa.DataType
    #: Files of old documents that have to be called otherwise; None for the new side.
    taken: frozenset[str] | None

    def batch(
        self, documents: pa.RecordBatch, shift: int = 0, also: pa.DataType | None = None
    ) -> pa.RecordBatch:
        """Ids in a type that both sides have, and rows that count from the border.

        `also` is the type of a column that only the new side has.
        """
        import pyarrow.compute as pc

        columns = list(documents.columns)
        if shift:
            columns[0] = pc.add(columns[0], shift)
        columns[1] = columns[1].cast(self.id_type)
        names = documents.schema.names
        if also is not None:
            columns.append(pa.nulls(documents.num_rows, also))
            names = [*names, "also"]
        return pa.record_batch(columns, names=names)

    def stretches(self, found: Iterable[Stretch]) -> list[Stretch]:
        """By files whose names tell both sides apart."""
        return [stretch._replace(file=self._file(stretch.file)) for stretch in found]

    def _file(self, name: str | None) -> str | None:
        if self.taken is None or (name is not None and name not in self.taken):
            return name
        return AGAINST if name is None else f"{AGAINST}/{name}"


@dataclass(frozen=True)
class SidedBlock:
    """A block of one side; its rows count from its own first one."""

    block: Any
    beyond: Beyond
    also: pa.DataType | None  # of a column that only the new side has

    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """See `Block`."""
        is_missing = also is not None and self.also is not None
        for batch in self.block.documents(skipped, None if is_missing else also):
            yield self.beyond.batch(batch, also=self.also if is_missing else None)

    def shown(self, skipped: Any) -> Iterator[pa.RecordBatch]:
        """See `Block`."""
        for batch in self.block.shown(skipped):
            yield self.beyond.batch(batch)

    def kept(self, removed: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """The rows of the new side but those."""
        if self.beyond.taken is None:
            yield from self.block.kept(removed)

    def count_rows(self) -> int:
        """See `Block`."""
        return int(self.block.count_rows())

    def stretches(self) -> list[Stretch]:
        """See `Block`."""
        return self.beyond.stretches(self.block.stretches())


class TwoSided:
    """Documents that are compared, after those that they are compared with."""

    def __init__(self, old: Any, new: Any) -> None:
        check_alike(old, new)
        self.old, self.new = old, new
        self.name: str = new.name
        self.schema: pa.Schema = new.schema
        self.id_type: pa.DataType = old.id_type if old.id_type == new.id_type else pa.string()
        self.ids_are_unique = False
        taken = frozenset(new.part_names() if hasattr(new, "part_names") else [])
        self.of_old, self.of_new = Beyond(self.id_type, taken), Beyond(self.id_type, None)
        #: How many rows the old side has; known when it was read.
        self.border: int | None = None
        #: Rows of the new side that go; known when a clean copy was asked for.
        self.removed: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._reads_old = False

    @property
    def drops_unreadable(self) -> bool:
        """Whether rows of the new side that could not be read go."""
        return bool(self.new.drops_unreadable)

    @drops_unreadable.setter
    def drops_unreadable(self, given: bool) -> None:
        self.new.drops_unreadable = given

    @property
    def size(self) -> int:
        """Bytes of the files of both sides; 0 where one of them is not read from files."""
        sizes = int(self.old.size), int(self.new.size)
        return sum(sizes) if all(sizes) else 0

    @property
    def holds_items(self) -> bool:
        """Whether documents are sets of items, and no texts."""
        return bool(self.new.holds_items)

    @property
    def shape(self) -> Any:
        """That of the vectors, where documents are vectors."""
        return self.new.shape

    def embed(self, embedding: Any) -> None:
        """From now on, documents of both sides are the vectors of their texts."""
        for side in (self.old, self.new):
            side.embed(embedding)

    @property
    def is_folder(self) -> bool:
        """Whether the new documents are the files of a folder."""
        return bool(getattr(self.new, "is_folder", False))

    def keep_digests(self) -> Any:
        """The SHA-256 and size of each file of the new side."""
        return self.new.keep_digests()

    def type_of(self, column: str) -> pa.DataType:
        """The type in which `documents` gives a column that comes along."""
        return self.new.type_of(column)

    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of row, id and text; a column that is asked for is asked of the new side."""
        kind = None if also is None else self.new.type_of(also)

        def read(source: Any) -> Iterator[pa.RecordBatch]:
            return source.documents(skipped) if source is self.old else self._new(skipped, also)

        yield from self._both(read, kind)

    def _new(self, skipped: Any, also: str | None) -> Iterator[pa.RecordBatch]:
        found: Iterator[pa.RecordBatch] = self.new.documents(skipped, also)
        return found

    def shown(self, skipped: Any) -> Iterator[pa.RecordBatch]:
        """As `documents`, with what people read as text."""
        yield from self._both(lambda source: source.shown(skipped), None)

    def _both(
        self, read: Callable[[Any], Iterator[pa.RecordBatch]], also: pa.DataType | None
    ) -> Iterator[pa.RecordBatch]:
        self._reads_old = True
        for batch in read(self.old):
            yield self.of_old.batch(batch, also=also)
        self.border = sum(stretch.rows for stretch in self.old.stretches())
        self._reads_old = False
        for batch in read(self.new):
            yield self.of_new.batch(batch, shift=self.border)

    def stretches(self) -> list[Stretch]:
        """What the rows belong to that `documents` has given since it was called last."""
        old = self.of_old.stretches(self.old.stretches())
        return old if self._reads_old else old + self.of_new.stretches(self.new.stretches())

    def kept(self, removed: npt.NDArray[np.int64]) -> Any:
        """The rows of the new side but those."""
        self.removed = removed - (self.border or 0)
        return self.new.kept(self.removed)

    def facts(self) -> dict[str, Any]:
        """What was decided about both sides."""
        return {**self.new.facts(), AGAINST: self.old.facts()}


def check_alike(old: Any, new: Any) -> None:
    """Refuse texts against items or vectors, and vectors of another length."""
    kinds = [_kind(source) for source in (new, old)]
    if kinds[0] != kinds[1]:
        raise SourceError(
            f"{new.name} holds {kinds[0]} and {old.name}, which it is compared with, {kinds[1]}. "
            "Both have to hold the same: name columns that do."
        )


def _kind(source: Any) -> str:
    if source.holds_items:
        return "items"
    shape = source.shape
    return "texts" if shape is None else f"vectors of {shape.length} numbers ({shape.number})"
