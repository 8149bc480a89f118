"""How the batches of an Arrow file are compressed: Arrow reads it, and does not say."""

import os
import struct

import pyarrow as pa
import pyarrow.ipc as ipc

__all__ = ["codec_of"]

#: A file begins with its magic number, and then goes on as a stream does.
_MAGIC = 8
#: Fields of the tables `Message`, `RecordBatch` and `BodyCompression` of Arrow's format.
_HEADER, _COMPRESSION, _CODEC = 2, 3, 0
_CODECS = ("lz4", "zstd")


def codec_of(path: str, *, is_stream: bool) -> str | None:
    """The codec of the first batch; None where it is not compressed, or there is no batch."""
    with pa.OSFile(os.fsencode(path)) as file:
        file.seek(0 if is_stream else _MAGIC)
        try:
            while (message := ipc.read_message(file)).type != "record batch":
                pass
        except EOFError:
            return None
    data = message.metadata.to_pybytes()
    place = _table(data, 0)
    for field in (_HEADER, _COMPRESSION):
        offset = _field(data, place, field)
        if offset is None:
            return None
        place = _table(data, offset)
    codec = _field(data, place, _CODEC)
    return _CODECS[0 if codec is None else data[codec]]


def _table(data: bytes, place: int) -> int:
    """Where the table is to which an offset leads."""
    offset: int = struct.unpack_from("<I", data, place)[0]
    return place + offset


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a table is; None where it has its default."""
    index = table - struct.unpack_from("<i", data, table)[0]
    size: int = struct.unpack_from("<H", data, index)[0]
    if 4 + 2 * number >= size:
        return None
    offset: int = struct.unpack_from("<H", data, index + 4 + 2 * number)[0]
    return table + offset if offset else None
