"""Python objects as sources: lists, dicts, pandas, polars and Arrow."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sources_reading import assert_rows_match, documents, ids_and_texts, rows

import nearly
from nearly.errors import SourceError
from nearly.sources import Skipped, open_source, part


@pytest.fixture
def opened(tmp_path):
    """`open_source` with a folder for temporary files."""
    return lambda given, **options: open_source(given, temporary=tmp_path, **options)


DATA = {"id": [3, 1], "text": ["a", "b é"]}


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(DATA),
        pa.record_batch(DATA),
        pa.RecordBatchReader.from_batches(pa.table(DATA).schema, pa.table(DATA).to_batches()),
        pd.DataFrame({"text": DATA["text"]}, index=pd.Index(DATA["id"], name="id")),
        pl.DataFrame(DATA),
        pl.LazyFrame(DATA),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_frames_can_be_read_twice(opened, frame):
    source = opened(frame)
    for _ in range(2):
        assert ids_and_texts(source) == [(3, "a"), (1, "b é")]
    assert sorted(source.columns) == ["id", "text"]
    assert source.id_type == pa.int64()
    assert not source.ids_are_unique
    assert_rows_match(source)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None]),
        pa.array(["a", None], pa.large_string()),
        pa.array(["a", None], pa.string_view()),
        pa.array(["a", None]).dictionary_encode(),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pa.chunked_array([["a"], [None]]),
        ["a", None],
        ("a", None),
    ],
    ids=lambda column: type(column).__name__,
)
def test_strings_of_every_kind_become_large_strings(opened, column):
    source = opened(column)
    batches = list(source.documents(Skipped()))
    assert {batch.schema.field("text").type for batch in batches} == {pa.large_string()}
    assert documents(source) == ([{"row": 0, "id": 0, "text": "a"}], [("row 1", "null text")])
    assert source.ids_are_unique
    assert [row["text"] for row in rows(source)] == ["a", None]


def test_rows_keep_the_types_of_a_frame(opened):
    table = pa.table({"text": pa.array(["a"]).dictionary_encode(), "n": pa.array([1], pa.int8())})
    assert next(opened(table).kept(np.empty(0, np.int64))()).schema == table.schema


def test_rows_can_be_filtered_where_arrow_cannot_filter_views(opened):
    views = pa.array(["a", "b"], pa.string_view())
    table = pa.table([views, views, views.cast(pa.binary_view())], names=["text", "x", "x"])
    kept = list(opened(table).kept(np.array([0]))())
    assert [column.to_pylist() for column in kept[0].columns] == [["b"], ["b"], [b"b"]]


def test_large_frames_come_in_batches(opened, monkeypatch):
    monkeypatch.setattr(part, "BATCH_ROWS", 10)
    for given in ([str(i) for i in range(25)], pa.table({"text": [str(i) for i in range(25)]})):
        source = opened(given)
        assert [batch.num_rows for batch in source.documents(Skipped())] == [10, 10, 5]
        assert ids_and_texts(source) == [(i, str(i)) for i in range(25)]


def test_a_stream_of_unknown_origin_is_written_down_once(opened):
    class Stream:
        def __init__(self):
            self._reader = pa.table(DATA).to_reader()

        def __arrow_c_stream__(self, requested_schema=None):
            return self._reader.__arrow_c_stream__(requested_schema)

    source = opened(Stream())
    assert ids_and_texts(source) == ids_and_texts(source) == [(3, "a"), (1, "b é")]


class TestDict:
    def test_keys_are_ids(self, opened):
        source = opened({"x": "a", "y": "b"})
        assert ids_and_texts(source) == [("x", "a"), ("y", "b")]
        assert source.ids_are_unique
        assert source.columns == ("id", "text")
        assert opened({5: "a"}).id_type == pa.int64()

    @pytest.mark.parametrize("given", [{1: "a", "1": "b"}, {2**70: "a"}, {("a",): "a"}])
    def test_other_keys_are_refused(self, opened, given):
        with pytest.raises(SourceError, match="dict"):
            opened(given)

    def test_null_texts_are_listed(self, opened):
        assert documents(opened({"x": None}))[1] == [("row 0", "null text")]


class TestList:
    def test_lone_surrogates_are_listed(self, opened):
        found, skipped = documents(opened(["a", "\ud800", None, "b"]))
        assert [(d["row"], d["text"]) for d in found] == [(0, "a"), (3, "b")]
        assert skipped == [("row 1", "holds a lone surrogate"), ("row 2", "null text")]

    def test_of_other_things_is_refused(self, opened):
        with pytest.raises(SourceError, match=r"element 1 of the list is a int"):
            list(opened(["a", 1]).documents(Skipped()))

    def test_may_be_empty(self, opened):
        assert documents(opened([])) == ([], [])


@pytest.mark.parametrize("given", [42, b"bytes", object(), None])
def test_other_objects_are_refused(opened, given):
    with pytest.raises(SourceError, match="Give a path"):
        opened(given)


def test_a_frame_of_mixed_types_is_refused(opened):
    with pytest.raises(SourceError, match="values of one type"):
        opened(pd.DataFrame({"text": ["a", 1]}))


class TestPandasIndex:
    """Ids are the labels by which `frame.loc` finds the rows."""

    FRAME = pd.DataFrame({"id": [9, 8, 7, 6], "text": ["a", "b", "c", "d"]})

    @pytest.mark.parametrize(
        "frame",
        [
            FRAME,
            FRAME[1:],
            FRAME[::2],
            FRAME[FRAME.text != "b"],
            FRAME.sample(4, random_state=1),
            FRAME.set_index(pd.Index(["w", "x", "y", "z"])),
            FRAME.set_index(pd.RangeIndex(1, 5, name="id")),
            FRAME.set_index("id"),
            FRAME.set_index(pd.Index(["w", "x", "y", "z"], dtype="category", name="who")),
        ],
    )
    def test_names_the_documents(self, opened, frame):
        found = ids_and_texts(opened(frame))
        assert len(found) == len(frame) > 0
        assert [frame.loc[label].text for label, _ in found] == [text for _, text in found]

    def test_comes_back_with_the_rows_that_stay(self, opened):
        frame = self.FRAME[1:3]
        source = opened(frame)
        assert pa.Table.from_batches(
            source.kept(np.empty(0, np.int64))()
        ).to_pandas().index.tolist() == [1, 2]

    def test_of_a_series_too(self, opened):
        assert ids_and_texts(opened(self.FRAME.text[2:])) == [(2, "c"), (3, "d")]

    def test_gives_way_to_a_column_that_is_named(self, opened):
        assert [label for label, _ in ids_and_texts(opened(self.FRAME[1:], id="id"))] == [8, 7, 6]
        named = self.FRAME[1:].rename_axis("row")
        assert [label for label, _ in ids_and_texts(opened(named, id="row"))] == [1, 2, 3]

    def test_of_several_levels_is_refused(self, opened):
        frame = self.FRAME.set_index(["id", "text"], drop=False).rename_axis([None, None])
        with pytest.raises(SourceError, match="index of the DataFrame has 2 levels"):
            opened(frame)
        assert len(ids_and_texts(opened(frame, id="id"))) == 4

    def test_is_found_by_a_whole_run(self):
        texts = ["one long enough text to compare", "another thing, and quite another one"] * 2
        frame = pd.DataFrame({"text": ["left out", *texts]})[1:]
        found = nearly.find(frame, threshold=0.9)
        first = frame.loc[found.pairs["id_a"].to_pylist()].text.tolist()
        second = frame.loc[found.pairs["id_b"].to_pylist()].text.tolist()
        assert first == second == texts[:2]


def test_pandas_columns_of_one_name_are_refused(opened):
    frame = pd.DataFrame([["a", "b"]], columns=["text", "text"])
    for options in ({}, {"id": "text"}):
        with pytest.raises(SourceError, match="several columns of the DataFrame are called 'text'"):
            opened(frame, **options)


class TestNamesOfFiles:
    def test_in_a_list_are_an_error_that_shows_both_ways(self, opened, tmp_path):
        names = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
        for name in names:
            Path(name).write_text(f"what {name} says")
        with pytest.raises(SourceError, match=r"\[Path\(name\).*nearly\.texts\(names\)"):
            opened(names)
        assert ids_and_texts(opened(nearly.texts(names))) == list(enumerate(names))
        read = ids_and_texts(opened([Path(name) for name in names]))
        assert [text for _, text in read] == [f"what {name} says" for name in names]

    def test_among_texts_are_texts(self, opened, tmp_path):
        (tmp_path / "a").write_text("x")
        given = [str(tmp_path / "a"), "no file", "\0", "x" * 5000]
        assert [text for _, text in ids_and_texts(opened(given))] == given

    def test_texts_are_several(self):
        with pytest.raises(SourceError, match="list of strings"):
            nearly.texts("one")
