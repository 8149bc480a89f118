"""A source read in blocks, elsewhere: the documents that it gives when it is read at once."""

import base64
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from pyspark import cloudpickle

from nearly import errors
from nearly.documents.place import located
from nearly.sources import Block, Skipped, Source, open_source, part
from nearly.sources.formats.lazy_frame import LazyFrameSource

SIZES = [1, 700, 1 << 30]
COUNT = 60


def texts(first: int = 0) -> list[str | None]:
    """Texts of several lengths, one of them null."""
    return [None if i == 41 else f"text {first + i} é " + "x" * (i * 7 % 90) for i in range(COUNT)]


def table(first: int = 0) -> pa.Table:
    ids = pa.array([None if i == 7 else first + i for i in range(COUNT)], pa.int64())
    return pa.table({"id": ids, "text": texts(first), "extra": [i / 2 for i in range(COUNT)]})


def without_id(first: int = 0) -> pa.Table:
    return table(first).drop_columns("id")


def write_parquet(path: Any, given: pa.Table, rows: int = 10) -> None:
    pq.write_table(given, path, row_group_size=rows)


def write_jsonl(path: Path, given: pa.Table) -> None:
    lines = [json.dumps(row) for row in given.to_pylist()]
    lines[20] = '{"id": 20, "text": '
    path.write_text("\n".join(lines))


def write_arrow(path: Path, given: pa.Table) -> None:
    with ipc.new_file(str(path), given.schema) as writer:
        writer.write_table(given, max_chunksize=25)


def csv_of(given: pa.Table, *, broken: bool) -> str:
    rows = [",".join("" if v is None else str(v) for v in r.values()) for r in given.to_pylist()]
    if broken:
        rows[13] += ",one too many"
        rows[50] = 'a "quote" that, goes"on' + "," * (given.num_columns - 2)
    return "\n".join([",".join(given.column_names), *rows]) + "\n"


@dataclass
class Case:
    """What is given, with which options."""

    given: Any
    options: dict[str, Any]


CASES: dict[str, Callable[[Path], Case]] = {}


