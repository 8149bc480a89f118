"""Repeated pieces are cut whole, one place of each stays, and all else is as it was."""

import csv
import gzip
import io
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly import _kernels
from nearly.arrays import spans, string_array
from nearly.cli.program import run
from nearly.passage.piece import piece_spans
from nearly.passage.repeat import survivors_of
from nearly.textbook import repeated_pieces

ONE = (
    "The committee met on Monday in the old town hall to talk about the new bridge over the river."
)
TWO = "Nobody from the council had expected that so many people would come to hear about its cost."
THREE = "After four hours the chair closed the meeting and asked everybody to come again next week."
OWN = "This sentence is only here, and it says things which no other document of this test says."


# What is cut, against the plain definition


def pieces_gone(documents: Sequence[Sequence[str]], least: int) -> dict[tuple[int, int], Any]:
    """What the fast way cuts, with what stays for it, by document and place."""
    flat = [piece for pieces in documents for piece in pieces]
    offsets = np.cumsum([0, *map(len, documents)])
    words = np.array([len(piece.split()) for piece in flat], np.int64)
    digests = _kernels.contents(*spans(string_array(flat)))
    gone, stay = survivors_of(offsets, np.arange(len(flat)), digests, words, least)

    def place(piece: int) -> tuple[int, int]:
        document = int(np.searchsorted(offsets, piece, "right")) - 1
        return document, piece - int(offsets[document])

    return {place(g): place(s) for g, s in zip(gone.tolist(), stay.tolist(), strict=True)}


some_pieces = st.sampled_from(["a", "b b", "c c c", "d d d d", "e"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(some_pieces, max_size=8), max_size=6), st.integers(1, 9))
def test_the_pieces_that_go_are_those_of_the_textbook(
    documents: list[list[str]], least: int
) -> None:
    gone = pieces_gone(documents, least)
    assert set(gone) == repeated_pieces(documents, least)
    for (document, piece), (other, there) in gone.items():
        assert (other, there) < (document, piece)
        assert (other, there) not in gone
        assert documents[other][there] == documents[document][piece]


def test_the_textbook_cuts_something_and_not_everything() -> None:
    documents = [["a", "b b", "c c c"], ["e", "a", "b b"], ["b b", "e"]]
    assert repeated_pieces(documents, 3) == {(1, 1), (1, 2)}


# Pieces


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One here. Two there! Three?", ["One here.", "Two there!", "Three?"]),
        ("Dr. Smith met J. Doe at 5 p.m. on Jan. 3.", None),
        ("It cost 3.50 in 1999. Then more.", ["It cost 3.50 in 1999.", "Then more."]),
        ('He said "No." She left.', ['He said "No."', "She left."]),
        ("wrapped\nlines are one. And\ntwo.", ["wrapped\nlines are one.", "And\ntwo."]),
        ("A title\n\nA text.", ["A title", "A text."]),
        ("今日は。明日も。", ["今日は。", "明日も。"]),
        ("1. First item\n2. Second item", None),
        ("  padded.  \n", ["padded."]),
        ("*** Stars. ***\n\nMore.", ["*** Stars. ***", "More."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, pieces: list[str] | None) -> None:
    found = [text[start:end] for start, end in piece_spans(text, "sentence")]
    assert found == ([text] if pieces is None else pieces)


@given(st.text(alphabet=" \n.!?Aa1*。-", max_size=60), st.sampled_from(["sentence", "line"]))
def test_pieces_leave_out_white_space_only(text: str, each: Any) -> None:
    spans_ = piece_spans(text, each)
    left = list(text)
    for start, end in spans_:
        assert text[start:end].strip() == text[start:end] != ""
        left[start:end] = [" "] * (end - start)
    assert not "".join(left).strip()
    assert spans_ == sorted(spans_)


# Texts that are left


def cut(documents: Any, **more: Any) -> list[str]:
    return list(nearly.cut_repeats(documents, **more).kept["text"].to_pylist())


def test_the_first_place_stays_and_the_cut_is_listed() -> None:
    texts = {"a": f"{ONE} {OWN}", "b": f"{THREE} {ONE} {TWO}"}
    result = nearly.cut_repeats(texts)
    assert result.kept.to_pydict() == {"id": ["a", "b"], "text": [texts["a"], f"{THREE} {TWO}"]}
    (row,) = result.cuts.to_pylist()
    assert (row["id"], row["survivor"], row["words"]) == ("b", "a", len(ONE.split()))
    assert texts["b"][row["start"] : row["end"]] == ONE
    assert texts["a"][row["survivor_start"] : row["survivor_end"]] == ONE
    assert result.statistics.cut_pieces == 1
    assert result.statistics.cut_characters == len(ONE) + 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{ONE} {OWN}", OWN),
        (f"{OWN} {ONE}", OWN),
        (f"{OWN}\n\n{ONE} {THREE}\n\nEnd.\n", f"{OWN}\n\n{THREE}\n\nEnd.\n"),
        (f"{OWN}\n\n{THREE} {ONE}\n\nEnd.\n", f"{OWN}\n\n{THREE}\n\nEnd.\n"),
        (f"{OWN}\n\n{ONE}\n\nEnd.\n", f"{OWN}\n\nEnd.\n"),
        (f"  {ONE}\n", ""),
        (f"{OWN} {ONE.upper()}\n", f"{OWN}\n"),
    ],
)
def test_white_space_around_a_cut(text: str, left: str) -> None:
    assert cut({"a": ONE, "b": text}) == [ONE, left]


