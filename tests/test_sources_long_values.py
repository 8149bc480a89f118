"""CSV values that are long: read apart, and the same as if they were read with the others."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearly.sources import Skipped, open_source
from nearly.sources.formats import abridged, careful_csv
from nearly.sources.formats.careful_csv import CarefulCsv
from nearly.sources.formats.database import Database

ATOMS = ['"', '""', ",", "\r", "\n", "\r\n", " ", "é", "😀", "a", "words that go on, ", '"\n"']
PIECES = [b'"', b",", b"\r", b"\n", b"\r\n", b'"a",', b'""', b"a" * 30, b"\xff", b"\0", b'"\n"']
values = st.lists(st.sampled_from(ATOMS), max_size=8).map("".join)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return Database(tmp_path_factory.mktemp("csv"), 1)


def found(database: Database, path: Path) -> tuple[list, list]:
    rows, bad = [], []
    reader = CarefulCsv(database, str(path), "a.csv", delimiter=",")
    for batch, broken in reader.batches():
        bad += [(len(rows) + i, row) for i, row in broken.items()]
        rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    records = [bytes(r.data[s:e]) for r in reader.original().records for s, e in spans_of(r)]
    return [rows, bad], records


def spans_of(records):
    return zip(records.starts.tolist(), records.ends.tolist(), strict=True)


def both_ways(database: Database, data: bytes, ending: str = ".csv") -> None:
    path = database.folder / f"a{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    whole = found(database, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(careful_csv, "ABRIDGED_FROM", 25)
        patch.setattr(abridged, "LONG", 10)
        patch.setattr(abridged, "PIECE", 3)
        patch.setattr("nearly.sources.part.BATCH_BYTES", 40)
        assert found(database, path) == whole


@settings(max_examples=150)
@given(rows=st.lists(st.tuples(values, values), max_size=8), end=st.sampled_from(["\n", "\r\n"]))
def test_well_written_values(database, rows, end):
    lines = [",".join('"' + v.replace('"', '""') + '"' for v in row) for row in rows]
    both_ways(database, end.join(["id,text", *lines, ""]).encode())


@settings(max_examples=300)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_bytes(database, pieces):
    both_ways(database, b"id,text\n" + b"".join(pieces))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_other_encodings_and_compressed(database, encoding, ending):
    text = 'id,text\n1,"' + 'é "" 😀\n' * 9 + '"\n2,short\n3,' + "x" * 40 + "\n4,a,b\n"
    both_ways(database, text.encode(encoding), ending)


@pytest.mark.parametrize("is_quoted", [True, False])
def test_a_value_longer_than_python_reads(tmp_path, is_quoted):
    long = "a long text " * (careful_csv.LONGEST // 10)
    path = tmp_path / "docs.csv"
    written = f'"{long}"' if is_quoted else long
    path.write_text(f"id,text\n1,short\n2,{written}\n3,last\n")
    skipped = Skipped()
    source = open_source(str(path), temporary=tmp_path)
    rows = [row for batch in source.documents(skipped) for row in batch.to_pylist()]
    assert [row["text"] for row in rows] == ["short", long, "last"]
    assert len(skipped) == 0


def test_quotes_that_do_not_tell_leave_it_out_with_its_reason(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text('id,text\n1,5" disk\n2,' + "a" * (careful_csv.LONGEST + 1) + "\n3,last\n")
    skipped = Skipped()
    source = open_source(str(path), temporary=tmp_path)
    rows = [row for batch in source.documents(skipped) for row in batch.to_pylist()]
    assert [row["text"] for row in rows] == ['5" disk', "last"]
    assert "more than 33,554,432 characters" in skipped.table().to_pylist()[0]["reason"]