def case(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def made(folder: Path) -> Case:
        given = make(folder)
        return given if isinstance(given, Case) else Case(given, {})

    CASES[make.__name__] = made
    return make


@case
def parquet(folder):
    write_parquet(folder / "a.parquet", table())
    return folder / "a.parquet"


@case
def parquet_without_id(folder):
    write_parquet(folder / "a.parquet", without_id())
    return folder / "a.parquet"


@case
def parquet_with_a_column_of_row_numbers(folder):
    write_parquet(folder / "a.parquet", table().rename_columns(["File_Row_Number", "text", "e"]))
    return folder / "a.parquet"


@case
def parquet_without_rows(folder):
    write_parquet(folder / "a.parquet", table().slice(0, 0))
    return folder / "a.parquet"


@case
def parquet_files_that_differ(folder):
    write_parquet(folder / "a.parquet", without_id())
    write_parquet(folder / "b.parquet", without_id(100).drop_columns("extra"))
    write_parquet(folder / "c.parquet", without_id(200).slice(0, 0))
    (folder / "d.parquet").write_bytes(b"PAR1 that is not Parquet")
    write_parquet(folder / "e.parquet", without_id(300), rows=100)
    return str(folder / "*.parquet")


@case
def parquet_with_an_odd_name(folder):
    path = os.fsencode(folder) + b"/a*[1]\n\xff.parquet"
    with open(path, "wb") as file:
        write_parquet(file, table())
    return Path(os.fsdecode(path))


@case
def parquet_compressed(folder):
    sink = io.BytesIO()
    write_parquet(sink, table())
    (folder / "a.parquet.gz").write_bytes(gzip.compress(sink.getvalue()))
    return folder / "a.parquet.gz"


@case
def texts_in_a_folder(folder):
    for i, text in enumerate(texts()):
        (folder / f"{i:02}.txt").write_text(text or "")
    (folder / "15.bin").write_bytes(b"a\0b")
    (folder / "30-latin.txt").write_bytes(b"caf\xe9")
    (folder / "45-link.txt").symlink_to(folder / "nothing")
    with open(os.fsencode(folder) + b"/\xff?.txt", "w") as file:
        file.write("an odd name")
    return folder


@case
def one_text(folder):
    (folder / "a.txt").write_text("the only one")
    return folder / "a.txt"


@case
def csv(folder):
    (folder / "a.csv").write_text(csv_of(table(), broken=False))
    return folder / "a.csv"


@case
def csv_with_broken_rows_and_no_id(folder):
    (folder / "a.csv").write_text(csv_of(without_id(), broken=True))
    return folder / "a.csv"


@case
def csv_with_ids_that_turn_into_words(folder):
    rows = [f"{i if i < 1500 else 'w'},text {i}" for i in range(1502)]
    (folder / "a.csv").write_text("\n".join(["id,text", *rows]))
    return folder / "a.csv"


@case
def csv_files_without_id(folder):
    for i in range(5):
        content = csv_of(without_id(i * 100), broken=i == 2)
        (folder / f"{i}[x]?.csv").write_text(content)
    (folder / "empty.csv").write_text("text,extra\n")
    return str(folder / "*.csv")


@case
def csv_files_with_other_numbers(folder):
    (folder / "a.csv").write_text(csv_of(table(), broken=True))
    (folder / "b.csv").write_text("id,text,extra\nword,b,1.5\n2,c,3\n")
    return str(folder / "*.csv")


@case
def tsv_compressed(folder):
    content = csv_of(table(), broken=True).replace(",", "\t")
    (folder / "a.tsv.gz").write_bytes(gzip.compress(content.encode()))
    return folder / "a.tsv.gz"


@case
def jsonl(folder):
    write_jsonl(folder / "a.jsonl", table())
    return folder / "a.jsonl"


@case
def jsonl_files_without_id(folder):
    write_jsonl(folder / "a.jsonl", without_id())
    write_jsonl(folder / "b*.jsonl", without_id(100))
    return str(folder / "*.jsonl")


@case
def json_array(folder):
    (folder / "a.json").write_text(json.dumps(table().to_pylist()))
    return folder / "a.json"


@case
def arrow(folder):
    write_arrow(folder / "a.arrow", table())
    return folder / "a.arrow"


@case
def arrow_that_breaks_off_among_others(folder):
    for name in "abc":
        write_arrow(folder / f"{name}.arrow", without_id())
    corrupt = bytearray((folder / "b.arrow").read_bytes())
    with ipc.open_file(str(folder / "b.arrow")) as reader:
        assert reader.num_record_batches == 3
    second = corrupt.index(b"\xff\xff\xff\xff", corrupt.index(b"text 24"))
    corrupt[second + 8 : second + 40] = b"\xee" * 32
    (folder / "b.arrow").write_bytes(corrupt)
    (folder / "d.arrow.gz").write_bytes(gzip.compress(bytes(corrupt)))
    return str(folder / "*.arrow*")


@case
def lines_of_several_files(folder):
    for name in ("a", "b", "c?"):
        (folder / name).write_bytes("\n".join(t or "" for t in texts()).encode() + b"\n\xff\n\0")
    return Case(str(folder / "*"), {"lines": True})


@case
def lines_of_one_file(folder):
    (folder / "a.txt").write_bytes("\n".join(t or "" for t in texts()).encode() + b"\n\xff\n\0")
    return Case(folder / "a.txt", {"lines": True})


@case
def list_with_surrogates(_folder):
    return [*texts(), "lone \ud800", None, "last"]


@case
def dict_of_words(_folder):
    return {f"id {i}": text for i, text in enumerate(texts())}


@case
def pandas_frame(_folder):
    frame = table().to_pandas()
    frame["extra"] = frame["extra"].astype(str).astype("category")
    return frame


@case
def polars_frame(_folder):
    parts = [pl.from_arrow(table(i * COUNT)) for i in range(3)]
    return pl.concat(parts, rechunk=False)


@case
def arrow_with_dictionaries(_folder):
    pieces = [table(i).set_column(1, "text", table(i)["text"].dictionary_encode()) for i in (0, 9)]
    return pa.concat_tables(pieces)


@case
def query(folder):
    write_parquet(folder / "a.parquet", table())
    return f"SELECT * FROM '{folder}/a.parquet' WHERE id % 2 = 0"  # noqa: S608


@case
def csv_from_standard_input(_folder):
    return Case("-", {"stdin": csv_of(without_id(), broken=True).encode()})


@case
def lines_from_standard_input(_folder):
    content = "\n".join(t or "" for t in texts()).encode() + b"\nbroken \xff\nlast"
    return Case("-", {"lines": True, "stdin": content})


@pytest.fixture
def opened(tmp_path, monkeypatch) -> Callable[..., Source]:
    """A case by its name, written down and opened."""
    monkeypatch.setattr(part, "BATCH_ROWS", 16)

    def open_case(name: str, home: Path = tmp_path) -> Source:
        folder, temporary = home / "data", home / "temporary"
        folder.mkdir(exist_ok=True)
        temporary.mkdir(exist_ok=True)
        case = CASES[name](folder)
        stdin = case.options.pop("stdin", b"")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        return open_source(case.given, temporary=temporary, **case.options)

    return open_case


Found = tuple[list[dict[str, Any]], list[tuple[str, str]], list[dict[str, Any]]]


def read(source: Source | Block, also: str | None = None) -> Found:
    """Documents, what was skipped, and all rows."""
    skipped = Skipped()
    found = [row for batch in source.documents(skipped, also) for row in batch.to_pylist()]
    listed = [(row["record"], row["reason"]) for row in skipped.table().to_pylist()]
    kept = source.kept(np.empty(0, np.int64))
    batches = kept if isinstance(source, Block) else kept()
    return found, listed, [row for batch in batches for row in batch.to_pylist()]


def placed(blocks: list[Block]) -> Iterator[Block]:
    """Blocks that know where they begin."""
    first = 0
    for block in blocks:
        assert block.first_row in (None, first)
        yield block.starting_at(first)
        first += block.count_rows()


def united(blocks: list[Block], read_block: Callable[[Block], Found] = read) -> Found:
    """What blocks give, one after the other, with rows numbered throughout."""
    documents, skipped, rows = [], [], []
    first = 0
    for block in blocks:
        found = read_block(block)
        documents += [{**d, "row": d["row"] + first} for d in found[0]]
        skipped += found[1]
        rows += found[2]
        first += block.count_rows()
    return documents, skipped, rows


def sent(block: Block) -> Block:
    return cloudpickle.loads(cloudpickle.dumps(block))


def places(source: Source | Block) -> list[tuple[str | None, int]]:
    """The file and row of every document."""
    rows = [row for batch in source.documents(Skipped()) for row in batch["row"].to_pylist()]
    return located(source.stretches(), np.array(rows, np.int64)).to_list()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_blocks_know_where_their_documents_stand(opened, name, size):
    source = opened(name)
    if source.ids_are_unique:
        return  # nobody asks
    expected = places(source)
    assert len(set(expected)) == len(expected)
    assert expected or name == "parquet_without_rows"
    assert [place for block in source.blocks(size) for place in places(sent(block))] == expected


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_blocks_give_what_the_source_gives(opened, name, size):
    source = opened(name)
    expected = read(source)
    blocks = source.blocks(size)
    assert united(list(placed(blocks))) == expected
    assert united([sent(block) for block in placed(map(sent, blocks))]) == expected
    assert len(blocks) == 1 or size < SIZES[-1]
    if not source.needs_row_counts:
        assert united([sent(block) for block in blocks]) == expected
    for block in blocks:
        assert block.count() in (None, block.count_rows())
        kept = list(block.kept(np.empty(0, np.int64)))
        assert sum(batch.num_rows for batch in kept) <= block.count_rows()
        assert all(batch.schema.equals(source.schema) for batch in kept)


READ_ELSEWHERE = """
import base64, pickle, sys
from pyspark import cloudpickle
from test_sources_blocks import read, united
sources = [[cloudpickle.loads(base64.b64decode(block)) for block in l.split()] for l in sys.stdin]
print(base64.b64encode(pickle.dumps([united(blocks) for blocks in sources])).decode())
"""
READ_THERE = [
    "parquet_files_that_differ",
    "parquet_with_an_odd_name",
    "parquet_compressed",
    "texts_in_a_folder",
    "csv_files_without_id",
    "jsonl_files_without_id",
    "arrow_that_breaks_off_among_others",
    "lines_of_several_files",
    "list_with_surrogates",
    "csv_from_standard_input",
]


def test_a_process_elsewhere_reads_the_same(opened, tmp_path, monkeypatch):
    """One process for all sources: to start one takes longer than to read them."""
    lines, expected = [], {}
    for name in READ_THERE:
        here = tmp_path / name
        here.mkdir()
        monkeypatch.chdir(here)
        source = opened(name, here)
        blocks = [base64.b64encode(cloudpickle.dumps(b)) for b in placed(source.blocks(700))]
        lines.append(b" ".join(blocks))
        expected[name] = read(source)
        (here / "temporary").rename(here / "nobody knows")
    (tmp_path / "elsewhere").mkdir()
    left = tmp_path / "left behind"
    left.mkdir()
    tests = os.path.dirname(__file__)
    answer = subprocess.run(
        [sys.executable, "-c", READ_ELSEWHERE],
        input=b"\n".join(lines),
        capture_output=True,
        cwd=tmp_path / "elsewhere",
        env={**os.environ, "PYTHONPATH": tests, "TMPDIR": str(left)},
        check=True,
    )
    found = pickle.loads(base64.b64decode(answer.stdout))  # noqa: S301
    assert dict(zip(READ_THERE, found, strict=True)) == expected
    assert list(left.iterdir()) == []


@pytest.mark.parametrize("options", [{}, {"lines": True}])
def test_paths_that_are_relative_here_are_found_from_elsewhere(tmp_path, monkeypatch, options):
    (tmp_path / "data").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "data" / name).write_text("one\ntwo\n")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("text,extra\none,1\ntwo,2\n")
    write_arrow(tmp_path / "c.arrow", without_id())
    monkeypatch.chdir(tmp_path)
    sources = [open_source("data", temporary=tmp_path / "t", **options)]
    if not options:
        sources += [open_source(given, temporary=Path("t")) for given in ("*.csv", "c.arrow")]
    expected = [read(source) for source in sources]
    blocks = [[sent(block) for block in placed(source.blocks(1))] for source in sources]
    monkeypatch.chdir("/")
    assert [united(some) for some in blocks] == expected