def test_short_sentences_go_only_in_company() -> None:
    thanks = "Thank you."
    assert cut({"a": f"{thanks} {ONE}", "b": f"{thanks} {OWN}"})[1] == f"{thanks} {OWN}"
    assert cut({"a": f"{ONE} {thanks}", "b": f"{OWN} {ONE} {thanks}"})[1] == OWN


def test_a_document_repeats_itself() -> None:
    assert cut({"a": f"{ONE} {TWO} {ONE}"}) == [f"{ONE} {TWO}"]


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ("first", [ONE, TWO, ""]),
        ("last", ["", "", f"{ONE} {TWO}"]),
        ("longest", ["", "", f"{ONE} {TWO}"]),
        ("shortest", [ONE, TWO, ""]),
        ("max:date", ["", TWO, ONE]),
        ("oldest:date", [ONE, "", TWO]),
    ],
)
def test_the_place_that_stays_follows_the_rule(keep: str, left: list[str]) -> None:
    dates = ["2001-01-01", "2003-01-01", "2002-01-01"]
    table = pa.table({"text": [ONE, TWO, f"{ONE} {TWO}"], "date": dates})
    assert cut(table, text="text", keep=keep) == left


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_the_answer_does_not_depend_on_memory(
    keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nearly.passage.piece_store._STRETCH", 7)
    monkeypatch.setattr("nearly.sources.part.BATCH_ROWS", 3)
    draw = np.random.default_rng(1)
    made = [[f"{c} {ONE}" for c in draw.choice([*"ABCDEFGH"], 5)] for _ in range(20)]
    table = pa.table({"text": [" ".join(sentences) for sentences in made]})
    one = nearly.cut_repeats(table, keep=keep)
    other = nearly.cut_repeats(table, keep=keep, memory=1_000, temporary=tmp_path)
    assert one.statistics.cut_pieces == other.statistics.cut_pieces > 50
    assert one.cuts.equals(other.cuts)
    assert one.kept.equals(other.kept)


def test_paragraphs_go_only_as_a_whole() -> None:
    mixed = f"{ONE} {OWN}"
    assert cut({"a": ONE, "b": mixed}, each="paragraph") == [ONE, mixed]
    assert cut({"a": f"{ONE}\n\n{TWO}", "b": f"{TWO}\n\n{OWN}"}, each="paragraph")[1] == OWN


def test_lines_are_pieces_too() -> None:
    menu = "Home and news and sports and weather and travel and food and more of it all"
    assert cut({"a": menu, "b": f"{menu}\n{OWN}"}, each="line")[1] == OWN


def test_repeated_ids_are_told_apart_by_file_and_row() -> None:
    table = pa.table({"id": ["x", "x"], "text": [ONE, f"{OWN} {ONE}"]})
    (row,) = nearly.cut_repeats(table).cuts.to_pylist()
    assert (row["row"], row["survivor_row"]) == (1, 0)


words = st.sampled_from([ONE, TWO, THREE, OWN, "Short one.", "Ja!"])
gaps = st.sampled_from([" ", "\n", "\n\n", "  "])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.tuples(words, gaps), max_size=5), min_size=1, max_size=5))
def test_every_cut_stands_elsewhere_and_nothing_else_is_lost(
    documents: list[list[tuple[str, str]]],
) -> None:
    texts = ["".join(word + gap for word, gap in parts) for parts in documents]
    result = nearly.cut_repeats(nearly.texts(texts))
    kept = result.kept["text"].to_pylist()
    for row in result.cuts.to_pylist():
        gone = texts[row["id"]][row["start"] : row["end"]]
        stays = texts[row["survivor"]][row["survivor_start"] : row["survivor_end"]]
        assert gone.split() == stays.split()
    for old, new in zip(texts, kept, strict=True):
        sentences = [old[start:end] for start, end in piece_spans(old, "sentence")]
        left = [new[start:end] for start, end in piece_spans(new, "sentence")]
        coming = iter(sentences)
        assert all(any(piece == other for other in coming) for piece in left)
    assert set(" ".join(kept).split()) == set(" ".join(texts).split())


