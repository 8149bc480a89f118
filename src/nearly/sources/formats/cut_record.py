"""Long objects of JSON in pieces: each is spread over several lines.

DuckDB takes 13 times an object that is long by many short values, and 50 times one of very many
names. So it is given a copy in which such an object is several lines, each with some members or
some elements, and these are joined again once they were read. It finds the types in another copy,
where all lines have the same names. Members of which that would not tell the type are given as
the JSON that they are.
"""

import re
from collections.abc import Callable, Iterator
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly._kernels import CutObject
from nearly.mapping import let_go, mapped
from nearly.sources.formats.joined_value import joined
from nearly.sources.formats.json_element import element_spans

__all__ = ["CutRecords"]

#: Bytes of a line that stands for a piece, about: DuckDB takes thousands of lines at once.
PIECE = 2**12
#: Bytes that are looked at together.
STRETCH = 2**18
#: Names of an object that all of its lines have, and columns of a table.
MOST_NAMES = 10_000
#: What no reader takes for JSON: it stands for an object that is none.
_UNSOUND = b'"\\ud800"'
_BLANK = b" \t\n\v\f\r"
#: What stands before the first element and after the last one: in an array, and without.
_AROUND = {
    True: (re.compile(rb"[ \t\r\n]*\["), re.compile(rb"\][ \t\r\n]*")),
    False: (re.compile(rb""), re.compile(rb"[ \t\r\n]*")),
}


class CutRecords:
    """JSON lines, or the elements of an array, as lines of which some stand for one together.

    Objects of at most `longest` bytes are one line, as they are.
    """

    def __init__(
        self, source: str, folder: str, longest: int, is_json: Callable[[str], bool], *, lines: bool
    ) -> None:
        #: What is read, and what the types are found in.
        self.copy, self.typed_copy = f"{folder}/cut.jsonl", f"{folder}/typed.jsonl"
        #: Columns that are given as JSON: an object in them is cut that has more names than its
        #: lines can have, or one twice.
        self.as_json: set[str] = set()
        self._longest = longest
        self._is_json = is_json
        self._lines = lines
        #: The first line of each object that is cut, and how deep each of its lines goes on.
        self._firsts: list[int] = []
        self._depths: list[npt.NDArray[np.int64]] = []
        self._row = 0
        with (
            open(source, "rb") as file,
            open(self.copy, "wb") as target,
            open(self.typed_copy, "w+b") as typed,
        ):
            text = mapped(file.fileno(), file.seek(0, 2))
            for first, last in _lines(source) if lines else _elements(source, text):
                self._write(text[first:last], target, typed)
                let_go()

    def _write(self, record: memoryview, target: IO[bytes], typed: IO[bytes]) -> None:
        """One object, in both copies."""
        if len(record) <= self._longest:
            line = bytes(record) if self._lines else _on_one_line(record)
        elif self._write_cut(record, target):
            self._write_typed(record, typed)
            return
        else:
            line = _UNSOUND
        for file in (target, typed):
            file.write(line + b"\n")
        self._row += 1

    def _write_cut(self, record: memoryview, target: IO[bytes]) -> bool:
        """An object as it is read; whether it is one."""
        start = target.tell()
        try:
            cut = self._cut(record, target, is_checked=True)
        except ValueError:
            _take_back(target, start)
            return False
        if cut.names > MOST_NAMES:
            raise OSError(f"an object has {cut.names:,} names, and at most {MOST_NAMES:,} are read")
        if cut.has_twins and not self._lines:  # which DuckDB refuses
            raise OSError("an object of the array has a name twice")
        if cut.has_twins:
            _take_back(target, start)
            cut = self._cut(record, target, first_counts=True)
        self.as_json.update(cut.unsettled)
        self._firsts.append(self._row)
        self._depths.append(cut.depths().astype(np.int64))
        self._row += len(self._depths[-1])
        return True

    def _write_typed(self, record: memoryview, typed: IO[bytes]) -> None:
        """An object as its types are found, anew where a member turns out not to tell its own."""
        start = typed.tell()
        while unsettled := set(self._cut(record, typed, filled=True).unsettled):
            self.as_json |= unsettled
            _take_back(typed, start)

    def _cut(
        self,
        record: memoryview,
        file: IO[bytes],
        *,
        is_checked: bool = False,
        filled: bool = False,
        first_counts: bool = False,
    ) -> CutObject:
        """Write an object in pieces; ValueError if it is none."""
        cut = CutObject(
            np.frombuffer(record, np.uint8),
            PIECE,
            MOST_NAMES,
            filled=filled,
            first_counts=first_counts,
            left_out=list(self.as_json) if filled else [],
        )
        while lines := cut.next(STRETCH):
            together = lines[:-1].replace(b"\n", b",").decode() if is_checked else ""
            if is_checked and not self._is_json(f"[{together}]"):
                raise ValueError
            file.write(lines)
            let_go()
        return cut

    def joined(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that the lines say; an object that was cut comes by itself."""
        place, row = 0, 0
        pending = None
        for batch in batches:
            start = 0
            while start < batch.num_rows:
                first = self._firsts[place] if place < len(self._firsts) else row + batch.num_rows
                if row + start < first:
                    taken = min(batch.num_rows, first - row) - start
                    yield batch.slice(start, taken)
                else:
                    depths = self._depths[place][row + start - first :][: batch.num_rows - start]
                    taken = len(depths)
                    kinds = batch.schema.types
                    pending = pending or [joined(kind, narrow=True) for kind in kinds]
                    for value, column in zip(pending, batch.columns, strict=True):
                        value.add(column.slice(start, taken), depths - 1)
                    if row + start + taken == first + len(self._depths[place]):
                        values = [pending.pop(0).whole() for _ in batch.schema]
                        yield pa.RecordBatch.from_arrays(values, names=batch.schema.names)
                        place, pending = place + 1, None
                start += taken
            row += batch.num_rows


def _take_back(file: IO[bytes], place: int) -> None:
    file.seek(place)
    file.truncate()


def _lines(path: str) -> Iterator[tuple[int, int]]:
    """Where each line that is not blank begins and ends."""
    place = 0
    with open(path, "rb") as file:
        while line := file.readline(STRETCH):
            first, is_blank = place, not line.strip(_BLANK)
            place += len(line)
            while not line.endswith(b"\n") and (line := file.readline(STRETCH)):
                is_blank = is_blank and not line.strip(_BLANK)
                place += len(line)
            if not is_blank:
                yield first, place - line.endswith(b"\n")


def _elements(path: str, text: memoryview) -> Iterator[tuple[int, int]]:
    """The same for elements; where something else stands around them, that comes last."""
    spans = element_spans(path)
    if spans is None:
        yield 0, len(text)
        return
    starts, ends = spans.starts.tolist(), spans.ends.tolist()
    yield from zip(starts, ends, strict=True)
    around = _AROUND[spans.in_array]
    if not (around[0].fullmatch(text, 0, starts[0]) and around[1].fullmatch(text, ends[-1])):
        yield 0, 0


def _on_one_line(record: memoryview) -> bytes:
    """A tab is as much white space as an end of line, and as wrong in a string."""
    return bytes(record).replace(b"\n", b"\t").strip(_BLANK) or _UNSOUND
