"""The clean copy of a source: its rows but the removed ones, as values or as they stand."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import truths_of
from nearly.errors import SourceError, UnreadableError
from nearly.frozen import dataclass
from nearly.sources.cut_text import CutTexts, NotThereError
from nearly.sources.file_name import name_of_id
from nearly.sources.part import Part, Stored
from nearly.sources.reader import Ledger, Reading
from nearly.sources.record import Layout, Original, Records

__all__ = ["Kept", "KeptPart"]

Rows = npt.NDArray[np.int64]


class Kept:
    """All rows of a source that stay, read again as often as they are asked for."""

    def __init__(
        self,
        reading: Reading,
        parts: Sequence[Part],
        ledger: Ledger,
        removed: Rows,
        check_unchanged: Callable[[Sequence[Part]], None],
        cut: CutTexts | None = None,
    ) -> None:
        self.schema = reading.schema
        self._reading = reading
        self._parts = parts
        self._removed = removed
        self._rows = list(ledger.rows)
        self._unreadable = np.array(ledger.unreadable, np.int64)
        self._check_unchanged = check_unchanged
        self._cut = cut
        #: How many rows could not be read, and whether they go for that.
        self.unreadable = len(self._unreadable)
        self.drops_unreadable = reading.drops_unreadable

    def __call__(self) -> Iterator[pa.RecordBatch]:
        """The rows with their values; a record that is no row of a table has none."""
        self._check_unchanged(self._parts)
        yield from self._reading.kept(self._parts, self._removed, self._cut)
        self._check_unchanged(self._parts)

    def parts(self) -> list["KeptPart"]:
        """File by file, as they stand."""
        gone = self._removed
        if self.drops_unreadable:
            gone = np.union1d(gone, self._unreadable)
        found, first = [], 0
        for part, rows in self._files():
            low, high = np.searchsorted(gone, [first, first + rows])
            check = partial(self._check_unchanged, [part])
            cut = self._cut.between(first, first + rows) if self._cut is not None else None
            found.append(KeptPart(self._reading, part, rows, gone[low:high] - first, check, cut))
            first += rows
        return found

    def _files(self) -> Iterator[tuple[Part, int]]:
        """Parts and their rows; where texts are cut, every file of a folder is a part."""
        for part, rows in zip(self._parts, self._rows, strict=True):
            yield from [(part, rows)] if self._cut is None else part.apart(rows)


@dataclass(frozen=True)
class KeptPart:
    """One file of a source without its removed rows."""

    _reading: Reading
    _part: Part
    _rows: int
    _gone: Rows
    _check_unchanged: Callable[[], None]
    _cut: CutTexts | None = None

    @property
    def name(self) -> str:
        """The path of the file, as it was given."""
        return name_of_id(self._part.name)

    @property
    def given(self) -> str:
        """The full path of the file that was given; nothing for what was no file."""
        return self._part.given

    @property
    def path(self) -> str:
        """A path with the ending of the file; nothing for what is no file."""
        return self._part.given or self._part.path

    @property
    def count(self) -> int:
        """How many rows stay."""
        return self._rows - len(self._gone)

    def is_own_format(self, ending: str) -> bool:
        """Whether a file of that ending can hold its rows as they stand in this one."""
        return self._part.is_own_format(ending)

    def __call__(self) -> Iterator[pa.RecordBatch]:
        """Its rows with their values, in the types that all parts share."""
        self._check_unchanged()
        yield from self._reading.kept([self._part], self._gone, self._cut)
        self._check_unchanged()

    def original(self) -> Original | None:
        """Its rows by their bytes, where they are lines or records of a text."""
        self._check_unchanged()
        found = self._part.original()
        if found is None:
            return None
        if self._part.encoded is not None:
            with _named_errors(self._part.name):
                found = self._part.encoded.original(self._read_original)
        return replace(found, records=self._records_that_stay(found))

    def _read_original(self) -> Original:
        return cast(Original, self._part.original())

    def stored(self) -> Stored | None:
        """Its rows as they are stored, where the format is a binary one."""
        self._check_unchanged()
        found = self._part.stored()
        if found is None:
            return None
        groups = self._groups_that_stay(found.groups)
        return Stored(found.schema, found.format, found.options, groups)

    def _records_that_stay(self, found: Original) -> Iterator[Records]:
        for records, first, gone in self._with_gone(found.records):
            yield self._cut_records(records, first, found.layout).without(gone)

    def _cut_records(self, records: Records, first: int, layout: Layout) -> Records:
        if self._cut is None:
            return records
        here = self._cut.between(first, first + len(records))
        column = self._reading.choice.texts[0]
        try:
            return here.in_records(records, layout, column, self._part.cut_record)
        except NotThereError:
            raise SourceError(
                f"a text of {self._part.name} is not written as it was read, so it cannot be cut "
                "where it stands; nothing was written. Write another format, as in "
                "-o clean.parquet"
            ) from None

    def _groups_that_stay(self, coming: Iterator[pa.Table]) -> Iterator[pa.Table]:
        for group, first, gone in self._with_gone(coming):
            cut = group
            if self._cut is not None:
                here = self._cut.between(first, first + len(group))
                cut = here.in_rows(group, self._reading.choice.texts[0])
            yield _filtered(cut, ~gone) if gone.any() else cut

    def _with_gone(self, coming: Iterator[Any]) -> Iterator[tuple[Any, int, npt.NDArray[np.bool_]]]:
        """Each piece with its first row and which of its rows go.

        There have to be as many rows as were read.
        """
        first = 0
        for piece in self._read(coming):
            rows = len(piece)
            low, high = np.searchsorted(self._gone, [first, first + rows])
            gone = np.zeros(rows, bool)
            gone[self._gone[low:high] - first] = True
            yield piece, first, gone
            first += rows
        self._check_unchanged()
        if first != self._rows:
            raise SourceError(
                f"{self._part.name} had {self._rows:,} rows when it was read and has {first:,} "
                "now; nothing was written. Run again when nobody writes to it."
            )

    def _read(self, coming: Iterator[Any]) -> Iterator[Any]:
        with _named_errors(self._part.name):
            yield from coming


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise UnreadableError(f"{name} cannot be read: {error}") from error


def _filtered(group: pa.Table, kept: npt.NDArray[np.bool_]) -> pa.Table:
    try:
        return group.filter(truths_of(kept))
    except pa.ArrowNotImplementedError:  # of views, and of what is encoded by runs
        edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]])))
        runs = zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True)
        slices = [group.slice(start, end - start) for start, end in runs]
        return pa.concat_tables([group.slice(0, 0), *slices])
