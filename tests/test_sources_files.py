"""Folders, text files and lines, standard input, and what can be wrong with them."""

import builtins
import gzip
import io
import os
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources_reading import assert_rows_match, documents, ids_and_texts, rows

from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sources import Skipped, id_of_name, name_of_id, open_source, part, skipped


@pytest.fixture
def opened(tmp_path_factory):
    """`open_source` with a folder for temporary files."""
    temporary = tmp_path_factory.mktemp("temporary")
    return lambda given, **options: open_source(given, temporary=temporary, **options)


@pytest.fixture
def folder(tmp_path):
    """A folder of files, from names and contents."""

    def write(**files: bytes) -> Path:
        for name, data in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return tmp_path

    return write


class TestFolder:
    def test_every_text_file_is_a_document_in_order_of_path(self, folder, opened):
        source = opened(folder(b=b"B", a__z_dot_txt=b"AZ", a_dot_csv=b"x,y", C=b"\xc3\xa9"))
        assert ids_and_texts(source) == [
            ("C", "é"),
            ("a.csv", "x,y"),
            ("a/z.txt", "AZ"),
            ("b", "B"),
        ]
        assert source.is_folder
        assert source.ids_are_unique
        assert source.columns == ()
        assert source.id_type == pa.string()

    def test_hidden_files_and_folders_are_left_out(self, folder, opened):
        source = opened(folder(a=b"A", _dot_b=b"B", _dot_git__c=b"C"))
        assert documents(source) == ([{"row": 0, "id": "a", "text": "A"}], [])

    @pytest.mark.parametrize(
        ("glob", "expected"),
        [
            ("*.py", ["a.py", "s/b.py", "s/t/c.py"]),
            ("**/*.py", ["a.py", "s/b.py", "s/t/c.py"]),
            ("s/*.py", ["s/b.py"]),
            ("s/**", ["s/b.py", "s/t/c.py", "s/t/d.txt"]),
            ("[ab].py", ["a.py", "s/b.py"]),
            ("[!ab].*", ["s/t/c.py", "s/t/d.txt"]),
            ("?.txt", ["s/t/d.txt"]),
        ],
    )
    def test_a_glob_chooses(self, folder, opened, glob, expected):
        root = folder(a_dot_py=b"", s__b_dot_py=b"", s__t__c_dot_py=b"", s__t__d_dot_txt=b"")
        assert [d["id"] for d in documents(opened(root, glob=glob))[0]] == expected

    def test_what_is_no_text_is_skipped_with_its_reason(self, folder, opened):
        source = opened(
            folder(a=b"ok", binary=b"x\0y", latin=b"abc\xe9", u16=b"\xff\xfe\x00", z=b"ok")
        )
        found, reasons = documents(source)
        assert [(d["row"], d["id"]) for d in found] == [(0, "a"), (4, "z")]
        assert reasons == [
            ("binary", "binary: a NUL byte at offset 1"),
            ("latin", "not valid UTF-8: byte 0xe9 at offset 3"),
            ("u16", "not valid UTF-16: byte 0x00 at offset 2"),
        ]
        assert_rows_match(source)
        with pytest.raises(UnreadableError, match="binary: binary"):
            list(source.documents(Skipped(strict=True)))

    @pytest.mark.parametrize(
        "encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
    )
    def test_marks_are_understood(self, folder, opened, encoding):
        assert ids_and_texts(opened(folder(a="\ufeffé".encode(encoding)))) == [("a", "é")]

    def test_links_to_files_are_followed_and_links_to_folders_listed(self, folder, opened):
        root = folder(real=b"text", sub__inner=b"inner")
        (root / "link").symlink_to("real")
        (root / "loop").symlink_to("loop")
        (root / "broken").symlink_to("nothing")
        (root / "sub" / "up").symlink_to("..", target_is_directory=True)
        found, reasons = documents(opened(root))
        assert [d["id"] for d in found] == ["link", "real", "sub/inner"]
        assert [record for record, _ in reasons] == ["broken", "loop", "sub/up"]
        assert "nothing" in reasons[0][1]
        assert "loop" in reasons[1][1]
        assert reasons[2][1] == "symbolic link to a folder: not followed"

    def test_fifos_and_sockets_are_not_opened(self, folder, opened, monkeypatch):
        root = folder(a=b"A")
        os.mkfifo(root / "fifo")
        monkeypatch.chdir(root)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("sock")
            _, reasons = documents(opened(root))
        assert reasons == [("fifo", "FIFO, not a file"), ("sock", "socket, not a file")]

    def test_files_without_permission_are_listed(self, folder, opened, monkeypatch):
        root = folder(a=b"A", secret=b"S")
        original = builtins.open

        def refusing(path, *rest, **options):
            if str(path).endswith("secret"):
                raise PermissionError(13, "Permission denied", path)
            return original(path, *rest, **options)

        monkeypatch.setattr(builtins, "open", refusing)
        found, reasons = documents(opened(root))
        assert [d["id"] for d in found] == ["a"]
        assert reasons == [("secret", "cannot be read: Permission denied")]

    def test_folders_without_permission(self, folder, opened, monkeypatch):
        root = folder(a=b"A", locked__b=b"B")
        original = os.scandir

        def refusing(path):
            if "locked" in str(path):
                raise PermissionError(13, "Permission denied", path)
            return original(path)

        monkeypatch.setattr(os, "scandir", refusing)
        found, reasons = documents(opened(root))
        assert [d["id"] for d in found] == ["a"]
        assert reasons == [("locked", "folder cannot be read: Permission denied")]
        with pytest.raises(UnreadableError, match=r"locked.*Permission denied"):
            opened(root / "locked")

    def test_odd_names_work(self, tmp_path, opened):
        names = [b"new\nline", b"\xff", b"\\xff", b"back\\slash", b"'\""]
        for name in names:
            (tmp_path / os.fsdecode(name)).write_bytes(b"of " + repr(name).encode())
        found = dict(ids_and_texts(opened(tmp_path)))
        assert len(found) == len(names)
        for shown, text in found.items():
            assert text == f"of {os.fsencode(name_of_id(shown))!r}"
            assert shown.isprintable()

    def test_an_empty_folder_has_no_documents(self, tmp_path, opened):
        assert documents(opened(tmp_path)) == ([], [])
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(SourceError, match=r"no file in the folder.*loop: symbolic link"):
            opened(tmp_path)
        (tmp_path / "a.txt").write_text("a")
        with pytest.raises(SourceError, match=r"no file that matches '\*\.py'"):
            opened(tmp_path, glob="*.py")

    @pytest.mark.parametrize("glob", ["[z-a]", "x/[z-a]*"])
    def test_a_glob_that_is_no_pattern_is_refused(self, folder, opened, glob):
        with pytest.raises(SourceError, match=r"is no pattern: bad character range z-a"):
            opened(folder(a=b"A"), glob=glob)

    def test_has_no_columns(self, folder, opened):
        source = opened(folder(a=b"A"))
        with pytest.raises(SourceError, match="no column 'date'"):
            next(source.documents(Skipped(), also="date"))
        with pytest.raises(SourceError, match=r"^text is 'body', .* has no columns"):
            opened(folder(a=b"A"), text="body")
        with pytest.raises(SourceError, match=r"^text is 'title, body', "):
            opened(folder(a=b"A"), text=("title", "body"))

    def test_is_read_in_batches(self, folder, opened, monkeypatch):
        monkeypatch.setattr(part, "BATCH_BYTES", 10)
        monkeypatch.setattr(part, "BATCH_ROWS", 3)
        files = {f"f{i}": b"1234" for i in range(7)} | {"g": b"x" * 100, "h": b"y"}
        source = opened(folder(**files))
        assert [batch.num_rows for batch in source.documents(Skipped())] == [3, 3, 2, 1]
        assert_rows_match(source)


