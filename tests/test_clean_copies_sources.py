"""Clean copies of other encodings, of folders of parts, and of tables inside of files."""

import gzip
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_clean_copies import copy_without
from test_sources_formats import xlsx

from nearly.cli.program import run

FOX = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while é"
OWL = "an owl that nobody has heard of sits on a branch and looks at the moon all night long ü"

Call = Callable[..., tuple[int, str]]


@pytest.fixture(name="call")
def _call(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Call:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str]:
        code = run([str(argument) for argument in arguments])
        return code, capfd.readouterr().err

    return call


def csv_of(*rows: str, end: str = "\r\n") -> str:
    return "".join(f"{row}{end}" for row in ("id;text", *rows))


WHOLE = csv_of(f"1;{FOX}", f'2;"{FOX}"', f"3;{OWL}")
CLEAN = csv_of(f"1;{FOX}", f"3;{OWL}")


class TestEncoding:
    @pytest.mark.parametrize(
        ("forced", "codec"),
        [
            ("cp1252", "cp1252"),
            ("auto", "cp1252"),
            ("utf-16", "utf-16"),
            ("utf-16-be", "utf-16-be"),
            ("utf-32", "utf-32"),
            ("utf-8", "utf-8"),
            ("utf-8-sig", "utf-8-sig"),
            ("utf-8-sig", "utf-8"),
            ("cp500", "cp500"),
        ],
    )
    def test_the_copy_is_cut_from_the_original_bytes(self, call, forced, codec):
        Path("a.csv").write_bytes(WHOLE.encode(codec))
        code, err = call("dedup", "a.csv", "-o", "clean.csv", "--encoding", forced)
        assert (code, Path("clean.csv").read_bytes()) == (0, CLEAN.encode(codec))
        assert "written" not in err.replace("written to", "")

    def test_bytes_that_the_encoding_does_not_have_stay(self, call):
        data = WHOLE.encode("cp1252") + b"4;\x81\x8d\r\n"
        Path("a.csv").write_bytes(data)
        code, err = call("dedup", "a.csv", "-o", "clean.csv", "--encoding", "cp1252")
        assert code == 3
        assert Path("clean.csv").read_bytes() == CLEAN.encode("cp1252") + b"4;\x81\x8d\r\n"
        assert "1 row could not be read; it stays" in err

    def test_a_compressed_file_stays_compressed(self, call):
        Path("a.csv.gz").write_bytes(gzip.compress(WHOLE.encode("cp1252")))
        Path("b.csv").write_bytes(csv_of("9;other words").encode("cp1252"))
        code, _ = call("dedup", "a.csv.gz", "b.csv", "-o", "clean/", "--encoding", "cp1252")
        assert code == 0
        assert gzip.decompress(Path("clean/a.csv.gz").read_bytes()) == CLEAN.encode("cp1252")
        assert Path("clean/b.csv").read_bytes() == csv_of("9;other words").encode("cp1252")

    def test_zstandard_in_zstandard_out(self, call):
        Path("a.csv.zst").write_bytes(pa.compress(WHOLE.encode(), codec="zstd", asbytes=True))
        code, _ = call("dedup", "a.csv.zst", "-o", "clean.csv.zst")
        with pa.input_stream("clean.csv.zst", compression="zstd") as file:
            assert (code, file.read()) == (0, CLEAN.encode())

    def test_shards_of_it_are_compressed_too(self, call):
        Path("a.csv.gz").write_bytes(gzip.compress(WHOLE.encode("cp1252")))
        call("dedup", "a.csv.gz", "-o", "clean", "--shard-size", 1, "--encoding", "cp1252")
        shards = [gzip.decompress(path.read_bytes()) for path in sorted(Path("clean").iterdir())]
        rows = [csv_of(f"1;{FOX}"), csv_of(f"3;{OWL}")]
        assert shards == [row.encode("cp1252") for row in rows]

    def test_lines_too(self, call):
        Path("a.txt").write_bytes(f"{FOX}\n{FOX}\r\n\n{OWL}".encode("latin-1"))
        call("dedup", "--lines", "a.txt", "-o", "clean.txt", "--encoding", "latin-1")
        assert Path("clean.txt").read_bytes() == f"{FOX}\n\n{OWL}".encode("latin-1")

    def test_json_too(self, call):
        line = '{"id":%d,"text": "%s"}\n'
        lines = [line % (1, FOX), line % (2, FOX), line % (3, OWL)]
        Path("a.jsonl").write_bytes("".join(lines).encode("cp1252"))
        call("dedup", "a.jsonl", "-o", "clean.jsonl", "--encoding", "cp1252")
        assert Path("clean.jsonl").read_bytes() == (lines[0] + lines[2]).encode("cp1252")

    def test_where_bytes_cannot_be_told_from_text_the_copy_is_utf_8_and_says_so(self, call):
        twice = b"\xfa\x5c"  # cp932 has this character twice, and writes b"\xed\x40"
        assert twice.decode("cp932").encode("cp932") != twice
        rows = [b"id;text\n", b"1;" + FOX[:-1].encode(), b"\n2;" + FOX[:-1].encode(), b"\n3;"]
        Path("a.csv").write_bytes(b"".join(rows) + twice + b"\n")
        code, err = call("dedup", "a.csv", "-o", "clean.csv", "--encoding", "cp932")
        assert code == 0
        text = f"id;text\n1;{FOX[:-1]}\n3;{twice.decode('cp932')}\n"
        assert Path("clean.csv").read_bytes() == text.encode()
        assert "written as UTF-8" in err

    def test_files_of_different_encodings_do_not_share_one(self, call):
        Path("a.csv").write_bytes(WHOLE.encode("cp1252"))
        Path("b.csv").write_bytes(csv_of("9;zwei Wörter").encode())
        code, err = call("dedup", "a.csv", "b.csv", "-o", "clean.csv", "--encoding", "auto")
        assert code == 0
        assert "zwei Wörter" in Path("clean.csv").read_text(encoding="utf-8")
        assert "different headers, types or encodings" in err


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    texts=st.lists(st.text('aé"\n\r;ÿ€', max_size=4), min_size=1, max_size=6),
    codec=st.sampled_from(["cp1252", "utf-16-le", "utf-7", "cp932", "iso2022_jp", "gb18030"]),
    data=st.data(),
)
def test_of_any_encoding_a_copy_has_the_bytes_or_the_text(tmp_path_factory, texts, codec, data):
    rows = [text.replace('"', '""').encode(codec, "ignore").decode(codec) for text in texts]
    records = ["x;text\n", *(f'{i};"{row}"\n' for i, row in enumerate(rows))]
    path = tmp_path_factory.mktemp("copy") / "a.csv"
    path.write_bytes("".join(records).encode(codec))
    gone = data.draw(st.sets(st.sampled_from(range(len(rows)))))
    copy = copy_without(path, sorted(gone), ".csv", encoding=codec)
    stays = "".join(record for i, record in enumerate(records) if i - 1 not in gone)
    assert stays in (_decoded(copy, codec), _decoded(copy, "utf-8"))
    if codec in ("cp1252", "utf-16-le", "gb18030"):
        assert copy == stays.encode(codec)


