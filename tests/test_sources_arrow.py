"""Arrow data of strangers: checked in full before it is read."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sources_reading import documents

from nearly.errors import NearlyError, UnreadableError
from nearly.sources import Skipped, open_source

LONG = "a text that is too long to lie inside of a view"


def with_bytes(array: pa.Array, buffer: int, start: int, data: bytes) -> pa.Array:
    """The same array with some bytes of a buffer overwritten."""
    buffers = array.buffers()
    changed = bytearray(buffers[buffer].to_pybytes())
    changed[start : start + len(data)] = data
    buffers[buffer] = pa.py_buffer(bytes(changed))
    return pa.Array.from_buffers(array.type, len(array), buffers)


def number(value: int) -> bytes:
    return np.int32(value).tobytes()


BROKEN = {
    "view length": with_bytes(pa.array([LONG, "x"], pa.string_view()), 1, 0, number(10**9)),
    "view buffer": with_bytes(pa.array([LONG, "x"], pa.string_view()), 1, 8, number(7)),
    "offset": with_bytes(pa.array([LONG, "x"]), 1, 4, number(10**9)),
    "falling offset": with_bytes(pa.array([LONG, "x"]), 1, 4, number(-5)),
    "large offset": with_bytes(pa.array([LONG, "x"], pa.large_string()), 1, 8, number(10**9)),
    "dictionary index": pa.DictionaryArray.from_arrays(
        pa.array([0, 100], pa.int8()), pa.array(["a"]), safe=False
    ),
    "dictionary UTF-8": pa.DictionaryArray.from_arrays(
        pa.array([0, 0], pa.int8()), with_bytes(pa.array(["abc"]), 2, 1, b"\xff")
    ),
}


def forms(table: pa.Table, folder: Path) -> list[object]:
    """The same data as a table, a stream and both kinds of files."""

    class Stranger:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    found: list[object] = [table, Stranger()]
    for name, new in (("a.arrow", ipc.new_file), ("b.arrow", ipc.new_stream)):
        with new(folder / name, table.schema) as writer:
            writer.write_table(table)
        found.append(folder / name)
    return found


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("column", ["text", "extra"])
def test_broken_data_is_an_error(tmp_path, name, column):
    columns = {"text": pa.array(["a", "b"]), column: BROKEN[name]}
    tried = forms(pa.table(columns), tmp_path)
    for given_form in tried:
        with pytest.raises(UnreadableError, match=column):
            documents(open_source(given_form, text="text", temporary=tmp_path))
    assert len(tried) == 4


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_string_that_is_not_utf_8_costs_its_row_alone(tmp_path, kind):
    data = [b"a", b"\xff\xfe", None, LONG.encode() + b"\xff", "é".encode()]
    raw = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    array = pa.array(data, raw.get(kind, pa.binary_view())).view(kind)
    expected = [("row 1", "not valid UTF-8"), ("row 2", "null text"), ("row 3", "not valid UTF-8")]
    for given_form in forms(pa.table({"text": array, "n": range(5)}), tmp_path):
        source = open_source(given_form, temporary=tmp_path)
        found, skipped = documents(source)
        assert [(d["row"], d["text"]) for d in found] == [(0, "a"), (4, "é")]
        assert skipped == expected
        block_skipped = Skipped()
        blocks = source.blocks(2**20)
        texts = [
            text
            for block in blocks
            for batch in block.documents(block_skipped)
            for text in batch["text"].to_pylist()
        ]
        assert texts == ["a", "é"]
        assert block_skipped.to_list() == expected


def test_a_bad_string_in_another_column_does_not_matter(tmp_path):
    extra = pa.array([b"\xff", b"x"]).view(pa.string())
    table = pa.table({"text": ["a", "b"], "extra": extra})
    source = open_source(table, text="text", temporary=tmp_path)
    assert [d["text"] for d in documents(source)[0]] == ["a", "b"]
    kept = pa.Table.from_batches(source.kept(np.empty(0, np.int64))())
    assert kept["extra"].combine_chunks().view(pa.binary()).to_pylist() == [b"\xff", b"x"]


def test_names_that_are_not_utf_8_are_an_error(tmp_path):
    with ipc.new_file(tmp_path / "a.arrow", pa.schema([("namename", pa.string())])):
        pass
    data = (tmp_path / "a.arrow").read_bytes()
    (tmp_path / "a.arrow").write_bytes(data.replace(b"namename", b"name\xff\xfe\xfd\xfc"))
    with pytest.raises(UnreadableError, match="not valid UTF-8"):
        open_source(tmp_path / "a.arrow", temporary=tmp_path)


def test_a_bad_length_does_not_crash_the_process(tmp_path):
    table = pa.table({"text": BROKEN["view length"]})
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    command = [sys.executable, "-m", "nearly", "find", str(tmp_path / "a.arrow")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1


TABLE = pa.table(
    {
        "text": pa.array([LONG, "two", "three é"], pa.string_view()),
        "d": pa.array(["a", "b", "a"]).dictionary_encode(),
        "n": [[1, 2], [], None],
        "s": [{"a": 1}, None, {"a": 2}],
    }
)
OUTCOMES: set[str] = set()


@settings(max_examples=300)
@given(
    place=st.floats(0, 1, exclude_max=True),
    data=st.sampled_from([b"\0", b"\xff", b"\x80", b"\xff\xff\xff\x7f", b"\0\0\0\0"]),
    new=st.sampled_from([ipc.new_file, ipc.new_stream]),
    column=st.sampled_from(["text", "d"]),
)
def test_damaged_files_are_read_or_refused(tmp_path_factory, place, data, new, column):
    folder = tmp_path_factory.getbasetemp()
    path = folder / "damaged.arrow"
    with new(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
    damaged = bytearray(path.read_bytes())
    start = int(place * len(damaged))
    damaged[start : start + len(data)] = data
    path.write_bytes(damaged)
    try:
        source = open_source(path, text=column, temporary=folder)
        kept = source.kept(np.empty(0, np.int64))
        assert len(documents(source)[0]) <= sum(batch.num_rows for batch in kept())
        OUTCOMES.add("read")
    except NearlyError:
        OUTCOMES.add("refused")


def test_some_damaged_files_were_read_and_some_refused():
    assert {"read", "refused"} == OUTCOMES


def test_a_column_whose_name_is_not_utf_8_is_an_error(tmp_path):
    path = tmp_path / "named.parquet"
    pq.write_table(pa.table({"text": ["a"], "quux": ["b"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"quux", b"\xff\xff\xff\xff"))
    with pytest.raises(UnreadableError, match="the name of a column is not UTF-8"):
        open_source(path, temporary=tmp_path)
