"""The texts of documents that are in pairs, as they were compared: kept once, looked up by row.

To look a text up in its source means to read the source, which takes seconds where it is large.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import column_of
from nearly.documents.lookup import WholeReader
from nearly.prepared.stranger import Drawn
from nearly.prepared.wanted import strings_having

__all__ = ["Texts", "keep_texts"]

_SCHEMA: Final = pa.schema([pa.field("text", pa.large_string())])
#: Rows of a batch, and documents that are looked at together.
_ROWS: Final = 4_096
_TOGETHER: Final = 2**17


class _Read(NamedTuple):
    names: pa.Array
    texts: pa.Array


def keep_texts(
    reader: WholeReader, known: pa.Array, path: Path, drawn: Drawn
) -> npt.NDArray[np.int32]:
    """Write the texts of the known documents; gives the row of each, in the order of the source.

    A document that is not there any more has row -1. All texts pass by those that are drawn.
    """
    rows = np.full(len(known), -1, np.int32)
    written = 0
    with pa.ipc.new_file(path, _SCHEMA) as writer:
        for names, texts in _together(reader):
            drawn.add(texts)
            found = pc.index_in(names, known)
            here = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
            documents = found.drop_null().to_numpy()
            rows[documents] = np.arange(written, written + len(here))
            kept = pa.table([texts.take(column_of(here))], schema=_SCHEMA)
            writer.write_table(kept, max_chunksize=_ROWS)
            written += len(here)
    return rows


def _together(reader: WholeReader) -> Iterator[_Read]:
    """Batches joined: each look-up makes a table of all the known documents."""
    names: list[pa.Array] = []
    texts: list[pa.Array] = []
    for some_names, some_texts in reader.every():
        names.append(some_names)
        texts.append(some_texts)
        if sum(map(len, names)) >= _TOGETHER:
            yield _joined(names, texts)
            names, texts = [], []
    if names:
        yield _joined(names, texts)


def _joined(names: Sequence[pa.Array], texts: Sequence[pa.Array]) -> _Read:
    return _Read(pa.concat_arrays(names), pa.concat_arrays(texts))


class Texts:
    """Texts that stay on the disk until they are asked for."""

    def __init__(self, path: Path, rows: npt.NDArray[np.int32]) -> None:
        self._rows = rows
        file = pa.ipc.open_file(pa.memory_map(str(path)))
        self._columns = [file.get_batch(i).column(0) for i in range(file.num_record_batches)]
        self._starts = np.cumsum([0, *map(len, self._columns)])

    def of(self, document: int) -> str | None:
        """The text of a document; None where it could not be read."""
        row = int(self._rows[document])
        if row < 0:
            return None
        batch = int(np.searchsorted(self._starts, row, "right")) - 1
        text: str = self._columns[batch][row - int(self._starts[batch])].as_py()
        return text

    def having(self, words: str) -> npt.NDArray[np.bool_]:
        """Which documents have these words in their text, in small or capital letters."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the kernel lets go of the lock
            found = list(pool.map(partial(strings_having, words=words), self._columns))
        by_row = np.concatenate([*found, [False]])
        by_document: npt.NDArray[np.bool_] = by_row[self._rows]
        return by_document

    def in_source(self, documents: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """Where documents stand in the order of the source, among those that are kept."""
        places: npt.NDArray[np.int32] = self._rows[documents]
        return places
