"""Results → files: every format reads back the same, and nothing is ever half-written."""

import csv
import datetime
import errno
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nearly.errors import SinkError, SourceError
from nearly.schemas import PAIRS
from nearly.sinks import Outputs, check_output, row_group, staged_file, write_table
from nearly.sinks.place import blaming

TEXT_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
BINARY_ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")
PACKED_ENDINGS = tuple(text + packed for text in TEXT_ENDINGS for packed in (".gz", ".zst"))
ENDINGS = BINARY_ENDINGS + TEXT_ENDINGS + PACKED_ENDINGS
#: One of each way of writing.
FEW_ENDINGS = (".csv", ".json", ".jsonl", ".parquet", ".arrow", ".csv.gz", ".csv.zst")

ROWS = [
    ("plain", "text", 0.1),
    ('quote " and ""', "comma, tab \t end", 1.0),
    ("line\nbreak", "carriage\r\nreturn", 1 / 3),
    ("naïve 日本語 😀", "\u2028\x01\x7f\\n", 5e-324),
    (" edges ", "#not a comment", 1.7976931348623157e308),
    ("null", "007", 0.30000000000000004),
]


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few thousand rows are several groups: small tests then show what large files do."""
    monkeypatch.setattr(row_group, "GROUP_ROWS", 2 * row_group.UNIT_ROWS)


def pairs(rows: list[tuple[str, str, float]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, PAIRS, strict=True)]
    return pa.table(arrays, schema=PAIRS)


def read(path: Path) -> list[tuple[object, ...]]:
    """Read a file back with a reader that is not nearly's."""
    ending = path.suffixes[0]
    if ending == ".parquet":
        return rows_of(pq.read_table(path))
    if ending in BINARY_ENDINGS:
        with pa.OSFile(str(path)) as file:
            return rows_of(pa.ipc.open_file(file).read_all())
    if ending in (".csv", ".tsv"):
        types = {"id_a": "VARCHAR", "id_b": "VARCHAR", "similarity": "DOUBLE"}
        delimiter = "," if ending == ".csv" else "\t"
        return duckdb.read_csv(str(path), sep=delimiter, header=True, columns=types).fetchall()
    return duckdb.read_json(str(path)).select("id_a, id_b, similarity").fetchall()


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def failing(error: BaseException) -> Iterator[pa.RecordBatch]:
    """One group, which is written, and then an error."""
    yield pairs([("a", "b", 0.5)]).take([0] * row_group.GROUP_ROWS).to_batches()[0]
    raise error


class FullDisk(staged_file._StagedFile):
    """Fails where the operating system would: below the handling of errors."""

    def write(self, _: Any, /) -> int:
        with blaming(self._path):
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("ending", ENDINGS)
class TestEveryEnding:
    def test_reads_back_the_same(self, tmp_path: Path, ending: str) -> None:
        path = tmp_path / f"pairs{ending}"
        assert write_table(pairs(ROWS), PAIRS, path) == len(ROWS)
        assert read(path) == ROWS
        assert names_in(tmp_path) == {path.name}


