"""Documents that share an id: all are compared, and each is known by its file and row."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from clusters import needs_java
from engines import collected, session

import nearly
from nearly.cli.program import run

FOX = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"
CAT = "a cat that nobody knows sits on a mat and looks at the rain and waits for better weather"
#: The first and the third line are the same, and so are the ids of very different texts.
FIRST = f"id,text\na,{FOX}\nb,{CAT}\na,{FOX}\nc,nothing like it\n"
SECOND = f"id,text\nb,{FOX}!\n,no id\nb,{CAT}\nd,nor this\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(name="files")
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text(FIRST)
    Path("two.csv").write_text(SECOND)
    return [Path("one.csv"), Path("two.csv")]


@pytest.fixture(name="call")
def _call(capsys: pytest.CaptureFixture[str], files: list[Path]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in (*arguments, *files)])
        return code, *capsys.readouterr()

    return call


def test_two_identical_lines_of_one_id_are_copies(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    line = json.dumps({"id": "x", "text": FOX}) + "\n"
    path.write_text(line + line)
    found = nearly.find(path)
    assert (len(found), found.statistics.copies, found.statistics.skipped) == (1, 1, 0)
    nearly.dedup(path).write(tmp_path / "clean.jsonl")
    assert (tmp_path / "clean.jsonl").read_text() == line


def test_tables_tell_file_and_row_of_both_sides(files: list[Path]) -> None:
    found = nearly.find(files)
    assert found.pairs.to_pylist() == [
        pair("a", "one.csv", 0, "a", "one.csv", 2, 1.0),
        pair("a", "one.csv", 0, "b", "two.csv", 0, 80 / 81),
        pair("b", "one.csv", 1, "b", "two.csv", 2, 1.0),
    ]
    members = [(row["id"], row["cluster"], row["file"], row["row"]) for row in rows(found.clusters)]
    assert members == [
        ("a", 0, "one.csv", 0),
        ("a", 0, "one.csv", 2),
        ("b", 0, "two.csv", 0),
        ("b", 1, "one.csv", 1),
        ("b", 1, "two.csv", 2),
    ]
    assert (found.statistics.repeated_ids, found.statistics.sharing_ids) == (2, 5)
    assert found.top.column_names[:7] == found.pairs.column_names


def pair(
    a: str, file_a: str, row_a: int, b: str, file_b: str, row_b: int, similarity: float
) -> dict[str, object]:
    sides = {"file_a": file_a, "row_a": row_a, "file_b": file_b, "row_b": row_b}
    return {"id_a": a, "id_b": b, "similarity": similarity, **sides}


def rows(table: pa.Table) -> list[dict[str, object]]:
    return table.to_pylist()  # type: ignore[no-any-return]


def test_a_clean_copy_loses_the_right_rows(files: list[Path], tmp_path: Path) -> None:
    clean = nearly.dedup(files, keep="longest")
    clean.write(tmp_path / "clean")
    assert Path("clean/one.csv").read_text() == f"id,text\nb,{CAT}\nc,nothing like it\n"
    assert Path("clean/two.csv").read_text() == f"id,text\nb,{FOX}!\n,no id\nd,nor this\n"
    gone = [(row["id"], row["file"], row["row"]) for row in rows(clean.removed)]
    assert gone == [("a", "one.csv", 0), ("a", "one.csv", 2), ("b", "two.csv", 2)]
    stays = [(r["survivor"], r["survivor_file"], r["survivor_row"]) for r in rows(clean.removed)]
    assert stays == [("b", "two.csv", 0), ("b", "two.csv", 0), ("b", "one.csv", 1)]


def test_ids_that_do_not_repeat_need_no_places(files: list[Path]) -> None:
    found = nearly.find(files, id="text", text="text")
    assert found.pairs.column_names[3:] == ["file_a", "row_a", "file_b", "row_b"]
    one = nearly.find({"a": FOX, "b": FOX})
    assert one.pairs.column_names == ["id_a", "id_b", "similarity"]
    assert one.clusters.column_names == ["id", "cluster", "weakest"]
    assert nearly.dedup({"a": FOX, "b": FOX}).removed.column_names == [
        *("id", "survivor", "similarity", "cluster")
    ]
    assert "repeated_ids" not in one.statistics.to_dict()


def test_a_text_is_asked_for_by_id_and_where_that_is_not_enough_by_place(
    files: list[Path],
) -> None:
    for result in (nearly.find(files), nearly.dedup(files)):
        assert result.text("d") == "nor this"
        assert result.text("b", file="two.csv", row=0) == FOX + "!"
        assert result.text("b", row=2) == CAT
        with pytest.raises(nearly.SourceError, match=r"3 documents have the id 'b': row 1 of one"):
            result.text("b")
        with pytest.raises(nearly.MissingError, match=r"'b' stands in .*, and not in row 7"):
            result.text("b", row=7)
        with pytest.raises(nearly.MissingError, match="no document with the id 'z'"):
            result.text("z")


def test_differences_are_those_of_the_documents_that_were_compared(files: list[Path]) -> None:
    found = nearly.find(files, difference=True)
    assert found.pairs["difference"].to_pylist() == ["same text", "punctuation", "same text"]


def test_a_saved_result_knows_which_row_is_meant(files: list[Path], tmp_path: Path) -> None:
    found, clean = nearly.find(files), nearly.dedup(files, keep="longest")
    found.save(tmp_path / "found")
    clean.save(tmp_path / "clean")
    again = nearly.open(tmp_path / "found")
    assert again.pairs.equals(found.pairs)
    assert again.statistics == found.statistics
    assert again.text("b", file="two.csv", row=0) == FOX + "!"
    with pytest.raises(nearly.SourceError, match="3 documents have the id 'b'"):
        again.text("b")
    again = nearly.open(tmp_path / "clean")
    assert again.kept.equals(clean.kept)
    assert again.kept.num_rows == 5


def test_a_higher_threshold_gives_what_a_run_gives(files: list[Path]) -> None:
    low, high = nearly.find(files, k=5), nearly.find(files, threshold=1.0, k=5)
    cut = low.at(1.0)
    assert 0 < len(high) < len(low)
    assert cut.pairs.equals(high.pairs)
    assert cut.clusters.equals(high.clusters)


def test_an_evaluation_tells_documents_apart_by_their_places(files: list[Path]) -> None:
    found = nearly.find(files)
    same = nearly.evaluate(found, found.clusters, documents=files)
    assert (same.documents, same.pairs.found, same.pairs.gold, same.pairs.true) == (7, 4, 4, 4)
    by_id = nearly.evaluate(found, pa.table({"id_a": ["a"], "id_b": ["b"]}), documents=files)
    assert (by_id.documents, by_id.pairs.found, by_id.pairs.true) == (4, 1, 1)


def test_a_frame_whose_index_repeats_is_named_by_position() -> None:
    frame = pd.DataFrame({"text": [FOX, CAT, FOX]}, index=[5, 5, 6])
    [found] = nearly.find(frame).pairs.to_pylist()
    assert (found["id_a"], found["id_b"]) == (5, 6)
    assert frame.iloc[found["row_b"]].text == FOX
    assert found["file_a"] is None


def test_an_audit_counts_all_documents(files: list[Path]) -> None:
    audit = nearly.find(files, method="lsh", audit=100).statistics.audit
    assert audit is not None
    assert (audit.documents, audit.pairs, audit.recall) == (5, 2, 1.0)


def test_files_of_one_name_in_several_folders_are_other_documents(tmp_path: Path) -> None:
    for name in ("a/note.txt", "b/note.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(FOX)
    clean = nearly.dedup(tmp_path, unique_ids=True)
    [removal] = clean.plan().removals
    assert (removal.path, removal.survivor) == ("b/note.txt", "a/note.txt")


class TestCommandLine:
    def test_says_how_many_ids_repeat_and_shows_places(self, call: Run) -> None:
        code, out, err = call("find")
        assert code == 3  # one row has no id
        assert "7 documents, 1 skipped, 2 exact copies\n2 ids repeat, over 5 documents;" in err
        assert "a (one.csv:0)" in out
        assert "b (two.csv:0)" in out

    def test_puts_places_into_json(self, call: Run) -> None:
        _, out, _ = call("find", "--json", "--quiet")
        found = json.loads(out)
        assert found["pairs"][1] == pair("a", "one.csv", 0, "b", "two.csv", 0, 80 / 81)
        assert found["statistics"]["repeated_ids"] == 2
        assert found["statistics"]["sharing_ids"] == 5

    @pytest.mark.parametrize("command", [["find"], ["dedup", "-o", "clean.csv"]])
    def test_refuses_ids_that_repeat_if_told_so(self, call: Run, command: list[str]) -> None:
        code, out, err = call(*command, "--unique-ids")
        assert (code, out) == (2, "")
        assert "the id 'a' stands twice: in row 0 of one.csv, and in row 2 of one.csv." in err
        assert "--unique-ids" in err
        assert not Path("clean.csv").exists()


def test_a_chain_is_counted_and_leaders_are_offered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """An old document goes that is like none of those that stay."""
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(words[i : i + 20]) for i in (0, 3, 6, 9)]
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts[:3])))
    new.write_text(f"id,text\n3,{texts[3]}\n")
    options = ["--unit", "word", "--k", "1", "-t", "0.7", "--keep", "last"]
    command = ["dedup", old, new, *options, "--removed", tmp_path / "removed.csv", "--json"]
    chained = [*command, "-o", tmp_path / "clean.csv"]
    run([str(part) for part in chained])
    out, err = capsys.readouterr()
    assert [row["similarity"] for row in json.loads(out)["removed"]] == [11 / 29, 14 / 26, 17 / 23]
    assert json.loads(out)["statistics"]["below"] == 2
    assert "2 removed documents are below 0.7 to their survivor" in err
    assert "--cluster leader" in err
    run([str(part) for part in [*chained, "--cluster", "leader", "--force"]])
    out, err = capsys.readouterr()
    assert json.loads(out)["statistics"]["below"] == 0
    assert "below" not in err


@needs_java
@pytest.mark.slow
def test_spark_gives_the_same_of_files_that_share_blocks(files: list[Path]) -> None:
    Path("three.csv.gz").write_bytes(gzip.compress(FIRST.encode()))
    given = [*files, Path("three.csv.gz")]
    session()
    here, there = nearly.find(given), nearly.find(given, engine="spark")
    assert len(here) > 5
    for name in ("pairs", "clusters", "top"):
        assert collected(there).tables[name].equals(collected(here).tables[name]), name
    assert there.text("b", file="three.csv.gz", row=1) == CAT
    with pytest.raises(nearly.SourceError) as error:
        there.text("b")
    with pytest.raises(nearly.SourceError) as expected:
        here.text("b")
    assert str(error.value) == str(expected.value)
