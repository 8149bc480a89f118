"""New documents against an index find what new documents against all its documents find."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import relatives
from click.testing import CliRunner
from clusters import needs_java
from engines import frame_of, session
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly.cli.dedup import dedup as dedup_command
from nearly.cli.find import find as find_command
from nearly.errors import SettingsError, SinkError, SourceError
from nearly.index import addition, merge_policy
from nearly.index.catalogue import Catalogue
from nearly.sinks.output import Outputs

MADE: dict[str, Any] = {"threshold": 0.6, "k": 4, "seed": 7}


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addition, "PENDING", 4)
    monkeypatch.setattr(merge_policy, "SMALLEST", 4)


def sides(seed: int) -> tuple[pa.Table, pa.Table]:
    table = relatives.corpus(seed, chains=4, crowds=3).select(["id", "text"])
    middle = table.num_rows // 2
    return table.slice(0, middle).combine_chunks(), table.slice(middle).combine_chunks()


def grown(place: Path, old: pa.Table, parts: int, **made: Any) -> None:
    """An index of these documents that came in parts, and of others that went again."""
    with nearly.Index.create(place, **{**MADE, **made}) as index:
        index.add({"gone": old["text"][0].as_py() or "text", "gone too": "other words"})
        size = -(-old.num_rows // parts)
        for first in range(0, old.num_rows, size):
            index.add(old.slice(first, size), report=False)
        index.remove(["gone", "gone too"])


@settings(max_examples=6)
@given(
    seed=st.integers(0, 10_000),
    parts=st.integers(1, 5),
    all_pairs=st.booleans(),
    more=st.sampled_from([{}, {"bands": 3, "rows": 5}, {"measure": "containment"}]),
)
def test_the_pairs_are_those_with_all_documents(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    parts: int,
    all_pairs: bool,
    more: dict[str, Any],
) -> None:
    """Also where few bands miss many: then both miss the same."""
    old, new = sides(seed)
    made = {**MADE, **more}
    place = tmp_path_factory.mktemp("index") / "seen"
    grown(place, old, parts, **made)
    found = nearly.find(new, against=place, all_pairs=all_pairs)
    expected = nearly.find(new, against=old, all_pairs=all_pairs, method="lsh", **made)
    assert len(expected) > 5
    assert found.pairs == expected.pairs
    assert found.clusters == expected.clusters
    assert found.statistics.against == old.num_rows
    whole = nearly.find(pa.concat_tables([old, new]), all_pairs=all_pairs, method="lsh", **made)
    is_old = set(old["id"].to_pylist())
    rows = [r for r in whole.pairs.to_pylist() if r["id_a"] in is_old and r["id_b"] not in is_old]
    assert found.pairs.to_pylist() == rows
    assert len(rows) < len(whole)


@settings(max_examples=4)
@given(
    seed=st.integers(0, 10_000),
    keep=st.sampled_from(["first", "last", "longest"]),
    cluster=st.sampled_from(["components", "leader"]),
)
def test_only_new_documents_go_and_what_stays_can_be_added(
    tmp_path_factory: pytest.TempPathFactory, seed: int, keep: str, cluster: Any
) -> None:
    old, new = sides(seed)
    place = tmp_path_factory.mktemp("index") / "seen"
    grown(place, old, 2)
    with nearly.Index.open(place) as index:
        clean = nearly.dedup(new, against=index, keep=keep, cluster=cluster)
        expected = nearly.dedup(new, against=old, keep=keep, cluster=cluster, method="lsh", **MADE)
        assert clean.removed == expected.removed
        assert clean.kept == expected.kept
        assert 0 < len(clean) < new.num_rows
        assert set(clean.removed["id"].to_pylist()) <= set(new["id"].to_pylist())
        added = index.add(clean.survivors)
        assert added.added == clean.kept.num_rows
        assert all(name in index for name in clean.kept["id"].to_pylist())
        assert not any(name in index for name in clean.removed["id"].to_pylist())
        again = nearly.dedup(new, against=index)
        assert again.kept.num_rows == sum(not text.strip() for text in new["text"].to_pylist())


def test_items_and_vectors(tmp_path: Path) -> None:
    items = pa.table({"id": [1, 2, 3], "i": [["x", "y", "z"], ["u"], ["y", "x", "z"]]})
    nearly.Index.create(tmp_path / "items", items.slice(0, 2), items="i", seed=1).close()
    found = nearly.find(items.slice(2), against=tmp_path / "items", items="i")
    assert found.pairs.to_pylist() == [{"id_a": 1, "id_b": 3, "similarity": 1.0}]
    with pytest.raises(SourceError, match=r"holds texts and the index, .* items"):
        nearly.find({"a": "text"}, against=tmp_path / "items")
    vectors = np.random.default_rng(1).normal(size=(40, 8)).astype("f4")
    table = pa.table({"id": range(40), "v": list(vectors)})
    made: dict[str, Any] = {"threshold": 0.8, "seed": 2}
    nearly.Index.create(tmp_path / "vectors", table.slice(0, 20), vector="v", **made).close()
    moved = pa.table({"id": range(100, 120), "v": list(vectors[:20] + np.float32(0.05))})
    found = nearly.find(moved, against=tmp_path / "vectors", vector="v")
    whole = nearly.find(moved, against=table.slice(0, 20), vector="v", method="lsh", **made)
    assert len(found) >= 15
    assert found.pairs == whole.pairs
    longer = pa.table({"id": [1], "v": [[1.0] * 9]})
    with pytest.raises(SourceError, match="vectors of 9 numbers"):
        nearly.find(longer, against=tmp_path / "vectors", vector="v")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": 0.7}, "threshold is 0.7, and the index was made with 0.6"),
        ({"k": 5}, "k is 5, and the index was made with 4"),
        ({"unit": "word"}, "unit is 'word', and the index was made with 'char'"),
        ({"measure": "containment"}, "the index was made with 'jaccard'"),
        ({"method": "exact"}, "an index is asked by hashing"),
        ({"ignore": ["a template"]}, "ignore is"),
        ({"audit": 10}, "an index is asked by hashing"),
    ],
)
def test_other_settings_are_named(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    nearly.Index.create(tmp_path / "seen", {"a": "some words of a text"}, **MADE).close()
    with pytest.raises(SettingsError, match=said):
        nearly.find({"b": "some words of a text"}, against=tmp_path / "seen", **options)
    same = {"threshold": 0.6, "k": 4, "measure": "jaccard", "method": "lsh"}
    assert len(nearly.find({"b": "some words"}, against=tmp_path / "seen", **same)) == 0


def test_an_index_without_texts_cannot_be_compared_with(tmp_path: Path) -> None:
    nearly.Index.create(tmp_path / "seen", {"a": "some words of a text"}, texts=False).close()
    with pytest.raises(SettingsError, match="keeps no texts"):
        nearly.find({"b": "some words of a text"}, against=tmp_path / "seen")


def test_a_saved_result_reads_texts_of_the_index(tmp_path: Path) -> None:
    old, new = sides(3)
    pq.write_table(new, tmp_path / "new.parquet")
    grown(tmp_path / "seen", old, 3)
    found = nearly.find(tmp_path / "new.parquet", against=tmp_path / "seen")
    found.save(tmp_path / "found")
    with nearly.Index.open(tmp_path / "seen") as index:
        index.add({"later": "words that came later"})
        index.compact()
    again = nearly.open(tmp_path / "found")
    texts = dict(zip(*(old[name].to_pylist() for name in ("id", "text")), strict=True))
    for name in found.pairs["id_a"].to_pylist():
        assert again.text(name) == texts[name]


def run(command: Any, *arguments: Any) -> Any:
    return CliRunner().invoke(command, [str(each) for each in arguments], standalone_mode=False)


@pytest.fixture
def month(tmp_path: Path) -> Path:
    """A folder with an index, seen, and this month's documents, new.parquet."""
    old, new = sides(5)
    grown(tmp_path / "seen", old, 2, threshold=0.7)
    pq.write_table(new, tmp_path / "new.parquet")
    return tmp_path