@pytest.mark.parametrize("ending", FEW_ENDINGS)
class TestEveryFormat:
    def test_the_cuts_of_batches_leave_no_trace(self, tmp_path: Path, ending: str) -> None:
        table = pairs([(f"a{i}", f"b{i}", i / 7) for i in range(3_000)])
        whole, cut = tmp_path / f"whole{ending}", tmp_path / f"cut{ending}"
        write_table(table, PAIRS, whole)
        write_table(iter(table.to_batches(max_chunksize=37)), PAIRS, cut)
        assert whole.read_bytes() == cut.read_bytes()

    def test_no_rows_is_a_file_too(self, tmp_path: Path, ending: str) -> None:
        path = tmp_path / f"pairs{ending}"
        assert write_table([], PAIRS, path) == 0
        if ending.startswith(".json"):
            assert path.read_text() == {".json": "[\n]\n", ".jsonl": ""}[ending]
        else:
            assert read(path) == []

    @pytest.mark.parametrize("kind", [SourceError, OSError, KeyboardInterrupt])
    def test_a_failing_source_leaves_nothing_and_keeps_its_error(
        self, tmp_path: Path, ending: str, kind: type[BaseException]
    ) -> None:
        path = tmp_path / f"pairs{ending}"
        error = kind("broken")
        path.write_bytes(b"old")
        with pytest.raises(kind) as caught:
            write_table(failing(error), PAIRS, path, force=True)
        assert caught.value is error
        assert path.read_bytes() == b"old"
        assert names_in(tmp_path) == {path.name}

    def test_a_full_disk_is_a_clear_error(
        self, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / f"pairs{ending}"
        path.write_bytes(b"old")
        monkeypatch.setattr(staged_file, "_StagedFile", FullDisk)
        with pytest.raises(SinkError, match=r"pairs.*the disk is full; free some space"):
            write_table(pairs(ROWS), PAIRS, path, force=True)
        assert path.read_bytes() == b"old"
        assert names_in(tmp_path) == {path.name}


any_text = st.text(st.characters(codec="utf-8"), max_size=12)
any_pairs = st.lists(st.tuples(any_text, any_text, st.floats(allow_nan=False)), min_size=1)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=any_pairs)
def test_any_string_and_number_round_trips(
    tmp_path: Path, ending: str, rows: list[tuple[str, str, float]]
) -> None:
    path = tmp_path / f"pairs{ending}"
    write_table(pairs(rows), PAIRS, path, force=True)
    expected: list[tuple[object, ...]] = list(rows)
    if ending in (".csv", ".tsv"):
        found = parse_csv(path.read_bytes().decode(), "," if ending == ".csv" else "\t")
    elif ending == ".parquet":
        found = read(path)
    else:
        text = path.read_bytes().decode()
        parsed = json.loads(text) if ending == ".json" else map(json.loads, text.split("\n")[:-1])
        found = [tuple(row.values()) for row in parsed]
        expected = [(a, b, None if abs(x) == float("inf") else x) for a, b, x in rows]
    # As text, because 0.0 == -0.0.
    assert repr(found) == repr(expected)


def parse_csv(text: str, delimiter: str) -> list[tuple[object, ...]]:
    _, *body = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [(a, b, float(x)) for a, b, x in body]


def test_text_is_pleasant_to_read(tmp_path: Path) -> None:
    table = pairs([("a", 'say "hi"', 1.0), ("", "b,c", 0.25)])
    write_table(table, PAIRS, tmp_path / "pairs.csv")
    write_table(table, PAIRS, tmp_path / "pairs.json")
    assert (tmp_path / "pairs.csv").read_text() == (
        'id_a,id_b,similarity\na,"say ""hi""",1.0\n"","b,c",0.25\n'
    )
    assert (tmp_path / "pairs.json").read_text() == (
        '[\n{"id_a":"a","id_b":"say \\"hi\\"","similarity":1.0},\n'
        '{"id_a":"","id_b":"b,c","similarity":0.25}\n]\n'
    )


