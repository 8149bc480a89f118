"""Tables in files: CSV, JSON, Parquet, Arrow, SQL, and what can be wrong with them."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sources_reading import assert_rows_match, documents, ids_and_texts, rows

import nearly
from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sources import Skipped, open_source, part
from nearly.sources.formats import careful_csv, quick_csv

TABLE = pa.table({"id": [3, 1, 2], "text": ["a b", "c", "d é"], "extra": [1.5, None, 0.5]})
EXPECTED = [(3, "a b"), (1, "c"), (2, "d é")]


@pytest.fixture
def opened(tmp_path_factory):
    """`open_source` with a folder for temporary files."""
    temporary = tmp_path_factory.mktemp("temporary")
    return lambda given, **options: open_source(given, temporary=temporary, **options)


def write_bytes(path: Path, data: bytes) -> None:
    compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    with pa.output_stream(str(path), compression=compression) as stream:
        stream.write(data)


def write_csv(path: Path, delimiter: str = ",") -> None:
    lines = "id,text,extra\n3,a b,1.5\n1,c,\n2,d é,0.5\n"
    write_bytes(path, lines.replace(",", delimiter).encode())


def write_jsonl(path: Path) -> None:
    write_bytes(path, "".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode())


def write_json(path: Path) -> None:
    write_bytes(path, json.dumps(TABLE.to_pylist()).encode())


def write_parquet(path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(TABLE, sink)
    write_bytes(path, sink.getvalue().to_pybytes())


def write_arrow(path: Path, new=ipc.new_file) -> None:
    sink = pa.BufferOutputStream()
    with new(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    write_bytes(path, sink.getvalue().to_pybytes())


WRITERS = {
    "csv": write_csv,
    "tsv": lambda path: write_csv(path, "\t"),
    "jsonl": write_jsonl,
    "ndjson": write_jsonl,
    "json": write_json,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "feather": write_arrow,
    "ipc": lambda path: write_arrow(path, ipc.new_stream),
}
MAIN_FORMATS = ["csv", "jsonl", "parquet", "arrow"]


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_documents(tmp_path, opened, ending, compression):
    path = tmp_path / f'it\'s "a" [1] table.{ending}{compression}'
    WRITERS[ending](path)
    source = opened(path)
    found, skipped = documents(source)
    assert [(d["id"], d["text"]) for d in found] == EXPECTED
    assert [d["row"] for d in found] == [0, 1, 2]
    assert skipped == []
    assert source.id_type == pa.int64()
    assert source.columns == ("id", "text", "extra")
    assert not source.ids_are_unique
    assert not source.is_folder
    assert_rows_match(source)


@pytest.mark.parametrize("ending", MAIN_FORMATS)
def test_names_with_newlines_and_bytes_that_are_not_utf_8(tmp_path, opened, ending):
    WRITERS[ending](tmp_path / "plain")
    path = os.fsencode(tmp_path) + b"/new\nline\xff." + ending.encode()
    os.rename(tmp_path / "plain", path)
    assert ids_and_texts(opened(Path(os.fsdecode(path)))) == EXPECTED


@pytest.mark.parametrize("ending", MAIN_FORMATS)
def test_batches_are_small_and_in_order(tmp_path, opened, monkeypatch, ending):
    monkeypatch.setattr(part, "BATCH_ROWS", 2)
    WRITERS[ending](tmp_path / f"a.{ending}")
    source = opened(tmp_path / f"a.{ending}")
    batches = list(source.documents(Skipped()))
    assert max(batch.num_rows for batch in batches) <= 2
    assert pa.Table.from_batches(batches)["row"].to_pylist() == [0, 1, 2]
    assert len(rows(source)) == 3


@pytest.mark.parametrize("ending", MAIN_FORMATS)
def test_a_column_for_survivors_comes_along_with_its_type(tmp_path, opened, ending):
    WRITERS[ending](tmp_path / f"a.{ending}")
    source = opened(tmp_path / f"a.{ending}")
    batch = next(source.documents(Skipped(), also="extra"))
    assert batch.schema.names == ["row", "id", "text", "also"]
    assert batch.column("also").to_pylist() == [1.5, None, 0.5]
    with pytest.raises(MissingError, match="Did you mean 'extra'"):
        next(source.documents(Skipped(), also="extr"))


class TestColumns:
    @pytest.mark.parametrize(
        ("columns", "has_id", "text"),
        [
            (["id", "text"], True, "text"),
            (["ID", "Body"], True, "Body"),
            (["n", "whatever"], False, "whatever"),
            (["tweetid", "user", "tweet"], True, "tweet"),
            (["_id", "title", "abstract"], True, "abstract"),
        ],
    )
    def test_are_guessed(self, opened, columns, has_id, text):
        values = [[7], *[[f"in {column}"] for column in columns[1:]]]
        source = opened(pa.table(dict(zip(columns, values, strict=True))))
        assert ids_and_texts(source) == [(7 if has_id else 0, f"in {text}")]
        assert source.ids_are_unique != has_id

    @pytest.mark.parametrize("columns", [["id", "title", "author"], ["text", "body"], ["id"], []])
    def test_are_asked_for_when_unclear(self, opened, columns):
        with pytest.raises(MissingError, match="--text") as raised:
            opened(pa.table({c: [1] if c == "id" else ["x"] for c in columns}))
        assert all(column in str(raised.value) for column in columns)

    def test_that_are_missing_lists_those_that_exist(self, opened):
        with pytest.raises(MissingError, match=r"no column 'txet'.*'text'.*id, text, extra"):
            opened(TABLE, text="txet")
        with pytest.raises(MissingError, match="no column 'key'"):
            opened(TABLE, id="key")

    def test_of_numbers_are_no_text(self, opened):
        with pytest.raises(SourceError, match=r"'extra'.*double.*strings"):
            opened(TABLE, text="extra")

    def test_with_one_name_are_refused_only_when_needed(self, opened):
        table = pa.table([["a"], ["b"], ["c"]], names=["text", "x", "x"])
        assert ids_and_texts(opened(table)) == [(0, "a")]
        kept = opened(table).kept(np.empty(0, np.int64))
        assert [batch.schema.names for batch in kept()] == [["text", "x", "x"]]
        with pytest.raises(SourceError, match=r"2 columns.*'x'"):
            opened(table, text="x")

    @pytest.mark.parametrize(
        ("ids", "kind", "expected"),
        [
            (pa.array([1], pa.int8()), pa.int64(), 1),
            (pa.array([1], pa.uint32()), pa.int64(), 1),
            (pa.array([2**64 - 1], pa.uint64()), pa.string(), "18446744073709551615"),
            (pa.array([1.5]), pa.string(), "1.5"),
            (pa.array(["x"]).dictionary_encode(), pa.string(), "x"),
        ],
    )
    def test_of_ids_are_whole_numbers_or_strings(self, opened, ids, kind, expected):
        source = opened(pa.table({"id": ids, "text": ["t"]}))
        assert source.id_type == kind
        assert ids_and_texts(source) == [(expected, "t")]

    @pytest.mark.parametrize(
        "kind",
        [
            pa.list_(pa.int8()),
            pa.binary(),
            pa.large_binary(),
            pa.binary(2),
            pa.binary_view(),
            pa.dictionary(pa.int8(), pa.binary()),
            pa.month_day_nano_interval(),
        ],
    )
    def test_that_cannot_be_ids_are_refused_and_never_guessed(self, opened, kind):
        table = pa.table({"id": pa.nulls(1, kind), "text": ["t"]})
        with pytest.raises(SourceError, match="an id is a number or a string"):
            opened(table, id="id")
        assert ids_and_texts(opened(table)) == [(0, "t")]

    @pytest.mark.parametrize("text", [["title", "body"], "title,body", "title, body"])
    def test_of_text_are_joined(self, opened, text):
        table = pa.table({"title": ["a", None, "c", None], "body": ["x", "y", None, None]})
        found, skipped = documents(opened(table, text=text))
        assert [d["text"] for d in found] == ["a\nx", "y", "c"]
        assert skipped == [("row 3", "null text")]

    def test_of_text_are_all_looked_for(self, opened):
        table = pa.table({"title": ["a"], "body": ["x"], "n": [1]})
        with pytest.raises(MissingError, match=r"no column 'bdy'\. Did you mean 'body'"):
            opened(table, text="title,bdy")
        with pytest.raises(SourceError, match="'n' of the Table holds int64"):
            opened(table, text=["title", "n"])

    def test_may_have_a_comma_in_the_name(self, opened):
        table = pa.table({"a,b": ["x"], "a": ["y"], "b": ["z"]})
        assert ids_and_texts(opened(table, text="a,b")) == [(0, "x")]

    def test_that_were_guessed_are_told(self, opened):
        table = pa.table({"id": [1, 2], "body": ["a", "b"], "title": ["c", "d"]})
        told = {"id": "id", "text": ["body"], "guessed": ["id", "text"], "likely_id": None}
        assert opened(table).facts() == told
        named = opened(table, id="id", text=["title", "body"])
        assert named.facts()["text"] == ["title", "body"]
        assert named.facts()["guessed"] == []

    @pytest.mark.parametrize(
        ("column", "values", "likely"),
        [
            ("record_id", ["r1", "r2"], True),
            ("ticket", ["T-17", "T-18"], True),
            ("ticketId", [5, 6], True),
            ("Invoice No", [5, 6], True),
            ("user_id", [5, 5], False),
            ("ticket", ["T-17", None], False),
            ("title", ["A fine day", "Rain"], False),
            ("score", [0.5, 0.25], False),
        ],
    )
    def test_that_may_be_ids_are_hinted_at(self, tmp_path, opened, column, values, likely):
        table = pa.table({column: values, "text": ["a", "b"]})
        pq.write_table(table, tmp_path / "a.parquet")
        lines = [f"{'' if v is None else v},{t}\n" for v, t in zip(values, "ab", strict=True)]
        (tmp_path / "a.csv").write_text(f"{column},text\n" + "".join(lines))
        for name in ("a.parquet",) if column == "score" else ("a.parquet", "a.csv"):
            source = opened(tmp_path / name)
            assert source.facts()["likely_id"] == (column if likely else None)
            assert source.facts()["id"] is None

    def test_with_nulls_lose_only_those_rows(self, tmp_path, opened):
        table = pa.table({"id": [1, 2, None, 4], "text": ["a", None, "c", "d"]})
        pq.write_table(table, tmp_path / "a.parquet")
        source = opened(tmp_path / "a.parquet")
        found, skipped = documents(source)
        assert [(d["row"], d["id"]) for d in found] == [(0, 1), (3, 4)]
        assert skipped == [("row 1", "null text"), ("row 2", "null id")]
        assert len(rows(source)) == 4
        with pytest.raises(UnreadableError, match="row 1: null text"):
            list(source.documents(Skipped(strict=True)))


class TestCsv:
    @pytest.fixture
    def csv(self, tmp_path, opened):
        def write_and_open(data: bytes):
            (tmp_path / "a.csv").write_bytes(data)
            return opened(tmp_path / "a.csv")

        return write_and_open

    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            (b"2,a,b\n", "3 values where the header has 2"),
            (b"2\n", "1 value where the header has 2"),
            (b"2,\xff\n", "not valid UTF-8"),
            (b'2,"un"quoted\n', "goes on after its closing quote"),
        ],
    )
    def test_bad_rows_are_listed_by_line_and_the_others_kept(self, csv, bad, reason):
        source = csv(b'id,text\n1,"a\nb"\n' + bad + b"3,c\n")
        found, skipped = documents(source)
        assert [(d["row"], d["id"], d["text"]) for d in found] == [(0, 1, "a\nb"), (2, 3, "c")]
        assert [record for record, _ in skipped] == ["row 1, line 4"]
        assert reason in skipped[0][1]
        assert_rows_match(source)
        with pytest.raises(UnreadableError, match="line 4"):
            list(source.documents(Skipped(strict=True)))

    def test_a_bad_value_in_an_unused_column_costs_the_row_everywhere(self, csv):
        source = csv(b"id,text,z\n1,a,\xff\n2,b,x\n")
        assert ids_and_texts(source) == [(2, "b")]
        assert rows(source) == [{"id": "2", "text": "b", "z": "x"}]

    def test_an_open_quote_says_what_it_took(self, csv):
        found, skipped = documents(csv(b'id,text\n1,a\n2,"b\n3,c\n4,d\n'))
        assert [d["id"] for d in found] == [1]
        assert skipped == [("row 1, lines 3 to 5", "a quote is opened and never closed")]

    @pytest.mark.parametrize("quote", [b"", b'"'])
    def test_a_line_too_long_for_memory_is_skipped(self, csv, monkeypatch, quote):
        monkeypatch.setattr(careful_csv, "LONGEST", 1 << 18)
        monkeypatch.setattr(quick_csv, "LONGEST_ROW", 1 << 18)
        long = quote + b"x" * (3 << 18) + quote
        found, skipped = documents(csv(b"id,text\n1,a\n2," + long + b"\n3,c\n"))
        assert [d["id"] for d in found] == [1, 3]
        assert skipped[0][0] == "row 1, line 3"
        assert "file of its own" in skipped[0][1]

    def test_a_value_too_long_is_given_up_at_the_limit(self, csv, monkeypatch):
        monkeypatch.setattr(careful_csv, "LONGEST", 1 << 18)
        monkeypatch.setattr(quick_csv, "LONGEST_ROW", 1 << 18)
        before = careful_csv.csv.field_size_limit(1 << 18)
        try:
            found, skipped = documents(csv(b'id,text\n1,a\n2,"' + b"line\n" * 60_000 + b'"\n3,c\n'))
        finally:
            careful_csv.csv.field_size_limit(before)
        assert [d["id"] for d in found] == [1]
        assert skipped[0][0].startswith("row 1, lines 3 to ")
        assert "file of its own" in skipped[0][1]
        assert skipped[-1][0].endswith(", lines 60003 to 60004")
        assert skipped[-1][1] == "a quote is opened and never closed"

    def test_long_articles_are_within_the_limit(self, csv):
        article = "word " * 100_000
        assert ids_and_texts(csv(f"id,text\n1,{article}\n".encode())) == [(1, article)]

    def test_lines_may_end_in_two_ways(self, csv):
        source = csv(b'id,text\n1,a\r\n2,b\n3,"c\r\nd"\r\n')
        assert ids_and_texts(source) == [(1, "a"), (2, "b"), (3, "c\r\nd")]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_read_off_the_header(self, csv, delimiter):
        head = delimiter.join(["id", '"text, or; so"'])
        source = csv(f'{head}\n1{delimiter}"a, b; c"\n'.encode())
        assert source.columns == ("id", "text, or; so")
        assert ids_and_texts(source) == [(1, "a, b; c")]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_marks_are_understood(self, csv, encoding):
        assert ids_and_texts(csv("id,text\n1,é\n".encode(encoding))) == [(1, "é")]

    def test_empty_values_are_null_and_blank_lines_nothing(self, csv):
        source = csv(b"id,text\n1,\n\n2,b\n")
        found, skipped = documents(source)
        assert [d["id"] for d in found] == [2]
        assert skipped == [("row 0", "null text")]
        assert len(rows(source)) == 2

    def test_ids_that_only_look_like_numbers_stay_strings(self, csv):
        assert ids_and_texts(csv(b"id,text\n007,a\n7,b\n")) == [("007", "a"), ("7", "b")]

    def test_an_id_that_turns_out_to_be_no_number_is_listed(self, csv, monkeypatch):
        monkeypatch.setattr(careful_csv, "SAMPLE_ROWS", 1)
        found, skipped = documents(csv(b"id,text\n1,a\nx,b\n3,c\n"))
        assert [d["id"] for d in found] == [1, 3]
        assert skipped == [("row 1", "id 'x' is not a whole number, as the first ids are")]

    def test_a_header_that_is_not_utf_8_is_refused(self, csv):
        with pytest.raises(UnreadableError, match="is not valid UTF-8"):
            csv(b"id,te\xffxt\n1,a\n")

    def test_very_many_columns_are_refused_at_once(self, csv):
        with pytest.raises(SourceError, match="has 100,000 columns, and at most 10,000 are read"):
            csv(b"text" + b",x" * 99_999 + b"\n" + b"1" + b",1" * 99_999 + b"\n")

    def test_many_columns_are_read(self, csv):
        header = ",".join(f"c{i}" for i in range(4_999))
        data = f"text,{header}\n" + "".join(f"t{i}{',1' * 4_999}\n" for i in range(9))
        start = time.process_time()
        assert ids_and_texts(csv(data.encode())) == [(i, f"t{i}") for i in range(9)]
        assert time.process_time() - start < 20

    def test_an_empty_file_has_no_rows(self, csv):
        for data in (b"", b"\n", b"\xef\xbb\xbf \r\n"):
            assert documents(csv(data)) == ([], [])

    @settings(max_examples=30)
    @given(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=9),
        st.sampled_from(["\n", "\r\n"]),
    )
    def test_gives_back_what_was_written(self, tmp_path_factory, texts, ending):
        folder = tmp_path_factory.mktemp("csv")
        quoted = ['"' + text.replace('"', '""') + '"' for text in texts]
        (folder / "a.csv").write_bytes(ending.join(["text", *quoted, ""]).encode())
        source = open_source(folder / "a.csv", temporary=folder)
        assert [text for _, text in ids_and_texts(source)] == texts


class TestJson:
    @pytest.fixture
    def jsonl(self, tmp_path, opened):
        def write_and_open(*lines: str):
            (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
            return opened(tmp_path / "a.jsonl")

        return write_and_open

    def test_a_broken_line_is_listed_and_the_others_kept(self, jsonl):
        source = jsonl('{"id": 1, "text": "a"}', '{"id": 2, "te', '{"id": 3, "text": "c"}')
        found, skipped = documents(source)
        assert [(d["row"], d["id"]) for d in found] == [(0, 1), (2, 3)]
        assert skipped == [("row 1, line 2", "null text, or not valid JSON")]
        assert_rows_match(source)

    @pytest.mark.parametrize(
        "spelt",
        ["2020-01-01T00:00:00", "2020-01-01", "12:00:00", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"],
    )
    def test_strings_are_not_reinterpreted(self, jsonl, spelt):
        source = jsonl(json.dumps({"id": spelt, "text": spelt}))
        assert ids_and_texts(source) == [(spelt, spelt)]

    def test_a_column_of_nothing_but_nulls_is_listed_row_by_row(self, jsonl):
        assert documents(jsonl('{"id": 1, "text": null}')) == (
            [],
            [("row 0, line 1", "null text, or not valid JSON")],
        )

    def test_a_key_that_only_the_last_line_has_is_a_column(self, jsonl):
        source = jsonl(*['{"text": "a"}'] * 30_000, '{"text": "b", "late": 1}')
        assert source.columns == ("text", "late")

    def test_what_is_no_table_is_refused(self, tmp_path, jsonl, opened):
        with pytest.raises(UnreadableError, match="no table"):
            jsonl('{"text": "a"}', "[1, 2]")
        (tmp_path / "b.json").write_text('[{"text": "a"}, {"te')
        with pytest.raises(UnreadableError, match=r"b\.json"):
            opened(tmp_path / "b.json")


BROKEN = ["parquet", "arrow", "ipc", "csv.gz", "jsonl.gz", "jsonl.zst", "parquet.gz"]


def write_truncated(path: Path) -> None:
    WRITERS[path.name.split(".")[1]](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


class TestIdsOfJson:
    @pytest.mark.parametrize("ending", ["jsonl", "json"])
    def test_beyond_64_bits_stay_different(self, tmp_path, opened, ending):
        ids = [10**30, 10**30 + 1, 2**64 + 1, 2**53, 2**53 + 1]
        lines = [f'{{"id": {i}, "text": "a", "score": {i}}}' for i in ids]
        text = "\n".join(lines) if ending == "jsonl" else f"[{','.join(lines)}]"
        (tmp_path / f"a.{ending}").write_text(text)
        found = ids_and_texts(opened(tmp_path / f"a.{ending}"))
        assert [name for name, _ in found] == [str(i) for i in ids]

    def test_mixed_with_fractions_stay_different(self, tmp_path, opened):
        ids = ["9007199254740992", "9007199254740993", "0.5", "1", "1.0"]
        lines = [f'{{"id": {i}, "number": {i}, "text": "a"}}\n' for i in ids]
        (tmp_path / "a.jsonl").write_text("".join(lines))
        for column in ("id", "number"):
            found = ids_and_texts(opened(tmp_path / "a.jsonl", id=column))
            assert [name for name, _ in found] == ids

    def test_other_numbers_stay_numbers(self, tmp_path, opened):
        (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "a", "score": 0.5}\n')
        source = opened(tmp_path / "a.jsonl")
        assert source.id_type == pa.int64()
        assert source.schema.field("score").type == pa.float64()


def test_parquet_columns_that_differ_in_case_can_each_be_named(tmp_path, opened):
    columns = {"ID": [1, 2], "id": ["a", "b"], "id_1": [5, 6], "n": [{"a": 1}] * 2}
    pq.write_table(pa.table({**columns, "Id": [7, 8], "text": ["x", "y"]}), tmp_path / "a.parquet")
    for name, values in (*columns.items(), ("Id", [7, 8])):
        if name != "n":
            source = opened(tmp_path / "a.parquet", id=name)
            assert ids_and_texts(source) == list(zip(values, "xy", strict=True))
            blocks = source.blocks(1)
            documents_of = (b for block in blocks for b in block.documents(Skipped()))
            assert [i for batch in documents_of for i in batch["id"].to_pylist()] == values
    assert source.columns == ("ID", "id", "id_1", "n", "Id", "text")
    assert rows(source)[0]["Id"] == 7


class TestUnreadable:
    @pytest.mark.parametrize("ending", BROKEN)
    def test_truncated_files_are_named(self, tmp_path, opened, ending):
        write_truncated(tmp_path / f"broken.{ending}")
        with pytest.raises(UnreadableError, match=rf"broken\.{ending}"):
            list(opened(tmp_path / f"broken.{ending}").documents(Skipped()))

    @pytest.mark.parametrize("ending", BROKEN)
    def test_among_several_files_the_broken_one_is_listed(self, tmp_path, opened, ending):
        write_jsonl(tmp_path / "a.jsonl")
        write_truncated(tmp_path / f"b.{ending}")
        write_parquet(tmp_path / "c.parquet")
        source = opened(str(tmp_path / "*"))
        found, skipped = documents(source)
        assert [d["id"] for d in found] == [3, 1, 2, 3, 1, 2]
        assert [Path(record).name for record, _ in skipped] == [f"b.{ending}"]
        assert_rows_match(source)

    def test_all_files_is_an_error(self, tmp_path, opened):
        for name in ("a.parquet", "b.parquet"):
            (tmp_path / name).write_bytes(b"PAR1 not really")
        with pytest.raises(UnreadableError, match="none of"):
            opened(str(tmp_path / "*.parquet"))

    def test_damage_inside_a_parquet_file_is_reported(self, tmp_path, opened):
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"text": [str(i) * 20 for i in range(20_000)]}), path)
        data = bytearray(path.read_bytes())
        data[1_000:9_000] = b"\x55" * 8_000
        path.write_bytes(data)
        with pytest.raises(UnreadableError, match=r"a\.parquet"):
            list(opened(path).documents(Skipped()))


class TestSeveralFiles:
    def test_with_different_columns_are_united(self, tmp_path, opened):
        pq.write_table(pa.table({"id": [1], "text": ["a"]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"text": ["b"], "id": [2], "more": [True]}), tmp_path / "b.parquet")
        source = opened(str(tmp_path / "*.parquet"))
        assert ids_and_texts(source) == [(1, "a"), (2, "b")]
        assert rows(source) == [
            {"id": 1, "text": "a", "more": None},
            {"id": 2, "text": "b", "more": True},
        ]
        assert len({batch.schema for batch in source.kept(np.empty(0, np.int64))()}) == 1

    def test_with_different_types_become_strings(self, tmp_path, opened):
        pq.write_table(pa.table({"id": [1], "text": ["a"]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"id": ["x"], "text": ["b"]}), tmp_path / "b.parquet")
        assert ids_and_texts(opened(str(tmp_path / "*"))) == [("1", "a"), ("x", "b")]

    def test_name_the_file_of_a_skipped_row(self, tmp_path, opened):
        pq.write_table(pa.table({"text": ["a"]}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"text": ["b", None]}), tmp_path / "b.parquet")
        found, skipped = documents(opened([tmp_path / "a.parquet", tmp_path / "b.parquet"]))
        assert [d["row"] for d in found] == [0, 1]
        assert [d["id"] for d in found] == [f"{tmp_path}/a.parquet:0", f"{tmp_path}/b.parquet:0"]
        assert skipped == [(f"{tmp_path}/b.parquet: row 1", "null text")]

    def test_named_like_partitions_add_no_column(self, tmp_path, opened):
        (tmp_path / "year=2020").mkdir()
        write_parquet(tmp_path / "year=2020" / "a.parquet")
        assert opened(tmp_path / "year=2020" / "a.parquet").columns == ("id", "text", "extra")

    def test_of_tables_and_texts_are_refused(self, tmp_path, opened):
        write_csv(tmp_path / "a.csv")
        (tmp_path / "b.txt").write_text("b")
        with pytest.raises(SourceError, match=r"tables.*a\.csv.*b\.txt"):
            opened(str(tmp_path / "*"))


class TestQuery:
    def test_is_run_as_it_stands_and_once(self, tmp_path, opened):
        write_parquet(tmp_path / "a.parquet")
        source = opened(f"select * from '{tmp_path}/*.parquet' where id < 3")  # noqa: S608
        (tmp_path / "a.parquet").unlink()
        assert ids_and_texts(source) == [(1, "c"), (2, "d é")]
        assert rows(source) == [
            {"id": 1, "text": "c", "extra": None},
            {"id": 2, "text": "d é", "extra": 0.5},
        ]

    @pytest.mark.parametrize("query", ["FROM '{}'", "WITH t AS (FROM '{}') SELECT * FROM t"])
    def test_may_begin_otherwise(self, tmp_path, opened, query):
        write_parquet(tmp_path / "a.parquet")
        assert ids_and_texts(opened(query.format(tmp_path / "a.parquet"))) == EXPECTED

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("SELECT nothing FROM nowhere", "nowhere"),
            ("SELECT FROM WHERE", "not valid SQL"),
            ("SELECT * FROM 'gone.parquet'", "gone.parquet"),
            ("SELECT CAST('x' AS INT) AS text", "query failed"),
            ("SELECT 'a' AS text; SELECT 'b' AS text", "exactly one SELECT"),
            ("WITH t AS (SELECT 1) INSERT INTO x SELECT * FROM t", "exactly one SELECT"),
            ("SELECT 'a' AS text; COPY (SELECT 1) TO 'x.csv'", "exactly one SELECT"),
        ],
    )
    def test_that_is_bad_is_a_source_error(self, tmp_path, opened, monkeypatch, query, message):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SourceError, match=message):
            opened(query)
        assert os.listdir(tmp_path) == []

    def test_does_not_hide_a_file_of_that_name(self, tmp_path, opened, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("from me").write_text("a letter")
        assert ids_and_texts(opened("from me")) == [("from me", "a letter")]

    def test_does_not_see_python_variables(self, opened):
        secret = pa.table({"text": ["x"]})
        with pytest.raises(SourceError, match="secret"):
            opened("SELECT * FROM secret")
        assert len(secret) == 1


def test_a_column_may_have_an_empty_name(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("id\t\n1\thello world this\n2\thello world that\n")
    found = nearly.find(path, text="", threshold=0.3)
    assert found.pairs.num_rows == 1
    assert nearly.find(path, threshold=0.3).pairs.equals(found.pairs)
