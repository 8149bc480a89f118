"""Blocks of a source: some of its rows, that another process or machine can read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.place import Stretch
from nearly.frozen import dataclass
from nearly.sources.file_state import FileState, check_unchanged
from nearly.sources.part import Cut, Part
from nearly.sources.reader import Reading
from nearly.sources.skipped import Skipped

__all__ = ["Block", "blocks_of"]


@dataclass(frozen=True)
class Block:
    """Rows that lie together, read wherever the files of the source can be seen.

    What was found out about the whole source goes along and is not found out again, so that a
    block gives the documents that the source gives in its place.
    """

    reading: Reading
    parts: tuple[Part, ...]
    #: What the strings of columns spell, where they spell numbers.
    number_types: Mapping[str, pa.DataType]
    #: What the source as a whole could not read, told by one of its blocks.
    unreadable: Sequence[tuple[str, str]]
    #: The number of its first row in the source; None where that takes counting.
    first_row: int | None
    #: How many rows it has, where that is known without reading.
    _known_rows: int | None
    #: Its files as they were when the source was opened.
    states: Mapping[str, FileState | None] = field(default_factory=dict)

    def documents(self, skipped: Skipped, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """As `Source.documents`, but `row` counts from the first row of the block."""
        if also is not None:
            self.reading.check_also(also)
        for record, reason in self.unreadable:
            skipped.add(record, reason)
        self._check_unchanged()
        yield from self.reading.documents(
            self.parts,
            skipped,
            first_row=self._first_row_for_ids(),
            also=also,
            also_type=None if also is None else self.number_types.get(also),
        )
        self._check_unchanged()

    def shown(self, skipped: Skipped) -> Iterator[pa.RecordBatch]:
        """As `Source.shown`."""
        self._check_unchanged()
        yield from self.reading.documents(
            self.parts, skipped, first_row=self._first_row_for_ids(), shown=True
        )

    def kept(self, removed: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """The rows of the block but those, which are given by number in ascending order."""
        self._check_unchanged()
        yield from self.reading.kept(self.parts, removed)
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        names = {part.path: part.name for part in self.parts if part.path}
        check_unchanged(self.states, names, elsewhere=True)

    def count(self) -> int | None:
        """How many rows it has, skipped ones too, where that is known without reading."""
        return self._known_rows

    def count_rows(self) -> int:
        """How many rows it has, skipped ones too; it is read for that where it must be."""
        if self._known_rows is not None:
            return self._known_rows
        return sum(self.reading.count_rows(self.parts))

    def stretches(self) -> list[Stretch]:
        """Where its rows stand; it is read for that where it has several parts."""
        counts = self.reading.count_rows(self.parts) if len(self.parts) > 1 else [0]
        return self.reading.stretches(self.parts, counts)

    def starting_at(self, first_row: int) -> "Block":
        """The same block, told where it stands in the source."""
        return replace(self, first_row=first_row)

    def _first_row_for_ids(self) -> int:
        if not self.reading.numbers_rows:
            return 0
        if self.first_row is None:
            raise ValueError(
                f"the ids of {self.reading.name} are row numbers, and where this block begins "
                "is not known. Count the rows of the blocks before it, and use starting_at()."
            )
        return self.first_row


def blocks_of(
    cuts: Iterable[Cut],
    size: int,
    reading: Reading,
    number_types: Mapping[str, pa.DataType],
    unreadable: Sequence[tuple[str, str]],
    states: Mapping[str, FileState | None],
) -> list[Block]:
    """Blocks of about `size` bytes; small parts share one."""
    blocks: list[Block] = []
    first_row: int | None = 0
    for group in _groups(cuts, size):
        counts = [cut.rows for cut in group if cut.rows is not None]
        known_rows = sum(counts) if len(counts) == len(group) else None
        parts = tuple(cut.part for cut in group)
        told = () if blocks else unreadable
        its = {file: states.get(file) for part in parts for file in part.files}
        blocks.append(Block(reading, parts, number_types, told, first_row, known_rows, its))
        if first_row is not None:
            first_row = None if known_rows is None else first_row + known_rows
    return blocks


def _groups(cuts: Iterable[Cut], size: int) -> Iterator[list[Cut]]:
    group: list[Cut] = []
    total = 0
    for cut in cuts:
        if group and total + cut.size / 2 > size:  # nearer to the size without it
            yield group
            group, total = [], 0
        group.append(cut)
        total += cut.size
    yield group
