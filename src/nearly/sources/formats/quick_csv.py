"""CSV and TSV files as DuckDB reads them, where it can be shown that it reads them well.

Without a word, DuckDB 2.0 drops the spaces around a quoted value, a delimiter too many at
the end of a row, and all that follows an open quote; blank lines between two of its buffers
become part of a value. So the books are balanced first: except for quotes, which can be spelt
in several ways, each byte of the file is in a value, between two values, or ends a row.
"""

import io
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import spans
from nearly.sources import part
from nearly.sources.formats.database import Database
from nearly.sources.formats.encoding import compression_of, encoding_of, open_bytes
from nearly.sources.formats.held_rows import HeldRows

__all__ = ["QuickCsv"]

#: The longest row for DuckDB, in bytes: to refuse a line of 1 GB, it wants all of it in memory.
LONGEST_ROW = 1 << 20
#: The widest table for DuckDB: its time grows with the square of the columns.
MOST_COLUMNS = 1_000
BUFFER = 4 << 20
PIECE = 1 << 18
#: Rows that DuckDB makes at once.
VECTOR = 2048

#: What is counted: bytes, and among them quotes and line ends. A pair has both halves too.
_BYTES, _QUOTE, _PAIR, _RETURN, _FEED = "", '"', "\r\n", "\r", "\n"
_MARKS = (_QUOTE, _PAIR, _RETURN, _FEED)
#: Whether the last line lacks its end, 0 or 1.
_UNENDED = "unended"

_QUOTES_APART = re.compile(rb'" +(?=")')