@pytest.mark.parametrize("name", ["parquet", "csv", "csv_files_with_other_numbers", "jsonl"])
def test_a_column_comes_along_with_the_type_of_the_whole_source(opened, name):
    source = opened(name)
    expected, _, _ = read(source, "extra")
    batches = [
        batch for block in source.blocks(1) for batch in sent(block).documents(Skipped(), "extra")
    ]
    assert {batch.schema.field("also").type for batch in batches} == {pa.float64()}
    found = [value for batch in batches for value in batch.column("also").to_pylist()]
    assert found == [document["also"] for document in expected]
    with pytest.raises(errors.MissingError, match="Did you mean 'extra'"):
        next(sent(source.blocks(1)[0]).documents(Skipped(), "extr"))


@pytest.mark.parametrize("name", CASES)
def test_strict_is_strict_where_a_block_is_read(opened, name):
    def first_error(sources: list[Any]) -> str | None:
        try:
            for source in sources:
                for _ in source.documents(Skipped(strict=True)):
                    pass
        except errors.UnreadableError as error:
            return str(error)
        return None

    source = opened(name)
    blocks = [sent(block) for block in placed(source.blocks(1))]
    assert first_error(blocks) == first_error([source])


def test_a_block_of_numbered_rows_asks_where_it_begins():
    frame = LazyFrameSource(None, without_id().schema, id_column=None, text_column="text")
    assert frame.needs_row_counts
    block = frame.partitions.block_of(1, without_id().to_batches())
    with pytest.raises(ValueError, match="starting_at"):
        next(block.documents(Skipped()))
    assert next(block.starting_at(7).documents(Skipped())).column("id")[0].as_py() == 7


