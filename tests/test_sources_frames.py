"""Python objects as sources: lists, dicts, pandas, polars and Arrow."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sources_reading import assert_rows_match, documents, ids_and_texts, rows

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
        pd.DataFrame(DATA),
        pd.DataFrame(DATA, index=[7, 8]),
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
