"""Folders that are tables in parts, mixed ones, and inputs that hold nothing."""

import io
import json
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from sources_reading import documents, ids_and_texts

import nearly
from nearly.cli.program import run
from nearly.errors import UnreadableError
from nearly.sources import holds_tables, open_source

TEXT = "a text that is long enough to be compared with others"


def write_csv(path: Path, table: pa.Table) -> None:
    lines = [",".join(map(str, row.values())) for row in table.to_pylist()]
    path.write_text("\n".join([",".join(table.column_names), *lines]) + "\n")


def write_jsonl(path: Path, table: pa.Table) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def write_arrow(path: Path, table: pa.Table) -> None:
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "parquet": lambda path, table: pq.write_table(table, path),
    "arrow": write_arrow,
    "csv": write_csv,
    "jsonl": write_jsonl,
}


@pytest.fixture
def shards(tmp_path):
    """A folder of two parts, as Spark writes one."""

    def write(ending: str) -> Path:
        folder = tmp_path / "shards"
        folder.mkdir()
        for i in range(2):
            table = pa.table({"id": [2 * i, 2 * i + 1], "text": [TEXT, f"{TEXT} {i}"]})
            WRITERS[ending](folder / f"part-{i}.{ending}", table)
        for mark in ("_SUCCESS", ".part-0.crc", "_logs/x.json"):
            (folder / mark).parent.mkdir(exist_ok=True)
            (folder / mark).touch()
        return folder

    return write


class TestFolderOfParts:
    @pytest.mark.parametrize("ending", WRITERS)
    def test_is_a_table(self, shards, tmp_path, ending):
        folder = shards(ending)
        source = open_source(folder, temporary=tmp_path)
        expected = [(0, TEXT), (1, f"{TEXT} 0"), (2, TEXT), (3, f"{TEXT} 1")]
        assert ids_and_texts(source) == expected
        assert source.columns == ("id", "text")
        assert not source.is_folder
        assert "notes" not in source.facts()
        assert holds_tables(folder)
        assert not holds_tables(folder, "_SUCCESS")

    def test_below_folders_too(self, shards, tmp_path):
        folder = shards("parquet")
        (folder / "year=2020").mkdir()
        (folder / "part-1.parquet").rename(folder / "year=2020" / "part-1.parquet")
        assert len(ids_and_texts(open_source(folder, temporary=tmp_path))) == 4

    def test_with_other_files_says_what_it_took_and_left(self, shards, tmp_path, capsys):
        folder = shards("parquet")
        (folder / "README.md").write_text("what this is")
        source = open_source(folder, temporary=tmp_path)
        assert len(ids_and_texts(source)) == 4
        [note] = source.facts()["notes"]
        assert "parts: part-0.parquet, part-1.parquet. Left: README.md." in note
        assert run(["find", str(folder)]) == 0
        assert note in capsys.readouterr().err

    def test_where_texts_are_more_is_read_as_texts(self, shards, tmp_path):
        folder = shards("parquet")
        names = ["a.txt", "b.txt", "c.csv", "d.txt", "e.txt"]
        for name in names:
            (folder / name).write_text(name)
        source = open_source(folder, temporary=tmp_path)
        found, skipped = documents(source)
        assert [d["id"] for d in found] == ["_SUCCESS", "_logs/x.json", *names]
        assert [record for record, _ in skipped] == ["part-0.parquet", "part-1.parquet"]
        assert all("a table among texts" in reason for _, reason in skipped)
        assert len(ids_and_texts(open_source(folder, glob="*.parquet", temporary=tmp_path))) == 4

    def test_dedup_writes_a_clean_copy_of_it(self, shards, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        shards("csv")
        assert run(["dedup", "shards", "-o", "clean.csv", "-t", "0.99"]) == 0
        assert (tmp_path / "clean.csv").read_text().splitlines()[1:] == [
            f"0,{TEXT}",
            f"1,{TEXT} 0",
            f"3,{TEXT} 1",
        ]
        assert not (tmp_path / "nearly-plan.json").exists()


EMPTY = {
    "list": [],
    "tuple": (),
    "dict": {},
    "texts": nearly.texts([]),
    "Arrow": pa.table({"text": pa.array([], pa.string())}),
    "polars": pl.DataFrame({"text": []}, schema={"text": pl.String}),
    "pandas": pd.DataFrame({"text": []}),
    "query": "SELECT 'a' AS text WHERE false",
}


class TestNothing:
    @pytest.mark.parametrize("name", EMPTY)
    @pytest.mark.parametrize("method", ["auto", "exact", "lsh"])
    def test_gives_nothing(self, name, method):
        found = nearly.find(EMPTY[name], method=method, audit=3)
        assert len(found) == found.pairs.num_rows == found.clusters.num_rows == 0
        assert found.top.num_rows == found.statistics.documents == 0
        clean = nearly.dedup(EMPTY[name], method=method, cluster="leader", keep="longest")
        assert clean.kept.num_rows == clean.removed.num_rows == 0

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("a.csv", b""),
            ("a.csv", b"id,text\n"),
            ("a.tsv", b""),
            ("a.jsonl", b""),
            ("a.json", b""),
            ("a.json", b"[ ]\n"),
            ("folder/", b""),
        ],
    )
    def test_is_said_and_is_no_error(self, tmp_path, monkeypatch, capsys, name, data):
        monkeypatch.chdir(tmp_path)
        if name.endswith("/"):
            Path(name).mkdir()
        else:
            Path(name).write_bytes(data)
        assert run(["find", name]) == 0
        assert capsys.readouterr() == ("", "no documents\n")
        assert run(["find", name, "--json", "--quiet"]) == 0
        assert json.loads(capsys.readouterr().out)["pairs"] == []
        output = "plan.json" if name.endswith("/") else "clean.jsonl"
        assert run(["dedup", name, "-o", output]) == 0
        assert Path(output).exists()
        assert capsys.readouterr().err == "no documents\n"

    def test_piped_in_is_no_error(self, monkeypatch, capsys):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        assert run(["find", "-"]) == 0
        assert capsys.readouterr().err == "no documents\n"

    def test_from_a_closed_input_is_one(self, monkeypatch, capsys):
        monkeypatch.setattr(sys, "stdin", None)
        assert run(["find", "-"]) == 3
        assert "standard input is closed" in capsys.readouterr().err

    @pytest.mark.parametrize("wrong", ["gone.csv", "gone/", "*.gone", "folder --glob *.gone"])
    def test_because_the_path_is_wrong_is_one(self, tmp_path, monkeypatch, wrong):
        monkeypatch.chdir(tmp_path)
        Path("folder").mkdir()
        assert run(["find", *wrong.split()]) == 2


def test_when_all_rows_are_skipped_the_reasons_are_told(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n" + b"1,\xff\n" * 2 + b"1,2,3\n" * 3)
    with pytest.raises(UnreadableError, match=r"5 skipped: row 0, line 2: not .*; and 3 more"):
        nearly.find(path)
    assert run(["find", str(path)]) == 3
    assert "line 4: 3 values where the header has 2" in capsys.readouterr().err
    with pytest.raises(UnreadableError, match="2 skipped: row 0: null text; and 1 more"):
        nearly.find([None, None])