def test_columns_of_every_type(tmp_path: Path) -> None:
    noon = datetime.datetime(2020, 1, 1, 12)
    columns = {
        'it\'s, "id"': pa.array([1, None], pa.uint64()),
        "category": pa.array(["x", "y"]).dictionary_encode(),
        "view": pa.array(["", None], pa.string_view()),
        "half": pa.array([0.5, None]).cast(pa.float16()),
        "when": pa.array([noon, None], pa.timestamp("us", "Europe/Rome")),
        "tags": pa.array([["a", "b"], None]),
        "A": pa.array([float("nan"), float("-inf")]),
        "a": pa.array([True, False]),
        "raw": pa.array([b"\xff,", None]),
    }
    table = pa.table(columns)
    for ending in ENDINGS:
        assert write_table(table, table.schema, tmp_path / f"all{ending}") == 2
    first, second = map(json.loads, (tmp_path / "all.jsonl").read_text().splitlines())
    assert list(first) == list(columns)
    when = "2020-01-01 12:00:00+00"
    assert list(first.values()) == [1, "x", "", 0.5, when, ["a", "b"], None, True, "\\xFF,"]
    assert list(second.values()) == [None, "y", None, None, None, None, None, False, None]
    assert (tmp_path / "all.csv").read_text() == (
        '"it\'s, ""id""",category,view,half,when,tags,A,a,raw\n'
        f'1,x,"",0.5,{when},"[""a"",""b""]",nan,true,"\\xFF,"\n'
        ",y,,,,,-inf,false,\n"
    )
    assert pq.read_table(tmp_path / "all.parquet")["category"].to_pylist() == ["x", "y"]


@pytest.mark.parametrize("limit", ["GROUP_ROWS", "GROUP_BYTES"])
def test_many_groups_keep_their_order(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_group, "GROUP_ROWS", 10**6)
    monkeypatch.setattr(row_group, limit, 2 * row_group.UNIT_ROWS)
    rows = [(f"a{i}", f"b{i}", float(i)) for i in range(5_000)]
    for ending in FEW_ENDINGS:
        write_table(pairs(rows), PAIRS, tmp_path / f"pairs{ending}")
        assert read(tmp_path / f"pairs{ending}") == rows
    assert pq.ParquetFile(tmp_path / "pairs.parquet").num_row_groups > 2


def test_gzip_holds_no_name_and_no_time(tmp_path: Path) -> None:
    write_table(pairs(ROWS), PAIRS, tmp_path / "pairs.csv.gz")
    data = (tmp_path / "pairs.csv.gz").read_bytes()
    assert data[3:8] == b"\0\0\0\0\0"
    assert gzip.decompress(data).startswith(b"id_a,id_b,similarity\n")