# Formats: all but the cut is byte for byte the user's


def test_csv_keeps_its_spelling(tmp_path: Path) -> None:
    quoted = ONE.replace("old", '"old"').replace(" to talk", ", to talk")
    cell = f'"{OWN} {quoted.replace(chr(34), chr(34) * 2)}\r\n{TWO}"'
    first = f'"{quoted.replace(chr(34), chr(34) * 2)}"'
    source = f"id;text;n\r\n007;{first};1.50\r\nb;{cell};2.0\r\n\r\nc;{OWN};'x'\r\n"
    (tmp_path / "a.csv").write_bytes(source.encode())
    nearly.cut_repeats(tmp_path / "a.csv").write(tmp_path / "b.csv")
    left = source.replace(cell, f'"{OWN}\r\n{TWO}"').replace(f"c;{OWN};", "c;;")
    assert (tmp_path / "b.csv").read_bytes() == left.encode()
    rows = list(csv.reader(io.StringIO(left), delimiter=";"))
    assert rows[1][1] == quoted


def test_a_row_of_one_column_stays_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"text\n{ONE}\n{ONE}\n")
    nearly.cut_repeats(tmp_path / "a.csv").write(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == f'text\n{ONE}\n""\n'


ESCAPED = ONE.replace("old", '\\u00f6ld \\ud83d\\ude00 \\/ \\"x\\"')
JSON_TEXT = json.loads(f'"{ESCAPED}"')


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json"])
def test_json_keeps_its_escapes(name: str, tmp_path: Path) -> None:
    objects = [
        f'{{"n": 1.50, "id": "a", "text" : "{ESCAPED}"}}',
        f'{{"id": "b", "deep": {{"text": "no"}}, "text":"\\u0041h! {ESCAPED} {TWO}\\n", "z": []}}',
        f'{{"id": "c", "text": "{TWO}", "y": null}}',
    ]
    left = [
        objects[0],
        objects[1].replace(f"{ESCAPED} ", ""),
        objects[2].replace(TWO, ""),
    ]
    frame = ("[\n ", ",\n ", "\n]\n") if name == "a.json" else ("", "\n", "\n")

    def whole(rows: Sequence[str]) -> bytes:
        return (frame[0] + frame[1].join(rows) + frame[2]).encode()

    data = whole(objects)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    place = tmp_path / f"clean{name[1:]}"
    nearly.cut_repeats(tmp_path / name).write(place)
    made = place.read_bytes()
    assert (gzip.decompress(made) if name.endswith("gz") else made) == whole(left)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_stay(encoding: str, tmp_path: Path) -> None:
    accented = ONE.replace("old", "öld")
    source = f"id,text\r\na,{accented}\r\nb,{accented} Ende gut\r\n"
    (tmp_path / "a.csv").write_bytes(source.encode(encoding))
    result = nearly.cut_repeats(tmp_path / "a.csv", encoding="auto")
    result.write(tmp_path / "b.csv")
    left = source.replace(f"b,{accented} ", "b,")
    assert (tmp_path / "b.csv").read_bytes() == left.encode(encoding)


def test_lines_of_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(f"{ONE}\r\n{OWN} {ONE}\n\n{ONE}".encode())
    nearly.cut_repeats(tmp_path / "a.txt", lines=True).write(tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == f"{ONE}\r\n{OWN}\n\n".encode()


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables_keep_types_metadata_and_groups(
    kind: pa.DataType, ending: str, tmp_path: Path
) -> None:
    fields = [pa.field("text", kind, metadata={"a": "b"}), pa.field("n", pa.decimal128(5, 2))]
    texts = pa.array([ONE, f"{OWN} {ONE}", None, TWO]).cast(pa.string())
    texts = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    numbers = pa.array([Decimal("1.50"), Decimal(2), Decimal(3), None], pa.decimal128(5, 2))
    table = pa.table([texts, numbers], schema=pa.schema(fields, metadata={"who": "me"}))
    place = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(table, place, row_group_size=2, compression="gzip")
    else:
        with ipc.new_file(place, table.schema) as writer:
            writer.write_table(table)
    result = nearly.cut_repeats(place)
    result.write(tmp_path / f"b.{ending}")
    made = pa.ipc.open_file(tmp_path / "b.arrow").read_all() if ending == "arrow" else None
    made = pq.read_table(tmp_path / "b.parquet") if made is None else made
    before = pq.read_table(place) if ending == "parquet" else table
    assert made.schema.equals(before.schema, check_metadata=True)
    assert made["text"].to_pylist() == [ONE, OWN, None, TWO]
    assert made["n"].equals(before["n"])
    if ending == "parquet":
        assert pq.ParquetFile(tmp_path / "b.parquet").num_row_groups == 2


def test_a_copy_in_another_format_is_cut_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "text": [ONE, f"{ONE} {TWO}"]}), tmp_path / "a.parquet")
    nearly.cut_repeats(tmp_path / "a.parquet").write(tmp_path / "b.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert rows == [{"id": 1, "text": ONE}, {"id": 2, "text": TWO}]


def test_a_folder_gets_one_file_for_each(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.jsonl").write_text(json.dumps({"id": 1, "text": ONE}) + "\n")
    (tmp_path / "in" / "2.jsonl").write_text(json.dumps({"id": 2, "text": f"{ONE} {TWO}"}) + "\n")
    nearly.cut_repeats(tmp_path / "in").write(tmp_path / "out")
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == (tmp_path / "in" / "1.jsonl").read_bytes()
    assert json.loads((tmp_path / "out" / "2.jsonl").read_text()) == {"id": 2, "text": TWO}


def test_text_files_are_copied_one_by_one(tmp_path: Path) -> None:
    files = {
        "a.txt": ONE.encode(),
        "deep/b.md": f"\ufeff{ONE}\r\n\r\n{OWN}\r\n".encode(),
        "deep/c.txt.gz": gzip.compress(f"{OWN} {TWO}".encode()),
        "d.txt": b"\x00binary",
        "e.txt": b"",
    }
    for name, data in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    assert run(["dedup", str(tmp_path / "in"), "--passages", "-o", str(tmp_path / "out")]) == 3
    made = {name: (tmp_path / "out" / name).read_bytes() for name in files}
    assert made["deep/b.md"] == f"\ufeff{OWN}\r\n".encode()
    assert gzip.decompress(made["deep/c.txt.gz"]) == TWO.encode()
    assert all(made[name] == files[name] for name in ("a.txt", "d.txt", "e.txt"))


# The command, and bad input


def test_the_command_writes_the_copy_and_the_cuts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pa.table({"id": ["a", "b", "c"], "text": [ONE, f"{OWN} {ONE}", ONE]})
    pq.write_table(table, tmp_path / "a.parquet")
    places = [str(tmp_path / name) for name in ("a.parquet", "b.parquet", "cuts.csv")]
    assert run(["dedup", places[0], "--passages", "-o", places[1], "--removed", places[2]]) == 0
    err = capsys.readouterr().err
    assert "2 passages cut from 2 documents" in err
    assert "1 document stood elsewhere as a whole; its row has an empty text" in err
    assert pq.read_table(places[1])["text"].to_pylist() == [ONE, OWN, ""]
    assert Path(places[2]).read_text().startswith("id,start,end,survivor,survivor_start")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--passages", "--threshold", "0.5"], "--threshold is about whole documents"),
        (["--each", "line"], "--each goes with --passages"),
        (["--passages", "--least", "0"], "least is 0; give a whole number of words"),
        (["--passages", "--keep", "largest"], "for texts give 'longest'"),
        (["--passages", "--text", "text", "--text", "id"], "has to stand in one column"),
        (["--passages", "--engine", "spark"], "text is cut on one machine"),
    ],
)
def test_what_cannot_be_done_is_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(f"id,text\na,{ONE}\nb,{ONE}\n")
    code = run(["dedup", str(tmp_path / "a.csv"), "-o", str(tmp_path / "b.csv"), *options])
    assert code != 0
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]


def test_a_source_that_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": ONE}) + "\n" + json.dumps({"text": ONE}) + "\n")
    result = nearly.cut_repeats(path)
    path.write_text(json.dumps({"text": TWO}) + "\n" + json.dumps({"text": ONE}) + "\n")
    with pytest.raises(nearly.NearlyError, match="changed"):
        result.write(tmp_path / "b.jsonl")
    assert not (tmp_path / "b.jsonl").exists()


def test_nothing_to_cut_is_a_copy(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,text\na,{ONE}\nb,\nc,{TWO}\n")
    nearly.cut_repeats(tmp_path / "a.csv").write(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
