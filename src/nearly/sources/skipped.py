"""The list of records that could not become documents, and why."""

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import UnreadableError
from nearly.schemas import SKIPPED

__all__ = ["LONGEST_LIST", "Skipped"]

#: All are counted; only so many are listed, so that a hopeless input cannot fill the memory.
LONGEST_LIST = 100_000


class Skipped:
    """Counts and lists skipped records; with `strict`, the first one is fatal."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._count = 0
        self._records: list[str] = []
        self._reasons: list[str] = []

    def add(self, record: str, reason: str) -> None:
        """Take note of one record that is left out."""
        if self.strict:
            raise UnreadableError(
                f"{record}: {reason}. Mend it, or run without strict to skip such records."
            )
        self._count += 1
        if len(self._records) < LONGEST_LIST:
            self._records.append(record)
            self._reasons.append(reason)

    def table(self) -> pa.Table:
        """The listed records, in the order in which they were met."""
        return pa.Table.from_arrays(
            [string_array(column, pa.string()) for column in (self._records, self._reasons)],
            schema=SKIPPED,
        )

    def __len__(self) -> int:
        return self._count