@pytest.mark.parametrize("name", ["csv_files_without_id", "jsonl_files_without_id"])
def test_rows_of_several_files_are_labelled_by_file_and_place(opened, name):
    source = opened(name)
    assert not source.needs_row_counts
    [document, *_] = next(source.blocks(1)[1].documents(Skipped())).to_pylist()
    assert document["id"].rpartition(":")[2] == "0"


def test_small_files_share_a_block(tmp_path):
    for i in range(100):
        (tmp_path / f"{i:03}.csv").write_text("id,text\n1,a\n")
    source = open_source(str(tmp_path / "*.csv"), temporary=tmp_path / "t")
    assert [len(block.parts) for block in source.blocks(25 * 12)] == [25] * 4


def test_a_block_brings_its_own_rows_and_no_others(tmp_path):
    whole = pa.table({"text": ["x" * 1000 for _ in range(1000)]})
    for given in (whole, pl.from_arrow(whole), whole["text"].to_pylist()):
        blocks = open_source(given, temporary=tmp_path).blocks(10_000)
        sizes = [len(cloudpickle.dumps(block)) for block in blocks]
        assert len(sizes) > 90
        assert max(sizes) < 13_000


def test_what_was_found_out_is_not_found_out_again(opened, monkeypatch):
    jsonl = opened("jsonl").blocks(1)[0]
    csv = opened("csv").blocks(1)[0]
    assert len(cloudpickle.dumps(csv)) < 2_000  # without the rows that showed the types
    monkeypatch.setattr("nearly.sources.formats.duck.JsonPart._find_types", pytest.fail)
    monkeypatch.setattr("nearly.sources.formats.careful_csv.CarefulCsv._peek", pytest.fail)
    for block in (jsonl, csv):
        assert len(read(sent(block))[0]) > 50


