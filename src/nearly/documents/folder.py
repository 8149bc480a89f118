"""Documents named on disk: tables in a folder, each written whole or not at all.

What lies below the folder belongs to one fingerprint, of settings and input: nobody finds anything
there that was made otherwise. A table is one file: eight bytes that name the format and its
version, a checksum of the rest, and Arrow's own file format.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.ipc as ipc

from nearly.errors import SinkError

__all__ = ["FORMAT", "Folder", "fingerprint"]

FORMAT = b"NEARLY01"
CHECKSUM = 32  # bytes


def fingerprint(**parts: Any) -> str:
    """Sixteen hex digits of everything that a table depends on."""
    plain = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Folder:
    """Tables by name and number, and plain facts; every machine has to see the folder."""

    path: str  # or an address that Arrow knows, such as s3://bucket/folder
    fingerprint: str

    def save(self, name: str, number: int, rows: pa.RecordBatch) -> None:
        """One table."""
        sink = pa.BufferOutputStream()
        with self._explained(), ipc.new_file(sink, rows.schema) as writer:
            writer.write_batch(rows)
        self._write(_file(name, number), sink.getvalue())

    def load(self, name: str, number: int) -> pa.RecordBatch | None:
        """One table, if it is there."""
        data = self._read(_file(name, number))
        return None if data is None else ipc.open_file(data).get_batch(0)

    def load_finished(self, name: str, number: int) -> pa.RecordBatch:
        """One table of those that are known to be there."""
        rows = self.load(name, number)
        if rows is None:
            raise SinkError(
                f"{self.path!r} has lost a part of {name!r}, which was finished. "
                f"Remove {self.fingerprint!r} below it, and run again"
            )
        return rows

    def finish(self, name: str, facts: Mapping[str, Any]) -> None:
        """All tables of this name are there, and this is known of them."""
        self._write(f"{name}/finished", pa.py_buffer(json.dumps(dict(facts)).encode()))

    def finished(self, name: str) -> dict[str, Any] | None:
        """What is known of these tables, if all are there."""
        data = self._read(f"{name}/finished")
        return None if data is None else json.loads(data.to_pybytes())

    def _write(self, name: str, data: pa.Buffer) -> None:
        def write(stream: Any) -> None:
            stream.write(FORMAT)
            stream.write(_checksum(data))
            stream.write(data)

        self._replace(name, write)

    def _replace(self, name: str, write: Callable[[Any], None]) -> None:
        with self._explained():
            system, path = self._place(name)
            system.create_dir(os.path.dirname(path), recursive=True)
            with system.open_output_stream(f"{path}.part") as stream:
                write(stream)
            system.move(f"{path}.part", path)

    def _read(self, name: str) -> pa.Buffer | None:
        with self._explained():
            system, path = self._place(name)
            if system.get_file_info(path).type != pafs.FileType.File:
                return None
            with system.open_input_file(path) as file:
                return self._checked(path, file.read_buffer())

    def _checked(self, path: str, data: pa.Buffer) -> pa.Buffer:
        start = len(FORMAT) + CHECKSUM
        head = data[: min(start, data.size)].to_pybytes()
        if head[: len(FORMAT)] != FORMAT:
            raise SinkError(
                f"{path} was not written by this version of nearly; "
                f"remove {self.fingerprint!r} below {self.path!r}, and run again"
            )
        rest = data[start:] if data.size > start else pa.py_buffer(b"")
        if head[len(FORMAT) :] != _checksum(rest):
            raise SinkError(
                f"{path} is damaged: its checksum is wrong. "
                f"Remove {self.fingerprint!r} below {self.path!r}, and run again"
            )
        return rest

    def _place(self, name: str) -> tuple[pafs.FileSystem, str]:
        if "://" in self.path:
            system, root = pafs.FileSystem.from_uri(self.path)
        else:
            system, root = pafs.LocalFileSystem(), os.path.abspath(self.path)
        return system, f"{root.rstrip('/')}/{self.fingerprint}/{name}"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise SinkError(
                f"{self.path!r} cannot be used to keep documents: {error}. Give a folder that "
                "every machine can write to"
            ) from error


def _file(name: str, number: int) -> str:
    return f"{name}/{number:06}.arrow"


def _checksum(data: pa.Buffer) -> bytes:
    return hashlib.blake2b(data, digest_size=CHECKSUM).digest()
