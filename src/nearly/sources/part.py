"""The smallest thing that can be read: one file, frame or list, as Arrow batches."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from nearly.frozen import dataclass
from nearly.sources.cut_text import Gaps, NotThereError
from nearly.sources.record import Encoded, Original

__all__ = [
    "BATCH_BYTES",
    "BATCH_ROWS",
    "FIRST",
    "Cut",
    "Noun",
    "Part",
    "Reject",
    "Stored",
    "bytes_of_file",
    "sliced",
]

BATCH_ROWS = 8_192
BATCH_BYTES = 4 << 20

#: Called with a record and the reason why it cannot be a row.
Reject = Callable[[str, str], None]

Noun = Literal["row", "line"]
#: A row number counts from zero; a line is called as editors call it, from one.
FIRST: dict[Noun, int] = {"row": 0, "line": 1}


@dataclass(frozen=True)
class Stored:
    """The rows of a file of a binary format, and how the file is made."""

    schema: pa.Schema
    #: Parquet or Arrow, and what its writer has to be told to make another one like it.
    format: str
    options: Mapping[str, Any]
    #: In the groups in which they are stored, or in smaller ones.
    groups: Iterator[pa.Table]


class Part(ABC):
    """One readable piece of a source; reading it again gives the same rows in the same order."""

    #: How to call it in messages.
    name: str
    schema: pa.Schema
    #: What its rows are called.
    noun: Noun = "row"
    #: Where reading breaks off, it breaks off at the same row each time.
    steady: bool = True
    #: Its rows live in this process alone: another one cannot read them for itself.
    in_memory: bool = False
    #: Where it is one file, the full path: a relative one would not travel.
    path: str = ""
    #: The full path of the file that was given, where `path` may be a copy of it in plain UTF-8
    #: or without compression; nothing for what was no file.
    given: str = ""
    #: How the file is encoded, where `path` is a copy in UTF-8.
    encoded: Encoded | None = None
    #: The number of its first row, where it was cut from a longer part.
    first: int = 0
    #: Of the batch that was given last, the rows that are none of the table: they hold nulls,
    #: and only their bytes in the file say more.
    broken: Sequence[int] = ()

    @property
    def files(self) -> Sequence[str]:
        """The files it is read from, by their full paths."""
        return [self.path] if self.path else []

    @abstractmethod
    def batches(self, columns: Sequence[str] | None, reject: Reject) -> Iterator[pa.RecordBatch]:
        """All rows in order, with at least the named columns (None: every column).

        A record that cannot be a row is one of nulls, in its place. What is no record, such as
        a file that was left out, is rejected.
        """

    def record(self, row: int) -> str:
        """How to call a row of this part in messages."""
        return f"{self.noun} {row + FIRST[self.noun]}"

    def why_null(self, row: int) -> str:  # noqa: ARG002 - some parts know more about the row
        """Why the text of a row is null; asked of rows of the batch that was given last."""
        return "null text"

    def number_type(self, column: str) -> pa.DataType | None:  # noqa: ARG002
        """The type of the numbers that a column of strings spells; None where it does not."""
        return None

    def some_values(self, column: str) -> list[Any]:
        """What a column holds in the first rows."""
        batch = next(self.batches([column], lambda *_: None), None)
        return [] if batch is None else batch.column(column).to_pylist()

    def keep_digests(self) -> Mapping[str, tuple[str, int]]:
        """The SHA-256 and size of each file that is a document, by id, filled as it is read."""
        return {}

    def is_own_format(self, ending: str) -> bool:  # noqa: ARG002 - most are no file
        """Whether a file of that ending can hold its rows as they stand in this one."""
        return False

    def original(self) -> Original | None:
        """Its rows by their bytes; None where rows are no lines or records of a text."""
        return None

    def apart(self, rows: int) -> "Sequence[tuple[Part, int]]":
        """Parts of one file each that have the same rows, and how many rows each has."""
        return [(self, rows)]

    def cut_record(self, record: str, column: str, gaps: Gaps) -> str:  # noqa: ARG002
        """A record of the original without the gaps of a column's text; all else as it stands."""
        raise NotThereError

    def stored(self) -> Stored | None:
        """Its rows as they are stored in a file of a binary format."""
        return None

    def cut(self, size: int) -> "list[Cut]":  # noqa: ARG002 - most can only be read from the start
        """Parts of about `size` bytes that have the same rows one after the other."""
        return [Cut(self, None, bytes_of_file(self.path))]


class Cut(NamedTuple):
    """A part that was cut from another: its rows, where their number is known, and its bytes."""

    part: Part
    rows: int | None
    size: int


def sliced(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of at most `BATCH_ROWS` rows, without copying."""
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def bytes_of_file(path: str) -> int:
    """The size of a file; what is wrong with it shows when it is read."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