def test_a_file_that_goes_away_is_an_error_that_can_be_sent(opened, tmp_path):
    block = sent(opened("parquet").blocks(1)[1])
    (tmp_path / "data" / "a.parquet").unlink()
    with pytest.raises(errors.UnreadableError, match=r"a\.parquet cannot be read") as caught:
        next(block.documents(Skipped()))
    assert str(cloudpickle.loads(cloudpickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_can_be_sent(name):
    kind = getattr(errors, name)
    again = cloudpickle.loads(cloudpickle.dumps(kind("what was given, and what to do")))
    assert type(again) is kind
    assert again.args == ("what was given, and what to do",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cuts")


@hypothesis.given(
    groups=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    files=st.integers(1, 2),
    size=st.integers(1, 6_000),
)
@hypothesis.settings(max_examples=20)
def test_parquet_is_cut_between_row_groups(folder, groups, files, size):
    for old in folder.glob("*.parquet"):
        old.unlink()
    for file in range(files):
        first = 0
        with pq.ParquetWriter(folder / f"{file}.parquet", without_id().schema) as writer:
            for rows in groups:
                writer.write_table(without_id(file * 1000 + first).slice(0, rows))
                first += rows
    source = open_source(str(folder / "*.parquet"), temporary=folder / "t")
    blocks = source.blocks(size)
    assert united([sent(block) for block in blocks]) == read(source)
    ends = {sum(groups[: i + 1]) + file * sum(groups) for file in range(files)
            for i in range(len(groups))}  # fmt: skip
    assert {block.first_row for block in blocks} <= {0, *ends}
    assert sum(block.count() or 0 for block in blocks) == files * sum(groups)
