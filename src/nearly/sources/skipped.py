"""The list of records that could not become documents, and why."""

from collections.abc import Sequence
from typing import Self

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import UnreadableError
from nearly.schemas import SKIPPED

__all__ = ["LONGEST_LIST", "Skipped"]

#: All are counted; only this many are listed, so that a hopeless input cannot fill the memory.
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
                f"{record}: {reason}. Fix it, or run without strict (or --unreadable fail) "
                "to skip such records."
            )
        self._count += 1
        if len(self._records) < LONGEST_LIST:
            self._records.append(record)
            self._reasons.append(reason)

    @property
    def room(self) -> int:
        """How many more can be listed."""
        return LONGEST_LIST - len(self._records)

    def another(self) -> Self:
        """An empty list, as strict as this one, to be filled elsewhere."""
        return type(self)(strict=self.strict)

    def trimmed(self, room: int) -> Self:
        """The same count, and at most this many records."""
        found = self.another()
        found._count = self._count
        found._records, found._reasons = self._records[:room], self._reasons[:room]
        return found

    def merge(self, other: Self) -> None:
        """Add what was met elsewhere; where it is fatal, the first of it is."""
        if self.strict and other._records:
            self.add(other._records[0], other._reasons[0])
        self._count += other._count
        self._records += other._records[: self.room]
        self._reasons += other._reasons[: LONGEST_LIST - len(self._reasons)]

    def to_list(self) -> list[tuple[str, str]]:
        """The listed records, each with its reason."""
        return list(zip(self._records, self._reasons, strict=True))

    def fill(self, listed: Sequence[tuple[str, str]], count: int) -> None:
        """Become what `to_list` and the count of another list said."""
        self._records = [record for record, _ in listed]
        self._reasons = [reason for _, reason in listed]
        self._count = count

    def table(self) -> pa.Table:
        """The listed records, in the order in which they were met."""
        return pa.Table.from_arrays(
            [string_array(column, pa.string()) for column in (self._records, self._reasons)],
            schema=SKIPPED,
        )

    def __len__(self) -> int:
        return self._count
