"""Clean copies of Parquet and Arrow: the types, the metadata and the codecs of the input."""

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearly
from nearly.sinks import Outputs
from nearly.sinks.clean_copy import write_copy
from nearly.sources import Skipped, open_source
from nearly.sources.formats.arrow_codec import codec_of

DAY = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
FIELDS = {
    "id": pa.array([1, 2, 3, 4], pa.int16()),
    "text": pa.array(["a", None, "c", "d"], pa.string()),
    "kind": pa.array(["x", "y", "x", "x"]).dictionary_encode(),
    "when": pa.array([DAY, None, DAY, DAY], pa.timestamp("us", "Europe/Berlin")),
    "nested": pa.array(
        [{"a": [1, 2], "b": "é"}, None, {"a": [], "b": None}, {"a": None, "b": ""}],
        pa.struct([("a", pa.list_(pa.int32())), ("b", pa.large_string())]),
    ),
    "map": pa.array([[("k", 1)], [], None, [("l", 2)]], pa.map_(pa.string(), pa.int8())),
    "amount": pa.array([None, 1, 2, 3], pa.decimal128(20, 3)),
    "bytes": pa.array([b"\0", b"", None, b"\xff"]),
}
SCHEMA = pa.schema(
    [pa.field(name, column.type, metadata={"unit": name}) for name, column in FIELDS.items()],
    metadata={"pandas": '{"index_columns": []}', "owner": "somebody"},
)
TABLE = pa.table(list(FIELDS.values()), schema=SCHEMA)


def copy_without(paths: list[Path], removed: list[int], target: Path, **options) -> None:
    temporary = target.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    source = open_source(paths, temporary=temporary, text="text")
    list(source.documents(Skipped()))
    with Outputs() as outputs:
        write_copy(outputs, source.kept(np.array(removed, np.int64)), target, **options)


def write_arrow(path: Path, table: pa.Table, *, stream: bool = False, codec: str | None = None):
    new = ipc.new_stream if stream else ipc.new_file
    options = ipc.IpcWriteOptions(compression=codec)
    with new(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)


class TestParquet:
    def test_keeps_schema_metadata_codecs_and_groups(self, tmp_path):
        codecs = dict.fromkeys(SCHEMA.names, "gzip") | {"text": "snappy"}
        pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=2, compression=codecs)
        copy_without([tmp_path / "a.parquet"], [0], tmp_path / "b.parquet")
        made = pq.ParquetFile(tmp_path / "b.parquet")
        given = pq.ParquetFile(tmp_path / "a.parquet").schema_arrow
        assert given.metadata == SCHEMA.metadata
        assert made.schema_arrow.equals(given, check_metadata=True)
        assert made.read() == TABLE.slice(1)
        group = made.metadata.row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        assert {c.path_in_schema: c.compression for c in columns}["text"] == "SNAPPY"
        assert {c.path_in_schema: c.compression for c in columns}["id"] == "GZIP"
        rows = [made.metadata.row_group(i).num_rows for i in range(made.num_row_groups)]
        assert rows == [1, 2]

    def test_without_any_row_is_a_file_too(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "a.parquet")
        copy_without([tmp_path / "a.parquet"], [0, 1, 2, 3], tmp_path / "b.parquet")
        assert pq.read_table(tmp_path / "b.parquet").equals(TABLE.slice(0, 0))

    def test_files_of_one_schema_become_one(self, tmp_path):
        for name in ("a", "b"):
            pq.write_table(TABLE, tmp_path / f"{name}.parquet")
        paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
        copy_without(paths, [0, 7], tmp_path / "c.parquet")
        expected = pa.concat_tables([TABLE.slice(1), TABLE.slice(0, 3)])
        assert pq.read_table(tmp_path / "c.parquet").equals(expected)

    def test_the_source_of_a_row_can_come_along(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "a.parquet")
        copy_without([tmp_path / "a.parquet"], [1], tmp_path / "b.parquet", source_column="file")
        made = pq.read_table(tmp_path / "b.parquet")
        assert made.column("file").to_pylist() == [str(tmp_path / "a.parquet")] * 3
        given = pq.read_schema(tmp_path / "a.parquet")
        assert made.drop_columns("file").schema.equals(given, check_metadata=True)

    def test_in_python_the_schema_is_that_of_the_source(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "a.parquet")
        kept = nearly.dedup(tmp_path / "a.parquet", text="text").kept
        given = pq.read_schema(tmp_path / "a.parquet")
        assert kept.schema.equals(given, check_metadata=True)
        assert kept.equals(TABLE)


class TestArrow:
    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
    def test_keeps_schema_metadata_codec_and_batches(self, tmp_path, stream, codec):
        write_arrow(tmp_path / "a.arrow", TABLE, stream=stream, codec=codec)
        copy_without([tmp_path / "a.arrow"], [0], tmp_path / "b.arrow")
        with (ipc.open_stream if stream else ipc.open_file)(str(tmp_path / "b.arrow")) as made:
            assert made.schema.equals(TABLE.schema, check_metadata=True)
            assert made.read_all() == TABLE.slice(1)
        assert codec_of(str(tmp_path / "b.arrow"), is_stream=stream) == codec

    def test_views_stay_views(self, tmp_path):
        table = pa.table({"text": pa.array(["a", "b", "a longer one than that"], pa.string_view())})
        write_arrow(tmp_path / "a.arrow", table)
        copy_without([tmp_path / "a.arrow"], [1], tmp_path / "b.arrow")
        with ipc.open_file(str(tmp_path / "b.arrow")) as made:
            assert made.schema == table.schema
            assert made.read_all().to_pydict() == {"text": ["a", "a longer one than that"]}


@settings(max_examples=40, deadline=None)
@given(rows=st.integers(0, 30), group=st.integers(1, 9), size=st.integers(1, 9), data=st.data())
def test_shards_hold_the_rows_that_stay_in_order(tmp_path_factory, rows, group, size, data):
    folder = tmp_path_factory.mktemp("shards")
    removed = [n for n in range(rows) if data.draw(st.booleans())]
    table = pa.table({"text": [f"t{n}" for n in range(rows)]}, pa.schema([("text", pa.string())]))
    pq.write_table(table, folder / "a.parquet", row_group_size=group)
    copy_without([folder / "a.parquet"], removed, folder / "clean", shard_rows=size)
    shards = [pq.read_table(path) for path in sorted((folder / "clean").iterdir())]
    assert all(shard.num_rows == size for shard in shards[:-1])
    found = pa.concat_tables(shards).column("text").to_pylist()
    assert found == [f"t{n}" for n in range(rows) if n not in removed]