class TestCheckOutput:
    @pytest.mark.parametrize("name", ["pairs", "pairs.xls", "pairs.parquet.gz", "pairs.gz", ".csv"])
    def test_unknown_ending(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(SinkError, match=r"the ending of the name says the format.*\.parquet"):
            check_output(tmp_path / name, force=False)

    def test_ending_in_capitals_is_known(self, tmp_path: Path) -> None:
        check_output(tmp_path / "PAIRS.CSV.GZ", force=False)
        assert names_in(tmp_path) == set()

    def test_no_such_folder(self, tmp_path: Path) -> None:
        with pytest.raises(SinkError, match=r"there is no folder .*missing.*make it first"):
            check_output(tmp_path / "missing" / "pairs.csv", force=False)

    def test_exists(self, tmp_path: Path) -> None:
        (tmp_path / "pairs.csv").touch()
        with pytest.raises(SinkError, match="exists; give another name, or --force to overwrite"):
            check_output(tmp_path / "pairs.csv", force=False)
        check_output(tmp_path / "pairs.csv", force=True)

    @pytest.mark.parametrize("force", [False, True])
    def test_a_folder_is_in_its_place(self, tmp_path: Path, force: bool) -> None:
        (tmp_path / "pairs.csv").mkdir()
        with pytest.raises(SinkError, match="is a folder"):
            check_output(tmp_path / "pairs.csv", force=force)

    def test_a_pipe_is_in_its_place(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pairs.csv")
        with pytest.raises(SinkError, match="not a regular file"):
            check_output(tmp_path / "pairs.csv", force=True)

    def test_name_too_long(self, tmp_path: Path) -> None:
        with pytest.raises(SinkError, match="too long"):
            check_output(tmp_path / ("x" * 300 + ".csv"), force=False)

    def test_folder_of_another_user(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o555)  # noqa: S103 - readable by all, writable by none
            with as_nobody(), pytest.raises(SinkError, match="permission denied"):
                check_output(Path(folder) / "pairs.csv", force=False)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anywhere: be nobody for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def no_hard_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


class TestOverwriting:
    def test_needs_force(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.csv"
        path.write_text("old")
        with pytest.raises(SinkError, match="exists"):
            write_table(pairs(ROWS), PAIRS, path)
        assert path.read_text() == "old"
        write_table(pairs(ROWS), PAIRS, path, force=True)
        assert read(path) == ROWS
        assert names_in(tmp_path) == {path.name}

    def test_a_target_that_appears_meanwhile_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.csv"

        def batches() -> Iterator[pa.RecordBatch]:
            path.write_text("another's")
            yield from pairs(ROWS).to_batches()

        with pytest.raises(SinkError, match="appeared while it was being made"):
            write_table(batches(), PAIRS, path)
        assert path.read_text() == "another's"
        assert names_in(tmp_path) == {path.name}

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        real, link = tmp_path / "real.csv", tmp_path / "link.csv"
        real.write_text("old")
        link.symlink_to(real)
        write_table(pairs(ROWS), PAIRS, link, force=True)
        assert link.is_symlink()
        assert read(real) == ROWS

    def test_a_private_file_stays_private(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.csv"
        path.touch(mode=0o600)
        write_table(pairs(ROWS), PAIRS, path, force=True)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_ctrl_c_after_the_replacement_brings_the_old_file_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "pairs.csv"
        path.write_text("old")
        replace = os.replace

        def interrupted(source: Path, target: Path) -> None:
            replace(source, target)
            if source.suffix == ".part":
                raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_table(pairs(ROWS), PAIRS, path, force=True)
        assert path.read_text() == "old"
        assert names_in(tmp_path) == {path.name}

    def test_the_old_file_is_kept_when_it_cannot_be_put_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "pairs.csv"
        path.write_text("old")
        replace = os.replace

        def away_only(source: Path, target: Path) -> None:
            if target == path:
                raise OSError(errno.EIO, "bad disk")
            replace(source, target)

        monkeypatch.setattr(os, "link", no_hard_links)
        monkeypatch.setattr(os, "replace", away_only)
        with pytest.raises(SinkError):
            write_table(pairs(ROWS), PAIRS, path, force=True)
        assert [kept.read_text() for kept in tmp_path.glob(".nearly-*.old")] == ["old"]
        monkeypatch.undo()
        check_output(tmp_path / "other.csv", force=False)
        assert path.read_text() == "old"
        assert names_in(tmp_path) == {path.name}

    def test_a_folder_that_cannot_be_synced_is_no_failure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sync = staged_file.sync

        def sync_files_only(path: Path) -> None:
            if path.is_dir():
                raise OSError(errno.EINVAL, "Invalid argument")
            sync(path)

        monkeypatch.setattr(staged_file, "sync", sync_files_only)
        write_table(pairs(ROWS), PAIRS, tmp_path / "pairs.csv")
        assert read(tmp_path / "pairs.csv") == ROWS

    @pytest.mark.parametrize("force", [False, True])
    def test_without_hard_links(
        self, tmp_path: Path, force: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "link", no_hard_links)
        with Outputs(force=force) as outputs:
            for name in ("one.csv", "two.csv"):
                if force:
                    (tmp_path / name).write_text("old")
                outputs.write(pairs(ROWS), PAIRS, tmp_path / name)
        assert read(tmp_path / "one.csv") == read(tmp_path / "two.csv") == ROWS
        assert names_in(tmp_path) == {"one.csv", "two.csv"}


class TestSeveralOutputs:
    def test_none_appears_before_all_are_written(self, tmp_path: Path) -> None:
        one, two = tmp_path / "one.csv", tmp_path / "two.parquet"
        with Outputs() as outputs:
            outputs.write(pairs(ROWS), PAIRS, one)
            assert not one.exists()
            with outputs.open(two) as file:
                file.write(b"bytes")
        assert read(one) == ROWS
        assert two.read_bytes() == b"bytes"
        assert names_in(tmp_path) == {"one.csv", "two.parquet"}

    def test_a_failure_between_them_leaves_none(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError), Outputs() as outputs:  # noqa: PT012
            outputs.write(pairs(ROWS), PAIRS, tmp_path / "one.csv")
            outputs.write(failing(SourceError("broken")), PAIRS, tmp_path / "two.csv")
        assert names_in(tmp_path) == set()

    def test_a_failed_output_that_was_forgiven_does_not_appear(self, tmp_path: Path) -> None:
        with Outputs() as outputs:
            with pytest.raises(SourceError):
                outputs.write(failing(SourceError("broken")), PAIRS, tmp_path / "one.csv")
            outputs.write(pairs(ROWS), PAIRS, tmp_path / "two.csv")
        assert names_in(tmp_path) == {"two.csv"}

    def test_the_same_file_twice(self, tmp_path: Path) -> None:
        (tmp_path / "link.csv").symlink_to("one.csv")
        with Outputs() as outputs:
            outputs.write(pairs(ROWS), PAIRS, tmp_path / "one.csv")
            with pytest.raises(SinkError, match="given for two outputs"):
                outputs.write(pairs(ROWS), PAIRS, tmp_path / "link.csv")
        assert read(tmp_path / "one.csv") == ROWS

    @pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
    @pytest.mark.parametrize("error", [OSError(errno.EIO, "bad disk"), KeyboardInterrupt()])
    def test_a_failure_at_the_last_step_puts_all_back(
        self, tmp_path: Path, links: bool, error: BaseException, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("one.csv", "three.csv"):
            (tmp_path / name).write_text(f"old {name}")
        if not links:
            monkeypatch.setattr(os, "link", no_hard_links)
        replace = os.replace

        def replace_or_fail(source: Path, target: Path) -> None:
            if target.name == "three.csv" and source.suffix == ".part":
                raise error
            replace(source, target)

        monkeypatch.setattr(os, "replace", replace_or_fail)
        outputs = Outputs(force=True)
        for name in ("one.csv", "two.csv", "three.csv"):
            outputs.write(pairs(ROWS), PAIRS, tmp_path / name)
        with pytest.raises((SinkError, KeyboardInterrupt)):
            outputs.__exit__(None, None, None)
        assert names_in(tmp_path) == {"one.csv", "three.csv"}
        assert (tmp_path / "one.csv").read_text() == "old one.csv"
        assert (tmp_path / "three.csv").read_text() == "old three.csv"


WRITE_TOO_MUCH = """
    import resource, sys
    from pathlib import Path
    import pyarrow as pa
    from nearly.errors import SinkError
    from nearly.sinks import write_table

    if sys.argv[2] == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    table = pa.table({"id": [f"{i * 7919 % 99991:x}" for i in range(200_000)]})
    for ending in sys.argv[3:]:
        try:
            write_table(table, table.schema, Path(sys.argv[1]) / f"big{ending}")
        except SinkError as error:
            print(error)
"""


def write_too_much(folder: Path, where: str) -> list[str]:
    code = textwrap.dedent(WRITE_TOO_MUCH)
    command = [sys.executable, "-c", code, str(folder), where, *FEW_ENDINGS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_file_larger_than_its_limit(tmp_path: Path) -> None:
    messages = write_too_much(tmp_path, "limit")
    assert len(messages) == len(FEW_ENDINGS)
    assert all("larger than allowed here" in message for message in messages)
    assert names_in(tmp_path) == set()


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    try:
        messages = write_too_much(tmp_path, "disk")
        assert len(messages) == len(FEW_ENDINGS)
        assert all("the disk is full; free some space" in message for message in messages)
        assert names_in(tmp_path) == set()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
