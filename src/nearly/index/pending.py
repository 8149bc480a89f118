"""Documents that are in no segment's file: as rows of a table, and as a segment in memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.identity import id_digests
from nearly.index.catalogue import Pending, State
from nearly.index.directory import MemoryDirectory
from nearly.index.draft import Rows, draft_of
from nearly.index.live import Live, known
from nearly.index.making import Making
from nearly.index.segment import open_segment
from nearly.index.segment_file import write_file
from nearly.index.waiting import Waiting
from nearly.measures.work import ONE_THREAD

__all__ = ["Gathering", "live_of", "no_rows", "pending_rows", "rows_of_pending"]


class Gathering:
    """The documents that wait for a segment, as one commit after the other leaves them."""

    def __init__(self, making: Making) -> None:
        self._making = making
        self._waiting: Waiting | None = None

    def live(self, state: State, lives: Sequence[Live]) -> Live:
        """Those of a commit as a segment, beside the segments in files."""
        if self._making.poster is not None:  # all members are listed, and put in order at once
            return live_of(list(state.pending.values()), self._making, state, lives)
        # Taken out meanwhile: what fails half-way is not gone on with.
        waiting, self._waiting = self._waiting, None
        if waiting is None or not waiting.is_part_of(state.pending):
            first = next(iter(state.pending.values()))
            waiting = Waiting(first, is_text=self._making.keeping.is_text)
        live = waiting.live(state.pending, lives)
        self._waiting = waiting
        return live


def live_of(
    pending: Sequence[Pending], making: Making, state: State, lives: Sequence[Live] = ()
) -> Live:
    """These documents as a segment that is made at once, as a file would be.

    What other segments hold of them is not held once more.
    """
    rows = rows_of_pending(pending, no_rows(making, state))
    directory = MemoryDirectory()
    draft = draft_of(rows, known(lives, rows.digests), ONE_THREAD, making.poster)
    written = write_file(directory, "pending", draft, {}, ONE_THREAD)
    return Live(0, open_segment(directory, written, is_text=making.keeping.is_text))


def pending_rows(rows: Rows) -> Iterator[Pending]:
    """Rows as the catalogue keeps them."""
    contents = rows.kept.cast(pa.large_binary()).to_pylist()
    ids = rows.ids.to_pylist()
    for i, number in enumerate(rows.numbers.tolist()):
        yield Pending(
            number=number,
            id=ids[i],
            digest=rows.digests[i].tobytes(),
            size=int(rows.sizes[i]),
            keys=rows.keys[i].tobytes(),
            sketch=rows.sketches[i].tobytes(),
            content=contents[i],
        )


def rows_of_pending(pending: Sequence[Pending], like: Rows) -> Rows:
    """The inverse; of the same kinds as other rows."""
    is_number = pa.types.is_integer(like.ids.type)
    ids = pa.array([row.id for row in pending], pa.int64() if is_number else pa.string())
    kept = pa.array([row.content for row in pending], pa.large_binary()).cast(like.kept.type)
    count = len(pending)
    return Rows(
        numbers=np.array([row.number for row in pending], np.uint64),
        ids=ids.cast(like.ids.type),
        id_digests=id_digests(ids),
        digests=_matrix(b"".join(row.digest for row in pending), np.uint64, count),
        sizes=np.array([row.size for row in pending], np.uint32),
        keys=_matrix(b"".join(row.keys for row in pending), np.uint32, count),
        sketches=_matrix(b"".join(row.sketch for row in pending), np.uint64, count),
        contents=kept,
        kept=kept,
    )


def _matrix(data: bytes, kind: type[Any], rows: int) -> npt.NDArray[Any]:
    width = len(data) // np.dtype(kind).itemsize // max(1, rows)
    return np.frombuffer(data, kind).reshape(rows, width)


def no_rows(making: Making, state: State) -> Rows:
    """The kinds that rows of this index have."""
    kind = pa.int64() if state.id_kind == "int64" else pa.large_string()
    kept = pa.array([], making.kept_type)
    digests = np.empty((0, 2), np.uint64)
    return Rows(
        numbers=np.empty(0, np.uint64),
        ids=pa.array([], kind),
        id_digests=digests,
        digests=digests,
        sizes=np.empty(0, np.uint32),
        keys=np.empty((0, 0), np.uint32),
        sketches=np.empty((0, 0), np.uint64),
        contents=kept,
        kept=kept,
    )