class QuickCsv:
    """One CSV or TSV file in the hands of DuckDB."""

    def __init__(self, database: Database, path: str, schema: pa.Schema, *, delimiter: str) -> None:
        self._database = database
        self._path = path
        self._schema = schema
        self._delimiter = delimiter
        self._rows_at_once = part.BATCH_ROWS
        self._held: HeldRows | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_held": None}

    def is_faithful(self) -> bool:
        """Whether the rows that DuckDB gives account for every byte of the file."""
        if not 1 < len(self._schema) <= MOST_COLUMNS:
            # DuckDB takes a blank line for a row with one empty value; and is slow on wide tables.
            return False
        try:
            held = _count_file(self._path, self._delimiter)
            if held is None:
                return False
            rows, read = self._hold_rows()
        except (duckdb.Error, pa.ArrowException, OSError):
            return False
        if not _balances(held, read, rows.rows):
            return False
        self._rows_at_once = min(part.BATCH_ROWS, part.BATCH_BYTES * rows.rows // held[_BYTES] + 1)
        self._held = rows
        return True

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """All rows in order, with the named columns (None: every column)."""
        names = self._schema.names
        chosen = [i for i, name in enumerate(names) if columns is None or name in columns] or [0]
        schema = pa.schema([self._schema.field(i) for i in chosen])
        header = 1
        for batch in self._rows(chosen):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema).slice(header)
            header = 0

    def _rows(self, chosen: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """These columns of all rows, the header too: those that are held, or read afresh."""
        if self._held is not None:
            held, self._held = self._held, None
            for batch in held.batches(self._rows_at_once):
                yield batch.select(list(chosen))
            return
        with self._reader(chosen, self._rows_at_once) as reader:
            yield from reader

    def _hold_rows(self) -> tuple[HeldRows, Counter[str]]:
        """The rows that DuckDB finds, and what is in them, delimiters included.

        They are held, so that the file is not read a third time when they are asked for.
        """
        read: Counter[str] = Counter()
        with self._reader(range(len(self._schema)), VECTOR) as reader:
            held = HeldRows(self._database.folder, reader.schema, self._database.most_memory // 4)
            for batch in reader:
                held.append(batch)
                read.update(_count_batch(batch))
        return held, read

    @contextmanager
    def _reader(self, columns: Sequence[int], rows_at_once: int) -> Iterator[pa.RecordBatchReader]:
        query = f"SELECT {', '.join(map(_column, columns))} FROM {self._table()}"  # noqa: S608
        cursor = self._database.connection.cursor()
        try:
            with cursor.sql(query).to_arrow_reader(rows_at_once) as reader:
                yield reader
        finally:
            cursor.close()

    def _table(self) -> str:
        """The file in SQL, with nothing left to be guessed; the header is a row like others."""
        columns = ", ".join(f"{_column(i)}: 'VARCHAR'" for i in range(len(self._schema)))
        quoted = self._database.plain_path(self._path).replace("'", "''")
        return f"""read_csv('{quoted}',
            auto_detect = false, header = false, columns = {{{columns}}}, nullstr = '',
            delim = '{self._delimiter}', quote = '"', escape = '"', comment = '',
            compression = '{compression_of(self._path) or "none"}', encoding = 'utf-8',
            strict_mode = true, null_padding = false, ignore_errors = false, parallel = false,
            max_line_size = {LONGEST_ROW}, buffer_size = {BUFFER}, hive_partitioning = false)"""


def _column(index: int) -> str:
    return f"c{index}"


def _count_batch(batch: pa.RecordBatch) -> Counter[str]:
    """What is in rows, and the delimiters between their values."""
    read = Counter({_BYTES: batch.num_rows * (batch.num_columns - 1)})
    for column in batch.columns:
        offsets, data = spans(column)
        values = data[offsets[0] : offsets[-1]].tobytes()
        read[_BYTES] += len(values)
        read.update({mark: _count(values, mark) for mark in (_QUOTE, _RETURN, _FEED)})
        if _PAIR.encode() in values:  # the halves may be of two values
            read[_PAIR] += pc.sum(pc.count_substring(column, _PAIR)).as_py()
    return read


def _count(data: bytes, mark: str) -> int:
    sought = mark.encode()
    return data.count(sought) if sought in data else 0  # to see that there is none is quicker


def _count_file(path: str, delimiter: str) -> Counter[str] | None:
    """What is in a file; None where DuckDB should not be asked."""
    held: Counter[str] = Counter()
    with open_bytes(path) as raw:
        file = io.BufferedReader(cast(io.RawIOBase, raw), PIECE)
        if not encoding_of(file.peek(4)).startswith("utf-8"):
            return None
        if file.peek(3).startswith(BOM_UTF8):
            file.read(3)
        while piece := file.read(PIECE):
            rest = file.readline(LONGEST_ROW)
            piece += rest
            if len(rest) == LONGEST_ROW or b"\0" in piece or _reopens_quotes(piece, delimiter):
                return None
            held[_BYTES] += len(piece)
            held.update({mark: _count(piece, mark) for mark in _MARKS})
            held[_UNENDED] = not piece.endswith(b"\n")
    return held


def _reopens_quotes(lines: bytes, delimiter: str) -> bool:
    """Whether a closing quote, spaces and another quote may follow each other.

    DuckDB takes that for one value. Inside of a value quotes are doubled: there, an even
    number of them precedes the spaces.
    """
    before = (b"\n", b"\r", delimiter.encode())
    for found in _QUOTES_APART.finditer(lines):
        start = found.start()
        while start > 0 and lines[start - 1] == ord('"'):
            start -= 1
        is_odd = (found.start() - start) % 2 == 0
        if is_odd or start == 0 or lines[start - 1 : start] in before:
            return True
    return False


def _balances(held: Counter[str], read: Counter[str], rows: int) -> bool:
    """Whether what is missing is quotes, and one kind of line end a row."""
    missing = {key: held[key] - read[key] for key in (_BYTES, *_MARKS)}
    pairs, returns, feeds = (missing[key] for key in (_PAIR, _RETURN, _FEED))
    is_all = missing[_BYTES] == missing[_QUOTE] + returns + feeds
    return is_all and feeds == rows - held[_UNENDED] and pairs == returns and pairs in (0, feeds)
