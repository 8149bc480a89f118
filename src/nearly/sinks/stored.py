"""Parquet and Arrow files made as another one was made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc as ipc

from nearly import parquet

__all__ = ["stored_file"]


@contextmanager
def stored_file(
    file: BinaryIO, schema: pa.Schema, stored: Any
) -> Iterator[Callable[[pa.Table], None]]:
    """A file with this schema, and all else as in the one that was stored; groups stay groups."""
    if stored.format == "parquet":
        with parquet.written(file, schema, **stored.options) as writer:
            yield lambda group: writer.write_table(group, row_group_size=group.num_rows)
        return
    new = ipc.new_stream if stored.options["is_stream"] else ipc.new_file
    options = ipc.IpcWriteOptions(
        compression=stored.options["compression"],
        unify_dictionaries=not stored.options["is_stream"],
    )
    with new(file, schema, options=options) as arrow:
        yield lambda group: arrow.write_table(group.combine_chunks())
