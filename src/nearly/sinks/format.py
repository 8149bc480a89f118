"""Which format the ending of a file's name says, and the two formats that pyarrow writes."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa

from nearly import parquet
from nearly.errors import SinkError
from nearly.sinks import row_group
from nearly.sinks.row_group import WriteGroup
from nearly.sinks.text_format import delimited, json_array, json_lines

__all__ = ["compression_of", "ending_of", "format_of", "is_writable"]

Format: TypeAlias = Callable[[BinaryIO, pa.Schema], AbstractContextManager[WriteGroup]]
Compression: TypeAlias = Callable[[BinaryIO], Any]


@contextmanager
def _parquet(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    with parquet.written(file, schema, compression="zstd") as writer:
        yield partial(writer.write_table, row_group_size=row_group.GROUP_ROWS)


@contextmanager
def _arrow(file: BinaryIO, schema: pa.Schema) -> Iterator[WriteGroup]:
    # Not compressed: every reader can read it, and can map it into memory.
    with pa.ipc.new_file(file, schema) as writer:
        yield lambda group: writer.write_table(
            group.combine_chunks(), max_chunksize=row_group.GROUP_ROWS
        )


def _gzip(file: BinaryIO) -> Any:
    """No name and no time inside: the same rows give the same bytes."""
    import gzip

    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)


_TEXT_FORMATS: dict[str, Format] = {
    ".csv": partial(delimited, ","),
    ".tsv": partial(delimited, "\t"),
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".json": json_array,
}
_BINARY_FORMATS: dict[str, Format] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
}
_COMPRESSIONS: dict[str, Compression] = {
    ".gz": _gzip,
    ".zst": lambda file: pa.CompressedOutputStream(file, "zstd"),
}


def compression_of(path: Path) -> Compression | None:
    """The compression that the ending names."""
    return _COMPRESSIONS.get(path.suffix.lower())


def ending_of(path: Path) -> str:
    """The ending of a file's name in small letters, without that of a compression."""
    bare = path.with_suffix("") if compression_of(path) else path
    return bare.suffix.lower()


def is_writable(path: Path) -> bool:
    """Whether a file can be written as its ending says: some formats are not compressed again."""
    return not (compression_of(path) and ending_of(path) in _BINARY_FORMATS)


def format_of(path: Path) -> tuple[Format, Compression | None]:
    """The format that the ending names, and the compression on top of it."""
    name = Path(path.name.lower())
    compress = _COMPRESSIONS.get(name.suffix)
    formats = _TEXT_FORMATS if compress else _TEXT_FORMATS | _BINARY_FORMATS
    ending = Path(name.stem).suffix if compress else name.suffix
    if ending not in formats:
        raise SinkError(
            f"{os.fspath(path)!r}: the ending of the name says the format, and it has to be "
            f"{', '.join(_BINARY_FORMATS)}, {', '.join(_TEXT_FORMATS)}, "
            "or one of the last five with .gz or .zst after it. Give a name with such an ending."
        )
    return formats[ending], compress
