"""What documents are read from, as an engine sees it: a source and its skipped records."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.place import Stretch
from nearly.errors import UnreadableError

__all__ = ["Readable", "Skips", "nothing_read"]

#: How many reasons the error of a source without a document tells.
MOST_TOLD = 3


class Skips(Protocol):
    """The list of records that could not become documents."""

    strict: bool  # the first one is fatal

    def add(self, record: str, reason: str) -> None:
        """Take note of one record that is left out."""

    @property
    def room(self) -> int:
        """How many more can be listed; all are counted."""

    def another(self) -> Self:
        """An empty list of the same kind, to be filled elsewhere."""

    def trimmed(self, room: int) -> Self:
        """The same count, and at most this many records."""

    def merge(self, other: Self) -> None:
        """Add what was met elsewhere."""

    def to_list(self) -> list[tuple[str, str]]:
        """The listed records, each with its reason."""

    def fill(self, listed: Sequence[tuple[str, str]], count: int) -> None:
        """Become what `to_list` and the count of another list said."""

    def __len__(self) -> int: ...


class Readable(Protocol):
    """What an engine reads documents from, as often as it likes, always in the same order."""

    name: str
    id_type: pa.DataType
    ids_are_unique: bool
    schema: pa.Schema
    border: int | None  # rows before this one are old, if there is a border; known after reading

    @property
    def size(self) -> int:
        """Bytes of the files it is read from; 0 where it is not read from files."""

    # A source knows its own list of skipped records, of which an engine sees `Skips`.
    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of row, id and text, and perhaps one column more."""

    def shown(self, skipped: Any) -> Iterator[pa.RecordBatch]:
        """As `documents`, with what people read as text: lists of items, where it is no text."""

    def kept(self, removed: npt.NDArray[np.int64]) -> Callable[[], Iterator[pa.RecordBatch]]:
        """The rows but those, which are given by number in ascending order."""

    def stretches(self) -> Sequence[Stretch]:
        """What the rows belong to that `documents` has given since it was called last."""

    def facts(self) -> dict[str, Any]:
        """What was decided about it: columns, encodings, files that were left."""


def nothing_read(source: Readable, skipped: Skips) -> UnreadableError:
    """The error of a source of which every record was skipped."""
    firsts: dict[str, str] = {}
    for record, reason in skipped.to_list():
        firsts.setdefault(reason, record)
    told = [f"{record}: {reason}" for reason, record in list(firsts.items())[:MOST_TOLD]]
    more = len(skipped) - len(told)
    return UnreadableError(
        f"{source.name}: no document could be read, {len(skipped):,} skipped: {'; '.join(told)}"
        + (f"; and {more:,} more" if more else "")
    )
