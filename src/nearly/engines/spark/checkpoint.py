"""Stages that a run has finished, kept in a folder for a run that comes after it.

A folder below the given one belongs to one fingerprint, of the settings and of the input: another
run finds nothing there that it must not use. Each partition is one Arrow file, written whole or
not at all, so that what was signed before a run broke off need not be signed again.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.ipc as ipc

from nearly.arrays import binary_rows, column_of, matrix_of, numbers_of
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.packet import pack, unpack
from nearly.engines.spark.partition.signed_block import Signed, Tally
from nearly.engines.spark.partition.verification import Near
from nearly.errors import SinkError

__all__ = [
    "Checkpoint",
    "fingerprint",
    "near_rows",
    "recalled_near",
    "recalled_signed",
    "signed_rows",
]

#: Of a signed block, the columns that have several numbers a document, and their kind.
MATRICES = {"contents": "u8", "id_contents": "u8", "keys": "u4", "sketches": "u8"}


def fingerprint(**parts: Any) -> str:
    """Sixteen hex digits of everything that a stage depends on."""
    plain = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Checkpoint:
    """One run's folder; all machines have to see it."""

    folder: str  # a path, or an address that Arrow knows, such as s3://bucket/folder
    run: str  # the fingerprint

    def save(self, stage: str, number: int, rows: pa.RecordBatch) -> None:
        """The rows of one partition."""

        def write(stream: BinaryIO) -> None:
            with ipc.new_file(stream, rows.schema) as writer:
                writer.write_batch(rows)

        self._write(f"{stage}/{number:06}.arrow", write)

    def recall(self, stage: str, number: int) -> pa.RecordBatch | None:
        """The rows of one partition, if they are there."""
        data = self._read(f"{stage}/{number:06}.arrow")
        return None if data is None else ipc.open_file(data).get_batch(0)

    def finish(self, stage: str, facts: Mapping[str, int]) -> None:
        """All partitions are there, and this is known of them."""
        self._write(f"{stage}/finished.json", lambda stream: stream.write(_json(facts)))

    def finished(self, stage: str) -> dict[str, int] | None:
        """What is known of a stage, if it was finished."""
        data = self._read(f"{stage}/finished.json")
        return None if data is None else json.loads(data.to_pybytes())

    def _write(self, name: str, write: Callable[[Any], object]) -> None:
        with self._told():
            place, path = self._place(name)
            place.create_dir(os.path.dirname(path), recursive=True)
            with place.open_output_stream(f"{path}.part") as stream:
                write(stream)
            place.move(f"{path}.part", path)

    def _read(self, name: str) -> pa.Buffer | None:
        with self._told():
            place, path = self._place(name)
            if place.get_file_info(path).type != pafs.FileType.File:
                return None
            with place.open_input_file(path) as file:
                return file.read_buffer()

    def _place(self, name: str) -> tuple[pafs.FileSystem, str]:
        if "://" in self.folder:
            place, root = pafs.FileSystem.from_uri(self.folder)
        else:
            place, root = pafs.LocalFileSystem(), os.path.abspath(self.folder)
        return place, f"{root.rstrip('/')}/{self.run}/{name}"

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise SinkError(
                f"the checkpoint {self.folder!r} cannot be used: {error}. Give a folder that every "
                "machine of the cluster can write to"
            ) from error


def _json(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts).encode()


def near_rows(near: Near) -> pa.RecordBatch:
    """Verified pairs as a table."""
    columns = [column_of(column) for column in near]
    return pa.record_batch(columns, names=list(Near._fields))


def recalled_near(rows: pa.RecordBatch) -> Near:
    """The inverse of `near_rows`."""
    return Near(*(numbers_of(column) for column in rows.columns))


def signed_rows(signed: Signed) -> pa.RecordBatch:
    """A signed block as a table, a document a row; what concerns the block is in its metadata."""
    columns = {"size": column_of(signed.sizes)}
    for name in MATRICES:
        matrix = getattr(signed, name)
        if matrix.shape[1] and len(matrix) == len(signed.rows):
            columns[name] = binary_rows(np.ascontiguousarray(matrix))
    facts = unpack(signed.facts)
    block = {"k": signed.k, "tally": list(signed.tally), "skipped": signed.skipped.to_list()}
    return pa.record_batch(
        [*facts.columns, *columns.values()],
        names=[*facts.schema.names, *columns],
        metadata={"block": json.dumps(block)},
    )


def recalled_signed(rows: pa.RecordBatch, skipped: Skips) -> Signed:
    """The inverse of `signed_rows`; `skipped` is an empty list to be filled."""
    block = json.loads(rows.schema.metadata[b"block"])
    skipped.fill(block["skipped"], Tally(*block["tally"]).skipped)
    named = [name for name in rows.schema.names if name not in ("size", *MATRICES)]
    facts = rows.select(named).replace_schema_metadata()
    return Signed(
        tally=Tally(*block["tally"]),
        k=block["k"],
        facts=pack(facts),
        rows=numbers_of(facts.column("row")),
        sizes=numbers_of(rows.column("size")),
        skipped=skipped,
        **{name: _matrix(rows, name) for name in MATRICES},
    )


def _matrix(rows: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    if name not in rows.schema.names:
        return np.empty((rows.num_rows, 0), MATRICES[name])
    return matrix_of(rows.column(name), MATRICES[name])
