"""An index whose segments were written part by part answers as one that was made at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import needs_java
from engines import frame_of, session
from test_index import near_copies

import nearly
from nearly.arguments import Running
from nearly.engines.local.parts import LocalParts
from nearly.errors import SettingsError, SinkError, UnreadableError
from nearly.index import addition, merge_policy, parted, parted_segment
from nearly.index.directory import DiskDirectory
from nearly.index.making import Making
from nearly.run import reopened
from nearly.sources import Skipped

MADE: dict[str, Any] = {"threshold": 0.6, "seed": 7}
#: What goes wrong with a corpus: copies in other parts, ids that repeat, nothing in it, no text.
NASTY = ["", "  ", "a", "A", None]


def corpus(count: int, seed: int = 1, *, repeats: bool = True) -> pa.Table:
    """Ids repeat in other parts, and what has one of these is the first of a text elsewhere."""
    texts = [*near_copies(count, seed).values(), *NASTY]
    ids = [f"n{i % (len(texts) - 9)}" if repeats else f"n{i}" for i in range(len(texts))]
    return pa.table({"id": ids, "text": texts})


def in_parts(place: Path, table: pa.Table, size: int, **options: Any) -> Skipped:
    """Make an index of parts that hold about `size` bytes of text, one after the other."""
    skipped = Skipped()
    texts = options.pop("texts", True)
    source = reopened(table, Running(id="id" if "id" in table.schema.names else None))
    folder = place.parent / "parts"
    folder.mkdir()
    parts = LocalParts([source], folder, size, skipped, None)
    making = Making.of({**MADE, **options}, source, texts=texts)
    parted.create_in_parts(place, making, source, parts, skipped)
    assert list(folder.iterdir()) == []
    folder.rmdir()
    return skipped


def same_answers(one: nearly.Index, other: nearly.Index, table: pa.Table) -> None:
    assert len(one) == len(other)
    assert one.check().is_sound
    for text in {text for text in table["text"].to_pylist() if text}:
        assert one.query(text) == other.query(text)
        assert one.query(text, k=3) == other.query(text, k=3)
    if one.keeps_texts:
        assert one.clusters() == other.clusters()
        ids = {name for name, _ in one.query(table["text"][0].as_py())}
        assert all(one.text(name) == other.text(name) for name in ids)


@pytest.mark.parametrize(
    ("size", "more"),
    [
        (1, {}),
        (400, {"measure": "containment", "k": 4}),
        (3_000, {"texts": False}),
        (400, {"bag": True}),
        (10**6, {"k": 4}),
    ],
)
def test_parts_answer_as_the_whole(tmp_path: Path, size: int, more: dict[str, Any]) -> None:
    folder, options = tmp_path, {**MADE, **more}
    table = corpus(60, seed=size)
    with patch.object(merge_policy, "SMALLEST", 8):
        skipped = in_parts(folder / "parted", table, size, **options)
        with (
            nearly.Index.create(folder / "whole", table, **options) as whole,
            nearly.Index.open(folder / "parted") as index,
        ):
            assert sorted(skipped.to_list()) == sorted(map(tuple, rows_of(whole.skipped)))
            assert len(skipped) == 9
            same_answers(index, whole, table)
            assert len(merge_policy.at_once(sizes_of(index))) == 0
            later = {"later": table["text"][3].as_py()}
            assert index.add(later).seen == whole.add(later).seen
            assert index.clusters() == whole.clusters() if index.keeps_texts else True


def rows_of(skipped: pa.Table) -> list[list[str]]:
    return [list(row.values()) for row in skipped.to_pylist()]


def sizes_of(index: nearly.Index) -> list[merge_policy.Size]:
    segments = index._store.state.segments.values()
    return [merge_policy.Size(written.documents, 0) for written in segments]


def test_rows_without_ids_are_numbered_through_all_parts(tmp_path: Path) -> None:
    table = corpus(40).select(["text"])
    in_parts(tmp_path / "parted", table, 300)
    with (
        nearly.Index.create(tmp_path / "whole", table, **MADE) as whole,
        nearly.Index.open(tmp_path / "parted") as index,
    ):
        same_answers(index, whole, table)
        assert index.add(["one more"]).added == whole.add(["one more"]).added == 1
        assert [n in index for n in range(50)] == [n in whole for n in range(50)]


def test_of_nothing_comes_an_empty_index(tmp_path: Path) -> None:
    in_parts(tmp_path / "parted", pa.table({"id": ["x"], "text": pa.array([None], "string")}), 9)
    with nearly.Index.open(tmp_path / "parted") as index:
        assert (len(index), index.stats().segments, index.id_kind) == (0, 0, None)
        assert index.add({1: "a number may name the first document"}).added == 1


def test_a_step_that_runs_twice_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = parted_segment._write

    def twice(*given: Any, **shared: Any) -> Any:
        write(*given, **shared)
        return write(*given, **shared)

    monkeypatch.setattr(parted_segment, "_write", twice)
    in_parts(tmp_path / "seen", corpus(40), 300)
    with nearly.Index.open(tmp_path / "seen", read_only=True) as index:
        names = {written.name for written in index._store.state.segments.values()}
        assert DiskDirectory(tmp_path / "seen").names() == sorted(names)
        assert len(names) > 1


@pytest.mark.parametrize("at", [0, 2, 5])
def test_a_step_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(merge_policy, "SMALLEST", 8)
    put, calls = parted_segment._put, iter(range(100))

    def failing(*given: Any) -> Any:
        if next(calls) == at:
            raise UnreadableError("the disk fell off")
        return put(*given)

    monkeypatch.setattr(parted_segment, "_put", failing)
    with pytest.raises(UnreadableError, match="fell off"):
        in_parts(tmp_path / "seen", corpus(40), 700)
    assert [each.name for each in tmp_path.iterdir()] == ["parts"]


def test_a_machine_that_sees_another_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parted, "make", lambda *_: None)  # as where nobody shares the folder
    with pytest.raises(SinkError, match="a folder that all machines share"):
        in_parts(tmp_path / "seen", corpus(40), 700)


@pytest.mark.parametrize(
    ("place", "source", "said"),
    [
        ("seen", None, "needs no Spark"),
        ("postgresql://h/b", {"a": "text"}, "name a folder that all of them share"),
        ("full", {"a": "text"}, "is there already"),
        ("no/where", {"a": "text"}, "there is no folder"),
    ],
)
def test_what_cannot_be_made_is_told_before_a_session_is_opened(
    tmp_path: Path, place: str, source: Any, said: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    named = place if "://" in place else tmp_path / place
    with (
        patch("nearly.run._session_and_source", side_effect=AssertionError),
        pytest.raises(nearly.NearlyError, match=said),
    ):
        nearly.Index.create(named, source, engine="spark")


@contextmanager
def small_merges() -> Iterator[None]:
    with patch.object(merge_policy, "SMALLEST", 16), patch.object(addition, "PENDING", 4):
        yield


@needs_java
def test_spark_makes_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file, and of a frame without ids; and a task that fails leaves nothing behind."""
    session()
    table = corpus(120)
    pq.write_table(table, tmp_path / "corpus.parquet", row_group_size=20)
    monkeypatch.setattr("nearly.engines.spark.block.LEAST_BLOCK", 100)
    with (
        small_merges(),
        nearly.Index.create(tmp_path / "whole", tmp_path / "corpus.parquet", **MADE) as whole,
        nearly.Index.create(
            tmp_path / "seen", tmp_path / "corpus.parquet", engine="spark", **MADE
        ) as index,
    ):
        assert sorted(rows_of(index.skipped)) == sorted(rows_of(whole.skipped))
        assert index.skipped_count == 9
        same_answers(index, whole, table)
    numbered = table.select(["text"])
    with (
        nearly.Index.create(tmp_path / "rows", numbered, **MADE) as whole,
        nearly.Index.create(
            tmp_path / "frame", frame_of(numbered, 3), text="text", **MADE
        ) as index,
    ):
        same_answers(index, whole, numbered)
        assert index.add(["and one more"]).added == whole.add(["and one more"]).added
        assert [n in index for n in range(140)] == [n in whole for n in range(140)]
    before = sorted(tmp_path.iterdir())
    write = parted_segment._write

    def failing(number: int, *given: Any, plan: parted_segment.Plan) -> Any:
        wrote = write(number, *given, plan=plan)
        if number == 1:
            raise SettingsError("this task failed")
        return wrote

    monkeypatch.setattr(parted_segment, "_write", failing)
    with pytest.raises(SettingsError, match="this task failed"):
        nearly.Index.create(tmp_path / "other", tmp_path / "corpus.parquet", engine="spark")
    assert sorted(tmp_path.iterdir()) == before
