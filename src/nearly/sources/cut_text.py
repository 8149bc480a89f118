"""What is cut out of the texts of some rows, in their values and in the bytes of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, string_array, truths_of
from nearly.errors import SourceError
from nearly.frozen import dataclass
from nearly.sources.column import cast
from nearly.sources.record import Layout, Records

__all__ = ["CutTexts", "Gaps", "NotThereError", "cut_places"]

Whole = npt.NDArray[np.int64]


class NotThereError(Exception):
    """The text of a record is not where it is looked for."""


@dataclass(frozen=True)
class Gaps:
    """Characters [start, end) of one text that go, in order; and how long the text is."""

    starts: Sequence[int]
    ends: Sequence[int]
    length: int

    def cut(self, text: str) -> str:
        """The text without them; it has to be as long as it was."""
        return cut_places(text, range(len(text) + 1), self)


def cut_places(record: str, places: Sequence[int], gaps: Gaps) -> str:
    """A record without the gaps of its text.

    `places` say where each character of the text begins in the record, and where the last one ends.
    """
    if len(places) != gaps.length + 1:
        raise NotThereError
    starts = [0, *(places[end] for end in gaps.ends)]
    ends = [*(places[start] for start in gaps.starts), len(record)]
    return "".join(record[start:end] for start, end in zip(starts, ends, strict=True))


#: A record of a column's text, without the gaps.
CutRecord = Callable[[str, str, Gaps], str]


@dataclass(frozen=True, kw_only=True)
class CutTexts:
    """Gaps of some rows, which are given by number in ascending order."""

    rows: Whole
    #: How many characters the text of each row has, and where its gaps begin in the lists.
    lengths: Whole
    offsets: Whole
    starts: Whole
    ends: Whole

    def __len__(self) -> int:
        return len(self.rows)

    def between(self, first: int, last: int) -> CutTexts:
        """Those of rows [first, last), numbered from there on."""
        low, high = np.searchsorted(self.rows, [first, last])
        return CutTexts(
            rows=self.rows[low:high] - first,
            lengths=self.lengths[low:high],
            offsets=self.offsets[low : high + 1],
            starts=self.starts,
            ends=self.ends,
        )

    def each(self) -> Iterator[tuple[int, Gaps]]:
        """Each row with its gaps."""
        for i, row in enumerate(self.rows.tolist()):
            here = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
            starts, ends = self.starts[here].tolist(), self.ends[here].tolist()
            yield row, Gaps(starts, ends, int(self.lengths[i]))

    def in_rows(self, rows: Any, column: str) -> Any:
        """A table or a batch with the texts of the column cut; types stay as they are."""
        if not len(self):
            return rows
        place = rows.schema.names.index(column)
        return rows.set_column(place, rows.schema.field(place), self._in_column(rows.column(place)))

    def _in_column(self, column: pa.Array | pa.ChunkedArray) -> pa.Array:
        import pyarrow.compute as pc

        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(whole, pa.ChunkedArray):  # more than one array can hold
            raise SourceError("a group of rows has too much text to be cut; write smaller groups")
        values = cast(whole, pa.large_string())
        is_cut = np.zeros(len(values), bool)
        is_cut[self.rows] = True
        old = values.take(column_of(self.rows)).to_pylist()
        new = [gaps.cut(text) for text, (_, gaps) in zip(old, self.each(), strict=True)]
        return _as_type(
            pc.replace_with_mask(values, truths_of(is_cut), string_array(new)), column.type
        )

    def in_records(
        self, records: Records, layout: Layout, column: str, cut_record: CutRecord
    ) -> Records:
        """The bytes of records with the texts of the column cut."""
        if not len(self):
            return records
        made = {}
        for row, gaps in self.each():
            data = records.data[records.starts[row] : records.ends[row]]
            text = data.decode(layout.codec, "surrogateescape")
            made[row] = layout.encode(cut_record(text, column, gaps))
        return records.with_others(made)


def _as_type(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        encoded = values.cast(kind.value_type).dictionary_encode()
        return encoded.cast(kind)
    return values.cast(kind)