class TestTextFiles:
    def test_one_file_is_one_document(self, folder, opened):
        path = folder(a_dot_md=b"# A") / "a.md"
        source = opened(str(path))
        assert ids_and_texts(source) == [(str(path), "# A")]
        assert not source.is_folder

    def test_compressed(self, folder, opened):
        root = folder(a_dot_txt_dot_gz=gzip.compress(b"A"))
        assert ids_and_texts(opened(root)) == [("a.txt.gz", "A")]

    def test_patterns_and_several_paths(self, folder, opened):
        root = folder(b_dot_txt=b"B", a_dot_txt=b"A", c__d=b"D")
        assert [t for _, t in ids_and_texts(opened(f"{root}/*.txt"))] == ["A", "B"]
        several = opened([root / "b.txt", root / "c", root / "b.txt"])
        assert ids_and_texts(several) == [(f"{root}/b.txt", "B"), (f"{root}/c/d", "D")]

    def test_a_name_with_brackets_is_taken_literally(self, folder, opened):
        root = folder(a=b"A")
        (root / "[a]").write_bytes(b"brackets")
        assert [t for _, t in ids_and_texts(opened(str(root / "[a]")))] == ["brackets"]

    def test_a_binary_file_alone_is_an_error(self, folder, opened):
        with pytest.raises(UnreadableError, match="NUL byte"):
            list(opened(folder(a=b"\0") / "a").documents(Skipped()))

    def test_what_does_not_exist(self, tmp_path, opened):
        with pytest.raises(MissingError, match=r"no file or folder .*gone\.txt"):
            opened(tmp_path / "gone.txt")
        with pytest.raises(MissingError, match="no file matches"):
            opened(str(tmp_path / "*.txt"))

    def test_a_fifo_alone_is_an_error(self, tmp_path, opened):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UnreadableError, match=r"FIFO.*piped in"):
            opened(tmp_path / "pipe")

    def test_a_glob_needs_a_folder(self, folder, opened):
        with pytest.raises(SourceError, match="folder"):
            opened(folder(a=b"A") / "a", glob="*.py")


