"""Arrow's own reader and writer of Parquet, opened without what `pyarrow.parquet` imports."""

import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearly import parquet

TABLE = pa.table(
    {
        "id": ["a", "b", None],
        "a.b": [1, 2, 3],
        "a": [{"b": 1, "c": [1, 2]}, {"b": None, "c": []}, None],
        "text": pa.array(["one", "two", "one"], pa.large_string()),
    }
)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"compression": "zstd"},
    {"version": "1.0", "use_dictionary": ["id"], "store_schema": False},
]


@pytest.fixture(params=["with", "without"])
def arrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of Arrow that has the names that are used, and one that has not."""
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "pyarrow._parquet", ModuleType("pyarrow._parquet"))


def bytes_of(options: dict[str, Any], *, by_arrow: bool) -> bytes:
    file = io.BytesIO()
    writer = pq.ParquetWriter if by_arrow else parquet.written
    with writer(file, TABLE.schema, **options) as opened:
        for _ in range(2):
            opened.write_table(TABLE, row_group_size=2)
    return file.getvalue()


@pytest.mark.usefixtures("arrow")
@pytest.mark.parametrize("options", OPTIONS)
def test_bytes_are_those_of_pyarrow_parquet(options: dict[str, Any]) -> None:
    assert bytes_of(options, by_arrow=False) == bytes_of(options, by_arrow=True)


@pytest.mark.usefixtures("arrow")
@pytest.mark.parametrize("columns", [None, ["text"], ["text", "id"], ["a"], ["a.b"], ["a", "a.b"]])
def test_rows_are_those_of_pyarrow_parquet(tmp_path: Path, columns: list[str] | None) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE, path, row_group_size=2)
    with pa.OSFile(str(path)) as raw:
        file = parquet.opened(raw, 1 << 20)
        assert file.schema_arrow == TABLE.schema
        assert file.metadata.num_row_groups == 2
        for group in range(2):
            batches = list(file.iter_batches(batch_size=1, row_groups=[group], columns=columns))
            found = pa.Table.from_batches(batches)
            wanted = pq.ParquetFile(path).read_row_group(group, columns)
            for name in columns or TABLE.schema.names:
                assert found.column(name) == wanted.column(name)
            assert [batch.num_rows for batch in batches] == [1] * len(wanted)
