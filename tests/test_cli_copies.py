"""`nearly dedup` and its clean copies: what stays, where it goes, and what is refused."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearly
from nearly.cli.program import run
from nearly.engines.local.engine import LocalEngine
from nearly.errors import SettingsError, SourceError, UnreadableError
from nearly.sources import Skipped, file_state, open_source

FOX = b"the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"
OWL = b"an owl that nobody has heard of sits on a branch and looks at the moon all night long"

Run = Callable[..., tuple[int, bytes, str]]


@pytest.fixture(name="call")
def _call(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, bytes, str]:
        code = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return code, out, err.decode()

    return call


#: A file of which every second row is something else: a copy, bytes that are no UTF-8, a row
#: with a value too many, a text that is missing.
HEAD = b'\xef\xbb\xbf"id";text;n\r\n'
ROWS = [
    b"7;" + FOX + b";1.0\r\n",
    b"007;" + FOX + b";2\r\n",
    b"x;caf\xe9;3\r\n",
    b"y;one;too;many\r\n",
    b"z;;5\r\n",
    b'9;"' + OWL + b'\r\n";6',
]


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> Path:
    (tmp_path / "docs.csv").write_bytes(HEAD + b"".join(ROWS))
    return tmp_path / "docs.csv"


def without(*rows: int) -> bytes:
    return HEAD + b"".join(row for i, row in enumerate(ROWS) if i not in rows)


class TestUnreadable:
    def test_rows_stay_in_their_place_byte_for_byte(self, call, table):
        code, _, err = call("dedup", table, "-o", "clean.csv")
        assert code == 3
        assert Path("clean.csv").read_bytes() == without(1)
        assert "1 document removed from 1 cluster; 5 rows written to clean.csv" in err
        assert "3 rows could not be read; they stay" in err
        assert "--encoding auto finds out" in err

    def test_rows_go_when_that_is_said(self, call, table):
        _, _, err = call("dedup", table, "-o", "clean.csv", "--unreadable", "drop")
        assert Path("clean.csv").read_bytes() == without(1, 2, 3, 4)
        assert "3 rows could not be read; they go" in err

    def test_rows_are_an_error_when_that_is_said(self, call, table):
        code, _, err = call("dedup", table, "-o", "clean.csv", "--unreadable", "fail")
        assert code == 3
        assert "row 2, line 4: not valid UTF-8" in err
        assert "--unreadable fail" in err
        assert not Path("clean.csv").exists()

    def test_rows_that_cannot_be_converted_are_counted(self, call, table):
        _, _, err = call("dedup", table, "-o", "clean.parquet", "--id", "id")
        assert pq.read_table("clean.parquet").column("id").to_pylist() == ["7", "z", "9"]
        assert "written anew as parquet" in err
        assert "3 rows could not be read; 2 cannot be converted and are left out" in err

    def test_the_library_says_the_same(self, table):
        kept = nearly.dedup(table, unreadable="drop").kept
        assert kept.column("id").to_pylist() == ["7", "9"]
        with pytest.raises(UnreadableError, match="line 4"):
            nearly.dedup(table, unreadable="fail")
        with pytest.raises(SettingsError, match="keep, drop, fail"):
            nearly.dedup(table, unreadable="mend")

    def test_the_library_writes_the_same_bytes(self, table, tmp_path):
        clean = nearly.dedup(table)
        clean.write(tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_bytes() == without(1)
        clean.write(tmp_path / "parts")
        assert (tmp_path / "parts" / "docs.csv").read_bytes() == without(1)

    def test_lines_that_are_no_json_stay(self, call):
        line = b'{"text": "%s", "n": 12345678901234567890123, "m":[1,{"b":null}]}\n'
        rows = [line % FOX, b"no JSON\n", b"\n", line % FOX, b'{"text":null}\n', line % OWL]
        Path("a.jsonl").write_bytes(b"".join(rows))
        call("dedup", "a.jsonl", "-o", "b.jsonl")
        assert Path("b.jsonl").read_bytes() == b"".join(rows[:3] + rows[4:])
        _, _, err = call("dedup", "a.jsonl", "-o", "b.parquet")
        assert len(pq.read_table("b.parquet")) == 3
        assert "2 rows could not be read; 1 cannot be converted and is left out" in err


class TestRowNumbers:
    def test_count_rows_that_could_not_be_read(self, call):
        rows = [b"caf\xe9\n", FOX + b"\n", b"a,b\n", FOX + b"\n"]
        Path("a.csv").write_bytes(b"text\n" + b"".join(rows))
        call("dedup", "a.csv", "-o", "b.csv", "--removed", "r.csv", "--skipped", "s.csv")
        assert Path("r.csv").read_text().splitlines()[1].startswith("3,1,")
        skipped = Path("s.csv").read_text().splitlines()[1:]
        assert [line.split('"')[1] for line in skipped] == ["row 0, line 2", "row 2, line 4"]

    def test_arrays_become_one_array_or_several(self, call):
        texts = [b'{"text": "%s", "n": 1e5}' % text for text in (FOX, b"other", b"more", FOX)]
        Path("a.json").write_bytes(b"[\n" + b",\n".join(texts[:2]) + b"\n]\n")
        Path("b.json").write_bytes(b"[\n" + b",\n".join(texts[2:]) + b"\n]\n")
        call("dedup", "a.json", "b.json", "-o", "c.json")
        assert Path("c.json").read_bytes() == b"[\n" + b",\n".join(texts[:3]) + b"\n]\n"
        call("dedup", "c.json", "-o", "shards", "--shard-size", "2")
        assert Path("shards/part-00000.json").read_bytes() == Path("a.json").read_bytes()
        assert Path("shards/part-00001.json").read_bytes() == b"[\n" + texts[2] + b"\n]\n"
        _, _, err = call("dedup", "c.json", "-o", "c.csv")
        assert "written anew as csv: missing keys are null" in err

    def test_of_json_name_the_line_however_many_are_blank(self, call):
        Path("a.jsonl").write_bytes(b'\n{"text": "%s"}\n\n  \nno JSON\n' % FOX)
        _, _, err = call("find", "a.jsonl")
        assert "skipped row 1, line 5: " in err

    def test_of_several_files_come_with_the_file(self, call):
        for name in ("a.csv", "b.csv"):
            Path(name).write_bytes(b"text\n" + OWL + b" " + name.encode() + b"\n" + FOX + b"\n")
        call("dedup", "a.csv", "b.csv", "-o", "c.csv", "--removed", "r.csv", "-t", 0.99)
        assert Path("r.csv").read_text().splitlines()[1].startswith("b.csv:1,a.csv:1,")


class TestPlaces:
    @pytest.fixture
    def shards(self, tmp_path):
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "a.csv").write_bytes(b"text\r\n" + FOX + b"\r\n" + OWL)
        (tmp_path / "in" / "b.csv.gz").write_bytes(gzip.compress(b"text\r\n" + FOX + b"\r\nb\r\n"))
        return "in/*.csv*"

    def test_a_folder_gets_files_of_the_same_names(self, call, shards):
        code, _, err = call("dedup", shards, "-o", "clean/")
        assert code == 0
        assert "3 rows written to clean in 2 files" in err
        assert Path("clean/a.csv").read_bytes() == b"text\r\n" + FOX + b"\r\n" + OWL
        assert gzip.decompress(Path("clean/b.csv.gz").read_bytes()) == b"text\r\nb\r\n"

    def test_several_files_become_one(self, call, shards):
        call("dedup", shards, "-o", "clean.csv")
        assert Path("clean.csv").read_bytes() == b"text\r\n" + FOX + b"\r\n" + OWL + b"\r\nb\r\n"

    def test_files_with_other_headers_are_written_anew(self, call, shards):
        Path("in/c.csv").write_bytes(b"text,more\nc,1\n")
        _, _, err = call("dedup", shards, "-o", "clean.csv")
        assert "written anew as csv: the files have different headers, types or encodings" in err
        assert Path("clean.csv").read_bytes().splitlines()[0] == b"text,more"
        code, _, err = call("dedup", shards, "-o", "clean/", "--shard-size", 2)
        assert (code, Path("clean").exists()) == (2, False)
        assert "leave --shard-size out" in err

    def test_shards_have_so_many_rows_and_a_header(self, call, shards):
        _, _, err = call("dedup", shards, "-o", "clean/", "--shard-size", 2)
        assert "3 rows written to clean in 2 files" in err
        assert Path("clean/part-00000.csv").read_bytes() == b"text\r\n" + FOX + b"\r\n" + OWL
        assert Path("clean/part-00001.csv").read_bytes() == b"text\r\nb\r\n"

    def test_stdout_gets_the_copy_alone(self, call, shards, table):
        _, out, err = call("dedup", shards, "-o", "-")
        assert out == b"text\r\n" + FOX + b"\r\n" + OWL + b"\r\nb\r\n"
        assert "written to stdout" in err
        assert call("dedup", table, "-o", "-")[1] == without(1)

    def test_what_is_piped_in_can_be_piped_on(self, call, monkeypatch):
        class Stdin:
            buffer = io.BufferedReader(io.BytesIO(b'{"text":"%s"}\n' % FOX * 2))
            isatty = staticmethod(lambda: False)

        monkeypatch.setattr(sys, "stdin", Stdin)
        assert call("dedup", "-", "-o", "-")[1] == b'{"text":"%s"}\n' % FOX

    def test_lines_go_to_any_text(self, call):
        Path("a.log").write_bytes(FOX + b"\n\xff\n" + FOX + b"\n\n")
        assert call("dedup", "a.log", "--lines", "-o", "b.txt")[0] == 3
        assert Path("b.txt").read_bytes() == FOX + b"\n\xff\n\n"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["-o", "c.csv", "--shard-size", "2"], "as in -o clean/"),
            (["-o", "c.csv", "--source-column", "file"], "as in -o clean.parquet"),
            (["-o", "c.parquet", "--source-column", "n"], "column 'n' already"),
            (["-o", "-", "--json"], "stdout, and nothing else"),
            (["-o", "there/"], "exists"),
        ],
    )
    def test_what_cannot_be_is_refused_and_leaves_nothing(self, call, table, arguments, message):
        Path("there").mkdir()
        Path("there/mine").touch()
        before = set(Path().rglob("*"))
        code, out, err = call("dedup", table, *arguments)
        assert (code, out) == (2, b"")
        assert message in err
        assert set(Path().rglob("*")) == before

    def test_the_source_can_be_a_column_of_another_format(self, call, shards):
        call("dedup", shards, "-o", "clean.parquet", "--source-column", "file")
        files = pq.read_table("clean.parquet").column("file").to_pylist()
        assert files == ["in/a.csv", "in/a.csv", "in/b.csv.gz"]


class TestChanges:
    @pytest.fixture
    def while_running(self, monkeypatch):
        """Something that happens after documents were read."""

        def happen(change: Callable[[], object]) -> None:
            whole = LocalEngine.cleaned

            def changed(*arguments, **options):
                change()
                return whole(*arguments, **options)

            monkeypatch.setattr(LocalEngine, "cleaned", changed)

        return happen

    @pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "log"])
    @pytest.mark.parametrize("target", ["own", "json"])
    def test_a_file_that_changed_is_an_error_that_names_it(
        self, call, while_running, ending, target
    ):
        lines = b'{"text": "%s"}\n' % FOX * 2
        data = {"csv": b"text\n" + FOX + b"\n", "jsonl": lines, "log": FOX}
        if ending == "parquet":
            pq.write_table(nearly.dedup([FOX.decode(), "b"]).kept, "a.parquet")
        else:
            Path(f"a.{ending}").write_bytes(data[ending])
        before = Path(f"a.{ending}").read_bytes()
        while_running(lambda: Path(f"a.{ending}").write_bytes(before + b"x\n"))
        output = f"b.{ending if target == 'own' else 'json'}"
        lines_option = ["--lines"] if ending == "log" else []
        code, _, err = call("dedup", f"a.{ending}", "-o", output, *lines_option)
        assert code == 2
        assert f"a.{ending} changed while it was being read" in err
        assert not Path(output).exists()

    def test_a_change_that_leaves_size_and_time_is_seen(self, tmp_path, while_running):
        path = tmp_path / "a.csv"
        path.write_bytes(b"text\n" + FOX + b"\n" + OWL + b"\n")
        status = path.stat()

        def swap() -> None:
            path.write_bytes(b"text\n" + OWL + b"\n" + FOX + b"\n")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

        while_running(swap)
        with pytest.raises(SourceError, match=r"a\.csv changed"):
            nearly.dedup(path).kept  # noqa: B018

    def test_a_fresh_file_is_known_by_its_checksum(self, tmp_path, monkeypatch):
        path = tmp_path / "a.csv"
        path.write_bytes(b"text\na\n")
        [known] = file_state.states_of([str(path)]).values()
        assert known.checksum == zlib.crc32(b"text\na\n")
        monkeypatch.setattr(file_state, "FRESH", 0)
        [old] = file_state.states_of([str(path)]).values()
        assert old.checksum is None

    @pytest.mark.parametrize("data", [b"", b"text\n" + FOX[:9]])
    def test_a_file_cut_short_while_documents_are_read(self, tmp_path, data):
        path = tmp_path / "a.csv"
        path.write_bytes(b"text\n" + (FOX + b"\n") * 50_000)
        documents = open_source(path, temporary=tmp_path).documents(Skipped())
        next(documents)
        path.write_bytes(data)
        with pytest.raises(SourceError, match=r"a\.csv changed"):
            list(documents)

    def test_a_block_that_changed_is_an_error_too(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"text\na\nb\n")
        [block] = open_source(path, temporary=tmp_path / "temporary").blocks(1 << 20)
        path.write_bytes(b"text\na\n")
        with pytest.raises(SourceError, match=r"a\.csv changed"):
            list(block.documents(Skipped()))


class TestJsonLines:
    def test_a_wrong_checksum_is_an_error_or_a_reason(self, call):
        data = bytearray(gzip.compress(b'{"text": "%s"}\n' % FOX * 99))
        data[-6] ^= 1
        Path("a.jsonl.gz").write_bytes(data)
        code, _, err = call("find", "a.jsonl.gz")
        assert code == 3
        assert "a.jsonl.gz cannot be read" in err
        Path("b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "%s"}\n' % FOX * 3))
        code, _, err = call("find", "a.jsonl.gz", "b.jsonl.gz")
        assert code == 3
        assert "3 documents, 1 skipped" in err
        assert "skipped a.jsonl.gz: " in err

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    @pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
    def test_a_mark_costs_no_row(self, tmp_path, encoding, ending):
        text = '{"text": "a é"}\n{"text": "b"}\n'.encode(encoding)
        path = tmp_path / f"a.{ending}"
        path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
        assert nearly.dedup(path).kept.column("text").to_pylist() == ["a é", "b"]