class TestLines:
    def test_every_line_is_a_document(self, folder, opened):
        source = opened(folder(a_dot_csv=b"one\r\n\ntwo\xc3\xa9\nthree") / "a.csv", lines=True)
        assert ids_and_texts(source) == [(1, "one"), (2, ""), (3, "twoé"), (4, "three")]
        assert source.columns == ("text",)
        assert source.ids_are_unique
        assert_rows_match(source)

    def test_of_several_files_carry_the_file(self, folder, opened):
        source = opened(folder(a=b"1\n2\n", b=gzip.compress(b"3"), c=b"4").joinpath(), lines=True)
        found, reasons = documents(source)
        assert [(d["id"], d["text"]) for d in found if d["id"][0] != "b"] == [
            ("a:1", "1"), ("a:2", "2"), ("c:1", "4"),
        ]  # fmt: skip
        assert all(record.startswith("b: line") for record, _ in reasons)

    @pytest.mark.parametrize("ending", ["gz", "zst"])
    def test_compressed(self, tmp_path, opened, ending):
        path = str(tmp_path / f"a.txt.{ending}")
        compression = {"gz": "gzip", "zst": "zstd"}[ending]
        with pa.output_stream(path, compression=compression) as stream:
            stream.write(b"a\nb\n")
        assert ids_and_texts(opened(path, lines=True)) == [(1, "a"), (2, "b")]

    def test_that_are_no_text_are_listed(self, folder, opened):
        source = opened(folder(a=b"one\nt\xffo\nn\0l\nfour\n") / "a", lines=True)
        found, reasons = documents(source)
        assert [(d["row"], d["id"], d["text"]) for d in found] == [(0, 1, "one"), (3, 4, "four")]
        assert reasons == [("line 2", "not valid UTF-8"), ("line 3", "binary: a NUL byte")]
        assert [row["text"] for row in rows(source)] == ["one", "four"]

    def test_may_be_longer_than_a_batch(self, folder, opened, monkeypatch):
        monkeypatch.setattr(part, "BATCH_BYTES", 100)
        long = "x" * 5_000_000
        source = opened(folder(a=f"a\n{long}\nb".encode()) / "a", lines=True)
        assert ids_and_texts(source) == [(1, "a"), (2, long), (3, "b")]

    def test_of_a_truncated_file(self, folder, opened):
        whole = gzip.compress(os.urandom(50_000).hex().encode() + b"\n")
        root = folder(a_dot_gz=whole[:20_000], b=b"fine")
        with pytest.raises(UnreadableError, match=r"a\.gz"):
            list(opened(root / "a.gz", lines=True).documents(Skipped()))
        found, reasons = documents(opened(root, lines=True))
        assert [d["text"] for d in found] == ["fine"]
        assert [record for record, _ in reasons] == ["a.gz"]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_marks_are_understood(self, folder, opened, encoding):
        source = opened(folder(a="é\nü\n".encode(encoding)) / "a", lines=True)
        assert ids_and_texts(source) == [(1, "é"), (2, "ü")]

    def test_are_about_files(self, opened):
        with pytest.raises(SourceError, match="lines is about files"):
            opened(["a"], lines=True)
        with pytest.raises(SourceError, match="lines is about files"):
            opened("SELECT 'a' AS text", lines=True)


