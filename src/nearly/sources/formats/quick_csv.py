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
from typing import Any, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from nearly.sources import part
from nearly.sources.formats.database import Database
from nearly.sources.formats.encoding import compression_of, encoding_of, open_bytes

__all__ = ["QuickCsv"]

#: The longest row for DuckDB, in bytes: to refuse a line of 1 GB, it wants all of it in memory.
LONGEST_ROW = 1 << 20
#: The widest table for DuckDB: its time grows with the square of the columns.
MOST_COLUMNS = 1_000
BUFFER = 4 << 20
PIECE = 1 << 18
#: Bytes of a file whose rows are held between the count and the first reading, so that it is read
#: twice; a larger one is read a third time instead.
MOST_HELD = 1 << 26

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
        self._held: pa.Table | None = None

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
            is_small = held[_BYTES] <= MOST_HELD
            rows, read = self._hold_rows() if is_small else self._count_rows()
        except (duckdb.Error, pa.ArrowException, OSError):
            return False
        self._rows_at_once = min(part.BATCH_ROWS, part.BATCH_BYTES * rows // held[_BYTES] + 1)
        if not _balances(held, read, rows):
            self._held = None
            return False
        return True

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """All rows in order, with the named columns (None: every column)."""
        names = self._schema.names
        chosen = [i for i, name in enumerate(names) if columns is None or name in columns] or [0]
        schema = pa.schema([self._schema.field(i) for i in chosen])
        header = 1
        if self._held is not None:
            rows, self._held = self._held.select(chosen), None
            for batch in rows.to_batches(self._rows_at_once):
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema).slice(header)
                header = 0
            return
        query = f"SELECT {', '.join(map(_column, chosen))} FROM {self._table()}"  # noqa: S608
        cursor = self._database.connection.cursor()
        try:
            with cursor.sql(query).to_arrow_reader(self._rows_at_once) as reader:
                for batch in reader:
                    yield pa.RecordBatch.from_arrays(batch.columns, schema=schema).slice(header)
                    header = 0
        finally:
            cursor.close()

    def _hold_rows(self) -> tuple[int, Counter[str]]:
        """As `_count_rows`, and the rows stay here until they are read."""
        columns = ", ".join(map(_column, range(len(self._schema))))
        cursor = self._database.connection.cursor()
        try:
            table = cursor.sql(f"SELECT {columns} FROM {self._table()}").to_arrow_table()  # noqa: S608
        finally:
            cursor.close()
        rows = table.num_rows
        read = Counter({_BYTES: rows * (len(self._schema) - 1)})
        for column in table.columns:
            read[_BYTES] += pc.sum(pc.binary_length(column)).as_py() or 0
            for mark in _MARKS:
                read[mark] += pc.sum(pc.count_substring(column, mark)).as_py() or 0
        self._held = table.combine_chunks()
        return rows, read

    def _count_rows(self) -> tuple[int, Counter[str]]:
        """The rows that DuckDB finds, and what is in them, delimiters included."""
        between = f", chr({ord(self._delimiter)}), "
        row = between.join(map(_column, range(len(self._schema))))
        query = f"""SELECT count(*), sum(strlen(row)), {", ".join(map(_bytes_of, _MARKS))}
            FROM (SELECT concat({row}) AS row FROM {self._table()})"""  # noqa: S608
        cursor = self._database.connection.cursor()
        try:
            [(rows, *found)] = cursor.execute(query).fetchall()
        finally:
            cursor.close()
        read = Counter({k: int(n or 0) for k, n in zip((_BYTES, *_MARKS), found, strict=True)})
        read[_PAIR] //= 2
        return rows, read

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


def _bytes_of(mark: str) -> str:
    """How many bytes a mark takes in all rows, in SQL; most rows need no copy without it."""
    spelt = " || ".join(f"chr({ord(character)})" for character in mark)
    without = f"replace(row, {spelt}, '')"
    return f"sum(CASE WHEN contains(row, {spelt}) THEN strlen(row) - strlen({without}) ELSE 0 END)"


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
            held.update({mark: piece.count(mark.encode()) for mark in _MARKS})
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
