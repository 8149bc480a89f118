"""The two readers of CSV: DuckDB is asked only where it gives what Python's reader gives."""

import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly.errors import UnreadableError
from nearly.sources.formats import held_rows, quick_csv
from nearly.sources.formats.database import Database
from nearly.sources.formats.delimited import DelimitedPart
from nearly.sources.formats.quick_csv import QuickCsv

ATOMS = ['"', '""', ",", "\t", "\r", "\n", "\r\n", " ", "NULL", "\\", "#", "\ufeff", "é", "😀", "a"]
INSERTED = [b'"', b" ", b",", b"\t", b"\n", b"\r", b"\xff", b"\xed\xa0\x80", b"\0", b'" "', b' "']
few_examples = settings(max_examples=40)
values = st.lists(st.sampled_from(ATOMS), max_size=5).map("".join)


@dataclass
class Reading:
    rows: list[tuple]
    bad: list[tuple[str, str]]
    error: str = ""


def read(batches, columns) -> Reading:
    reading = Reading([], [])
    try:
        for batch, bad in batches:
            assert set(batch.schema.types) == {pa.large_string()}
            found = [batch.column(c).to_pylist() for c in columns]
            reading.rows += zip(*found, strict=True)
            reading.bad += bad
    except Exception as error:  # whatever it is, it must be the same
        reading.error = repr(error)
    return reading


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("csv")


@pytest.fixture(scope="module")
def opened(folder):
    database = Database(folder, 2, most_memory=2**28)

    def write_and_open(data: bytes, delimiter: str = ",", ending: str = "csv") -> DelimitedPart:
        path = folder / f"a.{ending}"
        path.write_bytes(data)
        return DelimitedPart(database, str(path), "a.csv", delimiter=delimiter)

    return write_and_open


@pytest.fixture(params=["one buffer", "many buffers"])
def buffers(request, monkeypatch):
    if request.param == "many buffers":
        monkeypatch.setattr(quick_csv, "LONGEST_ROW", 64)
        monkeypatch.setattr(quick_csv, "BUFFER", 128)
        monkeypatch.setattr(quick_csv, "PIECE", 7)
        monkeypatch.setattr(held_rows, "MOST_HELD", 0)


def assert_readers_agree(part: DelimitedPart) -> None:
    names = part.schema.names
    for columns in (names, names[-1:]):
        careful = read(carefully(part), columns)
        assert read(as_usual(part, columns), columns) == careful


def carefully(part: DelimitedPart) -> Iterator:
    first = 0
    for batch, bad in part._careful.batches():
        yield batch, [(f"row {first + i}, {b.lines}", b.reason) for i, b in bad.items()]
        first += batch.num_rows


def as_usual(part: DelimitedPart, columns) -> Iterator:
    for batch in part.batches(columns, pytest.fail):
        yield batch, [(part.record(row), part.why_null(row)) for row in part.broken]


@st.composite
def tables(draw, delimiter: str) -> bytes:
    width = draw(st.integers(1, 3))
    ending = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), max_size=12))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerows([[f"h{i}" for i in range(width)], *rows])
    written = text.getvalue() if draw(st.booleans()) else text.getvalue().rstrip("\r\n")
    return draw(st.sampled_from(["", "", "\ufeff", "\n"])).encode() + written.encode()


@st.composite
def damaged(draw, delimiter: str) -> bytes:
    data = draw(tables(delimiter))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(len("h0"), len(data)))
        inserted = draw(st.sampled_from([b"", *INSERTED]))
        data = data[:at] + inserted + data[at + draw(st.integers(0, 1)) :]
    return data


@pytest.mark.usefixtures("buffers")
@pytest.mark.parametrize("delimiter", [",", "\t"])
class TestAgreement:
    @few_examples
    @given(data=st.data())
    def test_over_tables(self, opened, delimiter, data):
        assert_readers_agree(opened(data.draw(tables(delimiter)), delimiter))

    @few_examples
    @given(data=st.data())
    def test_over_damaged_tables(self, opened, delimiter, data):
        with suppress(UnreadableError):  # of the header
            assert_readers_agree(opened(data.draw(damaged(delimiter)), delimiter))


LARGE = b"id,text\n" + b"".join(b'%d,"a ""b"", c\nd"\n' % n for n in range(20_000))