class TestStandardInput:
    @pytest.mark.parametrize(
        "data",
        [
            b'{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n',
            b'[{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]',
            b"id,text\n1,a\n2,b\n",
            gzip.compress(b"id\ttext\n1\ta\n2\tb\n"),
        ],
        ids=["JSONL", "JSON", "CSV", "TSV, compressed"],
    )
    def test_is_recognised_and_read_twice(self, opened, monkeypatch, data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        source = opened("-")
        assert ids_and_texts(source) == [(1, "a"), (2, "b")]
        assert ids_and_texts(source) == [(1, "a"), (2, "b")]
        assert len(rows(source)) == 2

    def test_may_be_parquet_or_arrow(self, opened, monkeypatch, tmp_path):
        import pyarrow.parquet as pq

        table = pa.table({"text": ["a", "b"]})
        pq.write_table(table, tmp_path / "a.parquet")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        for data in ((tmp_path / "a.parquet").read_bytes(), sink.getvalue().to_pybytes()):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            assert ids_and_texts(opened("-")) == [(0, "a"), (1, "b")]

    def test_may_be_lines(self, opened, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
        assert ids_and_texts(opened("-", lines=True)) == [(1, "a"), (2, "b")]


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_names_survive_being_ids(name):
    shown = id_of_name(os.fsdecode(name))
    assert os.fsencode(name_of_id(shown)) == name
    assert shown.encode().decode() == shown


def test_the_list_of_skipped_records_is_bounded_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(skipped, "LONGEST_LIST", 2)
    collected = Skipped()
    for i in range(5):
        collected.add(f"row {i}", "why")
    assert len(collected) == 5
    assert collected.table().to_pydict() == {"record": ["row 0", "row 1"], "reason": ["why"] * 2}


def test_reading_files_does_not_import_pandas(folder, tmp_path_factory):
    root = folder(a_dot_csv=b"id,text\n1,a\n", b_dot_jsonl=b'{"text": "a"}\n', c__d=b"D")
    script = (
        "import sys; from pathlib import Path; from nearly.sources import open_source, Skipped\n"
        "for name in ('a.csv', 'b.jsonl', 'c'):\n"
        "    source = open_source(Path(sys.argv[1]) / name, temporary=Path(sys.argv[2]))\n"
        "    assert sum(batch.num_rows for batch in source.documents(Skipped())) == 1\n"
        "assert 'pandas' not in sys.modules\n"
    )
    arguments = [sys.executable, "-c", script, str(root), str(tmp_path_factory.mktemp("t"))]
    subprocess.run(arguments, check=True)
