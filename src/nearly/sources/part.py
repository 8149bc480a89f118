"""The smallest thing that can be read: one file, frame or list, as Arrow batches."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

__all__ = ["BATCH_BYTES", "BATCH_ROWS", "Part", "Reject", "sliced"]

BATCH_ROWS = 8_192
BATCH_BYTES = 4 << 20

#: Called with a record and the reason why it cannot be a row.
Reject = Callable[[str, str], None]


class Part(ABC):
    """One readable piece of a source; reading it again gives the same rows in the same order."""

    #: How to call it in messages.
    name: str
    schema: pa.Schema
    #: Where reading breaks off, it breaks off at the same row each time.
    steady: bool = True

    @abstractmethod
    def batches(self, columns: Sequence[str] | None, reject: Reject) -> Iterator[pa.RecordBatch]:
        """All rows in order, with at least the named columns (None: every column)."""

    def record(self, row: int) -> str:
        """How to call a row of this part in messages."""
        return f"row {row}"

    def why_null(self, row: int) -> str:  # noqa: ARG002 - some parts know more about the row
        """Why the text of a row is null."""
        return "null text"

    def number_type(self, column: str) -> pa.DataType | None:  # noqa: ARG002
        """The type of the numbers that a column of strings spells; None where it does not."""
        return None


def sliced(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of at most `BATCH_ROWS` rows, without copying."""
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)