class TestDuckDB:
    @pytest.mark.parametrize(
        "data",
        [
            b"a,b\n1,2\n3,4\n",
            b"a,b\r\n1,2\r\n3,\r\n",
            b'\xef\xbb\xbfa,b\n1,"x, ""y"" ""z""\r\n\n"\n3,4',
            b'a,a\n"",2\n\\,NULL\n',
            LARGE,
        ],
    )
    def test_reads_ordinary_files(self, opened, data):
        part = opened(data)
        assert part._quick.is_faithful()
        careful = [batch.columns for batch, _ in part._careful.batches()]
        quick = [b.columns for b in part._quick.batches(None)]
        for one, other in zip(zip(*careful, strict=True), zip(*quick, strict=True), strict=True):
            assert pa.chunked_array(one) == pa.chunked_array(other)

    @pytest.mark.parametrize("compress", [("gz", gzip.compress), ("zst", None)])
    def test_reads_compressed_files(self, opened, compress):
        ending, function = compress
        function = function or (lambda data: pa.compress(data, codec="zstd", asbytes=True))
        part = opened(function(LARGE), ending=f"csv.{ending}")
        assert part._quick.is_faithful()
        assert_readers_agree(part)

    @pytest.mark.parametrize(
        "data",
        [
            b'a,b\n1, "x"\n',  # spaces around quotes are dropped
            b'a,b\n1,"x" \n',
            b"a,b\n1,2,\n",  # and so is a delimiter,
            b'a,b\n1,2\n3,"x\n',  # an open quote with all that follows,
            b'a,b\n1,2\n"\n',
            b'a,b\r"\n',
            b'a,b\n1,"" "x"\n',  # and quotes inside a value
            b"a\n\nx\n",  # a blank line is taken for a row
            b"a,b\n1,\xff\n",
            b"a,b\n1,\0\n",
            b"a,b\n1,2\r\n3,4\n",
            "a,b\n1,2\n".encode("utf-16"),
        ],
    )
    def test_is_not_asked_to_read_what_it_misreads(self, opened, data):
        part = opened(data)
        assert not part._quick.is_faithful()
        assert_readers_agree(part)

    def test_does_not_see_a_line_that_would_fill_the_memory(self, opened, monkeypatch):
        part = opened(b"a,b\n1,2\n3," + b"x" * (3 << 20) + b"\n")
        monkeypatch.setattr(QuickCsv, "_hold_rows", lambda _: pytest.fail("it was asked"))
        assert not part._quick.is_faithful()

    @pytest.mark.parametrize("most_held", [0, 100_000, held_rows.MOST_HELD])
    def test_reads_a_file_twice(self, opened, monkeypatch, most_held):
        """Once to count its bytes, once for its rows, which wait in a file if they are many."""
        monkeypatch.setattr(held_rows, "MOST_HELD", most_held)
        part = opened(b"a,b\n" + b"".join(b"%d,x\n" % i for i in range(10_000)))
        asked: list[str] = []
        table = QuickCsv._table
        monkeypatch.setattr(QuickCsv, "_table", lambda self: asked.append("") or table(self))
        rows = [row for batch in part.batches(None, pytest.fail) for row in batch.to_pylist()]
        assert rows == [{"a": str(i), "b": "x"} for i in range(10_000)]
        assert len(asked) == 1

    def test_gives_small_batches_of_long_rows(self, opened):
        part = opened(b"a,b\n" + (b"x," + b"y" * 500_000 + b"\n") * 40)
        sizes = [batch.num_rows for batch in part.batches(None, pytest.fail)]
        assert part._quick.is_faithful()
        assert sum(sizes) == 40
        assert max(sizes) <= 9

    @pytest.mark.parametrize("given_before", [0, 1, 2])
    def test_hands_over_where_it_breaks_off(self, opened, monkeypatch, given_before):
        part = opened(LARGE)
        whole = QuickCsv.batches

        def broken(self, columns):
            for number, batch in enumerate(whole(self, columns)):
                if number == given_before:
                    raise duckdb.OutOfMemoryException
                yield batch

        monkeypatch.setattr(QuickCsv, "batches", broken)
        assert_readers_agree(part)
