"""Results as a library user has them: short to print, cut again, written, saved and opened."""

import hashlib
import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearly
from nearly.errors import (
    EngineError,
    MissingError,
    SettingsError,
    SinkError,
    SourceError,
    UnreadableError,
)
from nearly.plans import apply_plan, check_plan, load_plan, save_plan

TEXTS = ["one text of some words", "one text of some words", "another that is unlike it"]
LONG = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"


@dataclass
class Frame:
    """Knows how to become Arrow, as a Spark DataFrame does."""

    table: pa.Table

    def toArrow(self) -> pa.Table:  # noqa: N802 (as Spark calls it)
        return self.table


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> Path:
    path = tmp_path / "docs.csv"
    rows = [("a", LONG), ("b", LONG + "!"), ("c", "something else entirely"), ("d", LONG)]
    path.write_text("id,text\n" + "".join(f"{name},{text}\n" for name, text in rows))
    return path


def test_lazy_pairs_become_arrow_when_that_is_asked_for() -> None:
    found = nearly.find(TEXTS)
    lazy = replace(found, pairs=Frame(found.pairs))
    assert len(lazy) == len(found) == 1
    assert lazy.to_arrow() is found.to_arrow() is found.pairs
    assert lazy.to_pandas().equals(found.pairs.to_pandas())
    assert lazy.to_polars().equals(found.to_polars())
    assert lazy._repr_html_() == "<p>Found: 1 pair in 1 cluster of 3 documents</p>"


def test_lazy_rows_that_were_kept_stay_lazy() -> None:
    clean = nearly.dedup(TEXTS)
    frame = Frame(clean.kept)
    assert frame.table.num_rows == 2
    assert replace(clean, read_kept=lambda: frame).kept is frame


def test_results_print_in_one_line() -> None:
    found, clean = nearly.find(TEXTS), nearly.dedup(TEXTS)
    assert repr(found) == "Found: 1 pair in 1 cluster of 3 documents"
    assert repr(clean) == "Deduplicated: 1 of 3 documents removed from 1 cluster"
    same = repr(nearly.compare("a few words", "a few word"))
    assert same == "Comparison: a and b, similarity 0.8571, equal but for 1 of 3 words"
    assert repr(nearly.tune()).startswith("Advice: ")
    truth = found.to_arrow()
    assert repr(nearly.evaluate(found, truth)) == (
        "Evaluation: precision 1.0000, recall 1.0000, F1 1.0000"
    )
    tweets = ["hello @ann, how are you", "hello @bob, how are you"]
    assert repr(nearly.mentions(tweets)) == "Mentions: 2 documents in 1 group"


