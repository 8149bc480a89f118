"""The documents of a run of rows, signed: what is kept of them, and as which tables."""

import json
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import binary_rows, column_of, matrix_of, numbers_of
from nearly.documents.packet import pack, unpack
from nearly.documents.readable import Skips
from nearly.measures.base import Measure

__all__ = ["SignedBlock", "Tally", "block_of_rows", "identity_of", "rows_of_block"]

#: The columns that have several numbers per document, and their kind.
MATRICES = {"digests": "u8", "id_digests": "u8", "keys": "u4", "sketches": "u8"}


class Tally(NamedTuple):
    """What was met in a block."""

    documents: int
    empty: int
    ignored: int
    bytes: int
    extent: int  # what settles a measure, summed; see `Measure.extent`
    skipped: int


class SignedBlock(NamedTuple):
    """The documents of a block by row, empty ones too, and what else is known of the block.

    `labels` is a packed batch of row, id and what `keep` looks at. `measured_by` identifies the
    measure, which was guessed from the first documents where all of them decide.
    """

    tally: Tally
    measured_by: str
    labels: bytes
    rows: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.uint32]
    is_ignored: npt.NDArray[np.uint8]
    digests: npt.NDArray[np.uint64]
    id_digests: npt.NDArray[np.uint64]
    keys: npt.NDArray[np.uint32]
    sketches: npt.NDArray[np.uint64]
    skipped: Skips


def identity_of(measure: Measure) -> str:
    """Differs wherever two measures do."""
    return json.dumps(measure.facts(), sort_keys=True)


def rows_of_block(block: SignedBlock) -> pa.RecordBatch:
    """One row per document; what concerns the whole block is in the metadata."""
    columns = {"size": column_of(block.sizes), "ignored": column_of(block.is_ignored)}
    for name in MATRICES:
        matrix = getattr(block, name)
        if matrix.shape[1] and len(matrix) == len(block.rows):
            columns[name] = binary_rows(np.ascontiguousarray(matrix))
    labels = unpack(block.labels)
    known = {
        "measured_by": block.measured_by,
        "tally": list(block.tally),
        "skipped": block.skipped.to_list(),
    }
    return pa.record_batch(
        [*labels.columns, *columns.values()],
        names=[*labels.schema.names, *columns],
        metadata={"block": json.dumps(known)},
    )


def block_of_rows(rows: pa.RecordBatch, skipped: Skips) -> SignedBlock:
    """The inverse of `rows_of_block`; `skipped` is an empty list to be filled."""
    known = json.loads(rows.schema.metadata[b"block"])
    tally = Tally(*known["tally"])
    skipped.fill(known["skipped"], tally.skipped)
    named = [name for name in rows.schema.names if name not in ("size", "ignored", *MATRICES)]
    labels = rows.select(named).replace_schema_metadata()
    return SignedBlock(
        tally=tally,
        measured_by=known["measured_by"],
        labels=pack(labels),
        rows=numbers_of(labels.column("row")),
        sizes=numbers_of(rows.column("size")),
        is_ignored=numbers_of(rows.column("ignored")),
        skipped=skipped,
        **{name: _matrix(rows, name) for name in MATRICES},
    )


def _matrix(rows: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    if name not in rows.schema.names:
        return np.empty((rows.num_rows, 0), MATRICES[name])
    return matrix_of(rows.column(name), MATRICES[name])
