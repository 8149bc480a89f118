"""Arrow's reader and writer of Parquet, without what `pyarrow.parquet` imports before them.

Those are file systems and TLS, which take 10 ms: as long as a small table takes to be compared.
What is used here is what `pyarrow.parquet` uses itself, and no public name; where a version of
Arrow has it otherwise, `pyarrow.parquet` is used.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import pyarrow as pa

__all__ = ["opened", "written"]

#: What a name or an argument that is not there raises.
_OTHERWISE: Final = (ImportError, AttributeError, TypeError)
#: What `pyarrow.parquet` writes where nothing is said.
_USUAL: Final[dict[str, Any]] = {
    "version": "2.6",
    "compression": "snappy",
    "use_dictionary": True,
    "write_statistics": True,
    "writer_engine_version": "V2",
    "data_page_version": "1.0",
}


def opened(raw: pa.NativeFile, buffer_size: int) -> Any:
    """As `pyarrow.parquet.ParquetFile`: some columns are read, in pieces of this size."""
    try:
        return _Reader(raw, buffer_size)
    except _OTHERWISE:
        import pyarrow.parquet as pq

        return pq.ParquetFile(raw, buffer_size=buffer_size, pre_buffer=False)


class _Reader:
    """As much of `pyarrow.parquet.ParquetFile` as is needed."""

    def __init__(self, raw: pa.NativeFile, buffer_size: int) -> None:
        from pyarrow._parquet import ParquetReader

        self._reader = ParquetReader()
        self._reader.open(
            raw, buffer_size=buffer_size, pre_buffer=False, arrow_extensions_enabled=True
        )
        self.metadata = self._reader.metadata
        self.schema_arrow: pa.Schema = self._reader.schema_arrow
        self._paths: list[list[str]] = self._reader.column_paths

    def iter_batches(
        self, *, batch_size: int, row_groups: list[int], columns: Sequence[str] | None
    ) -> Iterator[pa.RecordBatch]:
        """These columns, with all that is nested in them."""
        places = None
        if columns is not None:
            places = [place for place, path in enumerate(self._paths) if path[0] in columns]
        batches: Iterator[pa.RecordBatch] = self._reader.iter_batches(
            batch_size, row_groups=row_groups, column_indices=places
        )
        return batches


@contextmanager
def written(file: BinaryIO, schema: pa.Schema, **options: Any) -> Iterator[Any]:
    """What writes tables to a file by `write_table`; options are those of `pyarrow.parquet`."""
    try:
        from pyarrow._parquet import ParquetWriter

        writer = ParquetWriter(file, schema, **{**_USUAL, **options})
    except _OTHERWISE:
        import pyarrow.parquet as pq

        writer = pq.ParquetWriter(file, schema, **options)
    try:
        yield writer
    finally:
        writer.close()
