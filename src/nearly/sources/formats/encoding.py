"""From bytes to text: compressed files opened, encodings recognised by their marks."""

import codecs
import io
import shutil
from typing import BinaryIO, cast

import pyarrow as pa

__all__ = [
    "NotTextError",
    "bare_ending",
    "checked",
    "compression_of",
    "decode",
    "decompressed",
    "encoding_of",
    "open_bytes",
    "open_text",
    "without_surrogates",
    "write_plain",
]

#: Bytes that are decoded at a time where a text is only checked.
PIECE = 2**20
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

#: The four-byte marks first: that of UTF-32 begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class NotTextError(ValueError):
    """Bytes are not text; the message is the reason."""


def compression_of(path: str) -> str | None:
    """The compression that the ending of a file's name stands for."""
    return next((c for ending, c in _COMPRESSIONS.items() if path.lower().endswith(ending)), None)


def bare_ending(path: str) -> str:
    """The ending of a file's name in small letters, without that of a compression."""
    bare = path.lower()
    for ending in _COMPRESSIONS:
        bare = bare.removesuffix(ending)
    return bare[bare.rfind(".") :] if "." in bare.rpartition("/")[2] else ""


def open_bytes(path: str) -> BinaryIO:
    """A file for reading, decompressed on the way where its name says so."""
    return decompressed(open(path, "rb"), path)


def decompressed(file: BinaryIO, path: str) -> BinaryIO:
    """What a file of this name holds; closing it closes the file."""
    compression = compression_of(path)
    if compression is None:
        return file
    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(file, "r"), compression))


def open_text(path: str, *, newline: str) -> io.TextIOWrapper:
    """A file as text; bytes that are not UTF-8 become lone surrogates, to be found later."""
    with open_bytes(path) as file:
        encoding = encoding_of(file.read(4))
    stream = io.BufferedReader(cast(io.RawIOBase, open_bytes(path)), 1 << 18)
    return io.TextIOWrapper(stream, encoding, errors="surrogateescape", newline=newline)


def write_plain(path: str, copy: str) -> None:
    """The same text in UTF-8 without a mark, not compressed; what is no text stays as it is."""
    with (
        open_text(path, newline="") as source,
        open(copy, "w", encoding="utf-8", errors="surrogateescape", newline="") as target,
    ):
        shutil.copyfileobj(source, target)


def encoding_of(head: bytes) -> str:
    """The encoding that a mark at the beginning announces; UTF-8 where there is none."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "utf-8")


def checked(data: bytes, encoding: str | None = None) -> bytes | str:
    """The text of a whole file; as it stands where it is UTF-8, so that no second one is held."""
    if (encoding or encoding_of(data[:4])) != "utf-8":
        return decode(data, encoding)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), PIECE):
            decoder.decode(data[start : start + PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return decode(data, encoding)  # which says where
    return decode(data, encoding) if b"\0" in data else data


def decode(data: bytes, encoding: str | None = None) -> str:
    """The text of a whole file, by its mark, or in an encoding that is known."""
    encoding = encoding or encoding_of(data[:4])
    if encoding.startswith("utf-8") and b"\0" in data:
        raise NotTextError(f"binary: a NUL byte at offset {data.index(0)}")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotTextError(
            f"not valid {encoding.removesuffix('-sig').upper()}: "
            f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        ) from None
    except UnicodeError as error:  # of a few encodings, without a place
        raise NotTextError(f"not valid {encoding}: {error}") from None


def without_surrogates(value: str) -> bool:
    """Whether a text can be written as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