def _decoded(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


class TestFolder:
    def test_of_parts_becomes_a_folder_of_the_same_names(self, call):
        Path("in/deep").mkdir(parents=True)
        Path("in/a.csv").write_bytes(WHOLE.encode())
        Path("in/deep/b.csv").write_bytes(csv_of("9;other words").encode())
        code, err = call("dedup", "in", "-o", "clean/")
        assert code == 0
        assert "written to clean in 2 files" in err or "written to clean/ in 2 files" in err
        assert Path("clean/a.csv").read_bytes() == CLEAN.encode()
        assert Path("clean/deep/b.csv").read_bytes() == csv_of("9;other words").encode()

    @pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
    def test_an_empty_part_goes_with_the_others(self, call, encoding):
        Path("in").mkdir()
        Path("in/a.csv").write_bytes(b"\n")
        Path("in/b.csv").write_bytes(WHOLE.encode(encoding))
        code, err = call("dedup", "in", "-o", "clean.csv", "--encoding", encoding)
        assert (code, Path("clean.csv").read_bytes()) == (0, CLEAN.encode(encoding))
        assert "anew" not in err
        assert call("dedup", "in", "-o", "clean/", "--encoding", encoding)[0] == 0
        assert Path("clean/a.csv").read_bytes() == b"\n"

    def test_an_old_folder_comes_back_if_another_output_fails(self, call, monkeypatch):
        from nearly.sinks.part_folder import StagedParts

        Path("a.csv").write_bytes(WHOLE.encode())
        Path("clean").mkdir()
        Path("clean/old").write_text("old")
        publish = StagedParts.publish

        def fail(staged: StagedParts, *, force: bool) -> None:
            publish(staged, force=force)
            raise OSError("no more")

        monkeypatch.setattr(StagedParts, "publish", fail)
        code, _ = call("dedup", "a.csv", "-o", "clean/", "--removed", "gone.csv", "--force")
        assert code != 0
        assert sorted(path.name for path in Path().iterdir()) == ["a.csv", "clean"]
        assert [path.name for path in Path("clean").iterdir()] == ["old"]


class TestTablesInside:
    @pytest.fixture(name="database")
    def _database(self, tmp_path: Path) -> Path:
        with sqlite3.connect(tmp_path / "a.db") as connection:
            connection.execute("CREATE TABLE letters (id INTEGER, text TEXT)")
            rows = [(1, FOX), (2, FOX), (3, OWL)]
            connection.executemany("INSERT INTO letters VALUES (?, ?)", rows)
            connection.execute("CREATE TABLE replies AS SELECT * FROM letters")
        connection.close()
        return tmp_path / "a.db"

    def test_are_converted_and_that_is_said(self, call, database):
        code, err = call("dedup", f"{database}::letters", "-o", "clean.csv")
        assert code == 0
        text = Path("clean.csv").read_text(encoding="utf-8")
        assert [line.partition(",")[0] for line in text.splitlines()] == ["id", "1", "3"]
        assert "written anew as csv" in err

    def test_go_to_a_folder_as_parquet(self, call, database):
        call("dedup", f"{database}::letters", f"{database}::replies", "--id", "id", "-o", "clean/")
        assert sorted(path.name for path in Path("clean").iterdir()) == [
            "part-00000.parquet",
            "part-00001.parquet",
        ]
        call("dedup", f"{database}::letters", "-o", "one/")
        assert pq.read_table("one/a.db.parquet")["id"].to_pylist() == [1, 3]

    def test_go_to_stdout_as_json(self, database, monkeypatch, capfdbinary, tmp_path):
        monkeypatch.chdir(tmp_path)
        assert run(["dedup", f"{database}::letters", "-o", "-", "--quiet"]) == 0
        assert capfdbinary.readouterr().out.count(b'"id"') == 2

    def test_cannot_be_shards(self, call, database):
        code, err = call("dedup", f"{database}::letters", "-o", "clean/", "--shard-size", 1)
        assert code != 0
        assert "leave --shard-size out" in err
        assert not Path("clean").exists()

    def test_of_a_spreadsheet_too(self, call):
        rows = [["id", "text"], [1, FOX], [2, FOX], [3, OWL]]
        Path("a.xlsx").write_bytes(xlsx({"S": rows}))
        code, err = call("dedup", "a.xlsx", "-o", "clean/")
        assert code == 0
        assert pq.read_table("clean/a.xlsx.parquet")["id"].to_pylist() == [1, 3]
        assert "written anew as parquet" in err


def test_several_text_columns_decide_what_is_unreadable(call):
    table = pa.table({"a": [FOX, FOX, None], "b": [None, None, None], "n": [1, 2, 3]})
    pq.write_table(table, "a.parquet")
    arguments = ("dedup", "a.parquet", "--text", "a,b", "--unreadable", "drop", "-o")
    call(*arguments, "clean.parquet")
    call(*arguments, "clean.csv")
    assert pq.read_table("clean.parquet")["n"].to_pylist() == [1]
    assert len(Path("clean.csv").read_text(encoding="utf-8").splitlines()) == 2
