"""From a source to rows of an index: read, numbered, signed by threads, gathered into chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.arrays import numbers_of, widened
from nearly.documents.identity import id_digests
from nearly.documents.readable import Readable, Skips
from nearly.errors import SettingsError
from nearly.index.addition import CHUNK, CHUNK_BYTES, POSTED_BYTES, together
from nearly.index.catalogue import IdKind, State
from nearly.index.draft import Rows
from nearly.index.making import Making
from nearly.measures.work import Workers

__all__ = ["Reading", "chunks", "reading_of"]


@dataclass
class Reading:
    """Batches of a source as rows; what was met on the way is counted."""

    making: Making
    id_kind: IdKind
    next_number: int
    next_row: int | None  # the id of the next document, where the source has none
    is_deciding: bool = False  # the extent of all documents is asked for
    extent: int = 0
    documents: int = 0
    numbered: int = 0  # rows that were numbered, those among them that are no documents too

    def rows(self, source: Readable, skipped: Skips, workers: Workers) -> Iterator[Rows]:
        """All documents, batch by batch, in order."""
        return iter(workers.map(self._signed, self.numbered_batches(source, skipped)))

    def numbered_batches(
        self, source: Readable, skipped: Skips
    ) -> Iterator[tuple[int, pa.Array, pa.Array]]:
        """The number of the first document of each batch, ids, and contents."""
        for batch in source.documents(skipped):
            contents = batch.column("text")
            if self.is_deciding:
                self.extent += self.making.measure.extent(contents)
            yield self.next_number, self._ids(batch), contents
            self.next_number += batch.num_rows
            self.documents += batch.num_rows

    def _ids(self, batch: pa.RecordBatch) -> pa.Array:
        ids = batch.column("id")
        if self.next_row is not None:
            rows = numbers_of(batch.column("row"))
            self.numbered = max(self.numbered, int(rows.max(initial=-1)) + 1)
            return pa.array(rows + self.next_row, pa.int64())
        if self.id_kind == "string":
            return ids.cast(pa.string())
        if not pa.types.is_integer(ids.type):
            raise SettingsError(
                "the ids of the index are whole numbers, and those of the documents are strings, "
                f"such as {ids[0].as_py()!r}; name a column of numbers with id, or create an index "
                "of documents whose ids are strings"
            )
        return ids

    def _signed(self, given: tuple[int, pa.Array, pa.Array]) -> Rows:
        first, ids, contents = given
        making = self.making
        signed = making.asking.sign(contents)
        return Rows(
            numbers=np.arange(first, first + len(ids), dtype=np.uint64),
            ids=ids if pa.types.is_integer(ids.type) else widened(ids),
            id_digests=id_digests(ids),
            digests=signed.digests,
            sizes=signed.sizes,
            keys=signed.keys,
            sketches=signed.sketches,
            contents=contents,
            kept=making.keeping.kept(making.measure, contents),
        )


def chunks(batches: Iterable[Rows], *, is_posted: bool) -> Iterator[tuple[Rows, bool]]:
    """Rows in chunks that become a segment each; and whether a chunk is the last."""
    most = POSTED_BYTES if is_posted else CHUNK_BYTES
    waiting: list[Rows] = []
    for rows in batches:
        count, size = sum(map(len, waiting)), sum(part.kept.nbytes for part in waiting)
        if waiting and (count + len(rows) > CHUNK or size + rows.kept.nbytes > most):
            yield together(waiting), False
            waiting = []
        waiting.append(rows)
    if waiting:
        yield together(waiting), True


def reading_of(making: Making, state: State, source: Any, *, is_deciding: bool = False) -> Reading:
    """How an index in this state takes the documents of a source."""
    is_number = bool(pa.types.is_integer(source.id_type))
    return Reading(
        making=making,
        id_kind=state.id_kind or ("int64" if is_number else "string"),
        next_number=state.next_number,
        next_row=state.next_row if source.numbers_rows else None,
        is_deciding=is_deciding,
    )
