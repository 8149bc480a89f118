"""What kind of difference there is in each pair: fingerprints of texts travel, and no text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nearly.arrays import column_of, numbers_of, string_array
from nearly.documents.lookup import shown_texts
from nearly.documents.packet import pack, unpack
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.bucket import Ask, Candidates
from nearly.engines.spark.partition.number import Numbers, numbered
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import asks_for_texts
from nearly.text.kind import fingerprint, kind_of_fingerprints

__all__ = ["Fingerprints", "asks_of_rows", "fingerprints_of", "with_kinds"]


class Fingerprints(NamedTuple):
    """What was asked for, document by document."""

    documents: Numbers
    fingerprints: Sequence[bytes]


def asks_of_rows(here: int, packed: bytes) -> Iterator[tuple[int, Ask]]:
    """Every document of some rows of pairs is wanted once."""
    return asks_for_texts(here, Candidates(*_ends(unpack(packed)), 0))


def fingerprints_of(
    number: int, block: Block, asks: Sequence[Ask], *, skipped: Skips
) -> Iterator[tuple[int, Fingerprints]]:
    """What others want; each text is looked at once, the block up to the last of them."""
    if not asks:
        return
    wanted = np.unique(np.concatenate([ask.rows for ask in asks]))
    known: dict[int, bytes] = {}
    for batch in block.shown(skipped):
        rows = numbers_of(batch.column("row"))
        chosen = np.flatnonzero(np.isin(rows, wanted))
        texts = shown_texts(batch.column("text").take(column_of(chosen)))
        known.update(zip(rows[chosen].tolist(), map(fingerprint, texts), strict=True))
        if len(known) == len(wanted):
            break
    for ask in asks:
        here = [known[row] for row in ask.rows.tolist()]
        yield ask.asker, Fingerprints(numbered(number, ask.rows), here)


def with_kinds(packed: bytes, answers: Sequence[Fingerprints]) -> bytes:
    """The rows of pairs with a column `difference`."""
    rows = unpack(packed)
    known = {
        document: told
        for answer in answers
        for document, told in zip(answer.documents.tolist(), answer.fingerprints, strict=True)
    }
    ends = zip(*(end.tolist() for end in _ends(rows)), strict=True)
    kinds = [kind_of_fingerprints(known[a], known[b]) for a, b in ends]
    return pack(rows.append_column("difference", string_array(kinds, pa.string())))


def _ends(rows: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    return numbers_of(rows.column("first")), numbers_of(rows.column("second"))