def test_every_result_becomes_every_kind_of_table(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(LONG)
    (tmp_path / "two.txt").write_text(LONG)
    found = nearly.find(TEXTS)
    results = [
        found,
        nearly.dedup(TEXTS),
        nearly.compare("a few words", "a few word"),
        nearly.tune(),
        nearly.evaluate(found, found.pairs, thresholds=[0.9]),
        nearly.mentions(["hello @ann", "hello @bob"]),
        nearly.plan(tmp_path),
    ]
    for result in results:
        table = result.to_arrow()
        assert table.num_rows > 0
        assert len(result.to_pandas()) == len(result.to_polars()) == table.num_rows
        page = result._repr_html_()
        assert page.startswith("<p>")
        assert page.count("<tr>") == page.count("</tr>") > 1


def test_a_page_shows_no_markup_of_documents() -> None:
    nasty = "<script>alert(1)</script> and some more words"
    page = nearly.find([nasty, nasty + "!"], threshold=0.5)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_statistics_are_frozen_and_typed() -> None:
    statistics = nearly.find(TEXTS, audit=2, method="lsh").statistics
    assert isinstance(statistics, nearly.Statistics)
    with pytest.raises(AttributeError):
        statistics.pairs = 2  # type: ignore[misc]
    plain = json.loads(json.dumps(statistics.to_dict()))
    assert plain["pairs"] == statistics.pairs == 1
    assert plain["audit"]["documents"] == statistics.audit.documents == 2  # type: ignore[union-attr]
    assert "removed" not in plain
    assert {"bands", "rows"} <= set(plain) <= {f.name for f in fields(statistics)}


CORPORA = st.lists(
    st.lists(st.sampled_from(list("abcdefgh")), min_size=1, max_size=7).map(" ".join),
    min_size=2,
    max_size=25,
)
CUTS: list[bool] = []


@given(
    texts=CORPORA, low=st.sampled_from([0.1, 0.2, 0.4]), high=st.floats(0.4, 1), spell=st.booleans()
)
def test_a_cut_is_what_a_run_at_that_threshold_finds(
    texts: list[str], low: float, high: float, spell: bool
) -> None:
    options = {"unit": "word", "k": 1, "method": "exact", "all_pairs": spell}
    found = nearly.find(texts, threshold=low, **options)
    cut = found.at(high)
    run = nearly.find(texts, threshold=high, **options)
    assert cut.pairs.equals(run.pairs)
    assert cut.clusters.equals(run.clusters)
    assert cut.settings == run.settings
    assert (cut.statistics.pairs, cut.statistics.clusters) == (len(run), run.statistics.clusters)
    CUTS.append(0 < len(cut) < len(found) and run.statistics.clusters > 1)


def test_cuts_were_no_empty_ones() -> None:
    assert sum(CUTS) > 5


def test_a_cut_cannot_go_lower_or_follow_leaders() -> None:
    with pytest.raises(SettingsError, match="run again"):
        nearly.find(TEXTS, threshold=0.5).at(0.4)
    with pytest.raises(SettingsError, match="leader"):
        nearly.find(TEXTS, threshold=0.5, cluster="leader").at(0.6)


def test_texts_are_read_again_by_id(table: Path) -> None:
    found = nearly.find(table)
    assert found.text("b") == LONG + "!"
    assert found.texts(["c", "a"]) == ["something else entirely", LONG]
    assert nearly.dedup(table).text("c") == "something else entirely"
    with pytest.raises(MissingError, match="'nobody'"):
        found.text("nobody")
    with pytest.raises(MissingError, match="'x'"):
        nearly.find(TEXTS).text("x")
    stream = pa.RecordBatchReader.from_batches(
        pa.schema([("text", pa.string())]), [pa.record_batch({"text": TEXTS})]
    )
    assert nearly.find(stream).text(2) == TEXTS[2]


def test_pairs_say_what_differs_on_request(table: Path) -> None:
    assert "difference" not in nearly.find(table).pairs.column_names
    rows = nearly.find(table, difference=True).pairs.to_pylist()
    assert {(row["id_a"], row["id_b"]): row["difference"] for row in rows} == {
        ("a", "b"): "punctuation",
        ("a", "d"): "same text",
    }


def test_the_most_similar_pairs_are_shown_where_they_differ() -> None:
    header = "The same licence header stands in front of everything. " * 20
    texts = [header + "Then March comes.", header + "Then April comes."]
    (row,) = nearly.find(texts, threshold=0.5).top.to_pylist()
    assert (row["difference"], row["differing"]) == ("words", 1)
    for side, month in (("a", "March"), ("b", "April")):
        (mark,) = row[f"marks_{side}"]
        assert row[f"text_{side}"][mark["start"] : mark["stop"]].strip() == month
        assert texts["ab".index(side)][row[f"start_{side}"] :].startswith(row[f"text_{side}"])


def test_pairs_and_clean_copies_are_written(table: Path, tmp_path: Path) -> None:
    found, clean = nearly.find(table), nearly.dedup(table)
    found.write(tmp_path / "pairs.parquet")
    assert pq.read_table(tmp_path / "pairs.parquet").equals(found.pairs)
    clean.write(str(tmp_path / "clean.parquet"))
    assert pq.read_table(tmp_path / "clean.parquet")["id"].to_pylist() == ["a", "c"]
    with pytest.raises(SinkError, match="exists"):
        found.write(tmp_path / "pairs.parquet")
    with pytest.raises(SinkError, match="ending"):
        found.write(tmp_path / "pairs")


def test_a_result_is_saved_and_opened(table: Path, tmp_path: Path) -> None:
    found = nearly.find(table, threshold=0.5, difference=True, audit=3)
    found.save(tmp_path / "kept")
    again = nearly.open(tmp_path / "kept")
    assert isinstance(again, nearly.Found)
    for name in ("pairs", "clusters", "skipped", "top"):
        assert getattr(again, name).equals(getattr(found, name))
    assert (again.settings, again.statistics) == (found.settings, found.statistics)
    assert again.text("b") == LONG + "!"
    assert again.at(0.9).pairs.equals(found.at(0.9).pairs)


def test_pairs_next_to_the_threshold_are_saved_too(tmp_path: Path) -> None:
    found = nearly.find(
        ["nearly the same text", "nearly the same texts", "the same text"], around=9
    )
    assert found.around is not None
    assert (found.around.above.num_rows, found.around.below.num_rows) == (1, 2)
    found.save(tmp_path / "kept")
    assert nearly.open(tmp_path / "kept").around == found.around
    assert found.at(0.9).around is None  # what lies next to another threshold is not known


def test_a_clean_copy_is_saved_and_opened(table: Path, tmp_path: Path) -> None:
    clean = nearly.dedup(table)
    clean.save(tmp_path / "kept")
    again = nearly.open(tmp_path / "kept")
    assert isinstance(again, nearly.Deduplicated)
    assert again.removed.equals(clean.removed)
    assert again.kept.equals(clean.kept)


def test_objects_have_to_be_given_again(tmp_path: Path) -> None:
    nearly.find(TEXTS).save(tmp_path / "kept")
    nearly.dedup(TEXTS).save(tmp_path / "clean")
    with pytest.raises(EngineError, match="source="):
        nearly.open(tmp_path / "kept").text(0)
    assert nearly.open(tmp_path / "kept", source=TEXTS).text(2) == TEXTS[2]
    clean = nearly.open(tmp_path / "clean", source=TEXTS)
    assert clean.kept["text"].to_pylist() == [TEXTS[0], TEXTS[2]]  # type: ignore[union-attr]


def test_a_source_that_changed_is_refused(table: Path, tmp_path: Path) -> None:
    nearly.find(table).save(tmp_path / "kept")
    table.write_text("id,text\na,new\nb,newer\n")
    with pytest.raises(SourceError, match="changed after"):
        nearly.open(tmp_path / "kept").text("a")


def test_a_result_is_saved_whole_or_not_at_all(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = nearly.find(table)
    found.save(tmp_path / "kept")
    with pytest.raises(SinkError, match="exists"):
        found.save(tmp_path / "kept")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("nearly.result_folder._digest", lambda _: 1 / 0)
    for folder, force in (("kept", True), ("new", False)):
        with pytest.raises(ZeroDivisionError):
            found.save(tmp_path / folder, force=force)
    monkeypatch.undo()
    assert sorted(tmp_path.rglob("*")) == before
    found.save(tmp_path / "kept", force=True)
    assert sorted(tmp_path.rglob("*")) == before
    nearly.open(tmp_path / "kept")


def test_a_folder_of_others_is_never_replaced(table: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(SinkError, match="not a saved result"):
        nearly.find(table).save(tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


def test_what_is_no_unharmed_result_is_refused(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with pytest.raises(MissingError, match=r"no result\.json"):
        nearly.open(folder)
    nearly.find(table).save(folder)
    page, pairs = folder / "result.json", folder / "pairs.arrow"
    whole = json.loads(page.read_text())
    for change, error, message in (
        ({"version": 99}, SourceError, "version 99"),
        ({"format": "something"}, SourceError, "not a saved result"),
        ({"kind": "deduplicated"}, UnreadableError, "checksum"),
    ):
        page.write_text(json.dumps(whole | change))
        with pytest.raises(error, match=message):
            nearly.open(folder)
    page.write_text(json.dumps(whole))
    pairs.write_bytes(pairs.read_bytes()[:-1] + b"x")
    with pytest.raises(UnreadableError, match=r"pairs\.arrow.*checksum"):
        nearly.open(folder)
    page.write_text("{")
    with pytest.raises(UnreadableError, match="damaged"):
        nearly.open(folder)


def _sign(folder: Path, **changed: object) -> None:
    """Make the sums of a saved result fit, as a stranger can."""
    members = json.loads((folder / "result.json").read_text()) | changed
    del members["sha256"]
    for name, facts in dict(members.get("tables", {})).items():
        facts["sha256"] = hashlib.sha256((folder / f"{name}.arrow").read_bytes()).hexdigest()
    signed = hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()
    (folder / "result.json").write_text(json.dumps(members | {"sha256": signed}))


def test_sums_that_fit_are_no_proof(table: Path, tmp_path: Path) -> None:
    nearly.find(table, threshold=0.5).save(tmp_path / "saved")
    file = tmp_path / "saved" / "pairs.arrow"
    offsets = pa.array([0, 900, 4], pa.int32()).buffers()[1]
    broken = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"some"))
    with pa.ipc.new_file(file, pa.schema([("id_a", pa.string())])) as writer:
        writer.write_batch(pa.record_batch([broken], names=["id_a"]))
    _sign(tmp_path / "saved")
    with pytest.raises(UnreadableError, match=r"pairs\.arrow is no table as nearly saves it"):
        nearly.open(tmp_path / "saved")
    file.write_bytes(b"ARROW1 and so on")
    _sign(tmp_path / "saved")
    with pytest.raises(UnreadableError, match="is no table as nearly saves it"):
        nearly.open(tmp_path / "saved")


@pytest.mark.parametrize(
    "changed",
    [
        {"tables": {}},
        {"statistics": None},
        {"statistics": {"documents": 3}},
        {"settings": {"threshold": "high"}},
        {"settings": 7},
        {"origin": {"given": "x", "more": 1}},
    ],
)
def test_members_of_another_shape_are_refused(
    table: Path, tmp_path: Path, changed: dict[str, object]
) -> None:
    nearly.find(table, threshold=0.5).save(tmp_path / "saved")
    _sign(tmp_path / "saved", **changed)
    with pytest.raises(UnreadableError, match="is no result as nearly saves it"):
        nearly.open(tmp_path / "saved")


def test_a_plan_is_made_checked_and_applied(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "one.txt").write_text(LONG)
    (folder / "two.txt").write_text(LONG)
    plan = nearly.plan(folder, keep="last")
    assert repr(plan) == f"Plan: 1 file of {folder} to remove ({len(LONG)} bytes)"
    save_plan(plan, tmp_path / "plan.json")
    assert load_plan(tmp_path / "plan.json") == plan
    assert [decision.outcome for decision in check_plan(plan)] == ["remove"]
    apply_plan(plan)
    assert [path.name for path in folder.iterdir()] == ["two.txt"]
    with pytest.raises(SettingsError, match="folder"):
        nearly.dedup(TEXTS).plan()


@pytest.mark.parametrize(
    ("source", "kind"), [([{1, 2}, {1, 3}], "items"), (np.eye(2), "vectors")], ids=str
)
def test_only_of_texts_the_kind_of_difference_is_told(source: Any, kind: str) -> None:
    with pytest.raises(SettingsError, match=f"holds {kind}; leave it out"):
        nearly.find(source, difference=True)
