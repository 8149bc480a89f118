"""A long table: one item per row, and a document is all rows of one key, such as a customer."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.documents.identity import id_digests
from nearly.errors import SettingsError, SourceError
from nearly.sources import part
from nearly.sources.column import check_column
from nearly.sources.item import check_items
from nearly.sources.kept import Kept
from nearly.sources.part import Part, Reject
from nearly.sources.skipped import Skipped
from nearly.sources.source import Source

__all__ = ["LongTable"]


class LongTable(Source):
    """Documents are groups of rows; a clean copy has the rows of the groups that stay."""

    def __init__(self, rows: Source, by: str, item: str, *, temporary: Path) -> None:
        self._rows = rows
        self._groups = _GroupedPart(rows, by, item)
        super().__init__(
            rows.name,
            [self._groups],
            id_column=by,
            items_column=item,
            ids_are_unique=True,
            notes=rows.notes,
            temporary=temporary,
        )
        self.schema = rows.schema

    def documents(self, skipped: Skipped, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """One document per group, in the order in which their first rows come."""
        if also is not None:
            raise SettingsError(
                f"keep looks at the column {also!r}, and a document of {self.name} is many rows; "
                "keep the first, last, longest or shortest instead"
            )
        yield from super().documents(skipped)

    def kept(self, removed: npt.NDArray[np.int64]) -> Kept:
        """All rows but those of some groups, which are given by number."""
        return self._rows.kept(self._groups.rows_of(removed, unreadable=self.drops_unreadable))


class _Grouped(NamedTuple):
    """Groups by their first rows, and the group of each row, -1 where it has none."""

    table: pa.Table
    group_of_row: npt.NDArray[np.int64]
    rejected: Sequence[tuple[str, str]]


class _GroupedPart(Part):
    """One row per key, with the list of its items; it is read and held when it is needed."""

    in_memory = True

    def __init__(self, rows: Source, by: str, item: str) -> None:
        if by == item:
            raise SourceError(f"by and item are both {by!r}. Name two columns.")
        check_column(rows.schema, item, rows.name)
        kind = rows.schema.field(item).type
        check_items(kind, item, rows.name)
        self.name = rows.name
        self.schema = pa.schema([(by, rows.id_type), (item, pa.large_list(kind))])
        self._rows, self._item = rows, item

    @property
    def files(self) -> Sequence[str]:
        """Those of the rows."""
        return self._rows.files

    def batches(
        self,
        columns: Sequence[str] | None,  # noqa: ARG002 - there are two, and both are needed
        reject: Reject,
    ) -> Iterator[pa.RecordBatch]:
        """See `Part`."""
        for record, reason in self._grouped.rejected:
            reject(record, reason)
        yield from self._grouped.table.to_batches(part.BATCH_ROWS)

    def rows_of(self, groups: npt.NDArray[np.int64], *, unreadable: bool) -> npt.NDArray[np.int64]:
        """The numbers of all rows of these groups, and perhaps of those that are in none."""
        is_sought = np.zeros(self._grouped.table.num_rows + 1, bool)
        is_sought[groups] = True
        is_sought[-1] = unreadable
        return np.flatnonzero(is_sought[self._grouped.group_of_row])

    @cached_property
    def _grouped(self) -> _Grouped:
        rejecting = _Rejecting()
        members = list(self._rows.members(self._item, rejecting))
        kind = self.schema.field(self._item).type
        ids = _together([m.ids for m in members], self.schema[0].type)
        items = _together([m.items for m in members], kind.value_type)
        digests = [np.empty((0, 2), np.uint64), *(id_digests(m.ids) for m in members)]
        first = _kernels.first_seen(np.concatenate(digests))
        order = np.argsort(first, kind="stable")
        starts, ends = _runs(first[order])
        offsets = pa.array(np.append(starts, len(order)), pa.int64())
        lists = pa.LargeListArray.from_arrays(offsets, items.take(pa.array(order)))
        keys = ids.take(pa.array(order[starts]))
        table = pa.Table.from_arrays([keys, lists.cast(kind)], schema=self.schema)
        is_member = np.concatenate([np.empty(0, bool), *(m.is_member for m in members)])
        group_of_row = np.full(len(is_member), -1, np.int64)
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.repeat(np.arange(len(starts)), ends - starts)
        group_of_row[is_member] = numbers
        return _Grouped(table, group_of_row, rejecting.records)


def _runs(sorted_numbers: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each run of equal numbers starts and ends."""
    changes = np.flatnonzero(np.diff(sorted_numbers)) + 1
    count = len(sorted_numbers)
    starts = np.append(0, changes)[: min(count, 1) + len(changes)]
    return starts.astype(np.int64), np.append(starts[1:], count)[: len(starts)].astype(np.int64)


def _together(parts: Sequence[pa.Array], kind: pa.DataType) -> pa.Array:
    found = pa.chunked_array(parts, kind).combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


class _Rejecting(Skipped):
    """Keeps what is skipped, to be told each time that the groups are read."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[str, str]] = []

    def add(self, record: str, reason: str) -> None:
        """See `Skipped`."""
        self.records.append((record, reason))