def test_the_command_refuses_a_setting_that_is_given_as_its_default(month: Path) -> None:
    ran = run(find_command, month / "new.parquet", "--against", month / "seen", "-t", "0.8")
    assert isinstance(ran.exception, SettingsError)
    assert "threshold is 0.8, and the index was made with 0.7" in str(ran.exception)
    pairs = month / "pairs.parquet"
    ran = run(find_command, month / "new.parquet", "--against", month / "seen", "-o", pairs)
    assert ran.exception is None
    assert pq.read_table(pairs).num_rows > 5


def adding(month: Path, *more: str) -> Any:
    fresh = month / "fresh.parquet"
    return run(
        dedup_command,
        month / "new.parquet",
        "--against",
        month / "seen",
        "--add",
        "-o",
        fresh,
        *more,
    )


def documents(month: Path) -> int:
    with nearly.Index.open(month / "seen", read_only=True) as index:
        assert index.check().is_sound
        return len(index)


def test_a_clean_copy_and_the_index_change_together(month: Path) -> None:
    before = documents(month)
    assert adding(month).exception is None
    assert documents(month) == before + pq.read_table(month / "fresh.parquet").num_rows > before


def test_without_a_clean_copy_the_index_stays_as_it_was(
    month: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = documents(month)

    def fail(*_: object) -> None:
        raise SinkError("the disk is full")

    monkeypatch.setattr(Outputs, "_commit", fail)
    assert "disk is full" in str(adding(month).exception)
    assert documents(month) == before
    assert not (month / "fresh.parquet").exists()


def test_where_an_index_fails_there_is_no_copy_and_the_command_can_be_repeated(
    month: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = documents(month)

    def fail(*_: object) -> None:
        raise SinkError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Catalogue, "commit", fail)
        assert "the disk is full" in str(adding(month).exception)
    assert documents(month) == before
    assert not (month / "fresh.parquet").exists()
    assert adding(month).exception is None
    fresh = pq.read_table(month / "fresh.parquet")
    assert documents(month) == before + fresh.num_rows


def test_adding_needs_an_index(month: Path) -> None:
    ran = run(
        dedup_command, month / "new.parquet", "--against", month / "new.parquet",
        "--add", "-o", month / "x.parquet",
    )  # fmt: skip
    assert "--against names none" in str(ran.exception)


def test_numbers_that_name_documents_stay(tmp_path: Path) -> None:
    with nearly.Index.create(tmp_path / "seen", {7: "some text", 9: "other words"}) as index:
        assert 7 in index
        assert 0 not in index


def test_rows_without_a_document_are_numbered_too(tmp_path: Path) -> None:
    rows = pa.table({"text": ["one text here", None, "two texts here"]})
    with nearly.Index.create(tmp_path / "seen", rows, text="text") as index:
        assert index.add(rows, text="text").added == 2
        assert [n in index for n in range(6)] == [True, False, True, True, False, True]


@needs_java
@pytest.mark.slow
def test_spark_compares_with_an_index(tmp_path: Path) -> None:
    session()
    old, new = sides(4)
    grown(tmp_path / "seen", old, 2)
    found = nearly.find(new, against=tmp_path / "seen", engine="spark")
    assert found.to_arrow() == nearly.find(new, against=tmp_path / "seen").pairs
    of_frame = nearly.find(frame_of(new, 3), against=tmp_path / "seen", id="id", text="text")
    assert of_frame.to_arrow() == found.to_arrow()
