"""The documents of one run on one machine: texts, ids, keys and sketches, by number."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import (
    column_of,
    count_characters,
    matrix_of,
    narrowed,
    numbers_of,
    take_strings,
    widened,
)
from nearly.documents.budget import Budget
from nearly.documents.corpus import Counts
from nearly.documents.identity import id_contents
from nearly.documents.number import Documents, different
from nearly.documents.readable import Readable
from nearly.documents.spool import ColumnStore, RowStore, TextStore
from nearly.settings import Settings
from nearly.tuning.method import Choice, auto_k

__all__ = ["LocalCorpus"]


class LocalCorpus:
    """Filled in two steps, `add` and `add_signed`, batch by batch in the same order."""

    settings: Settings
    choice: Choice

    def __init__(self, source: Readable, sketch_words: int, budget: Budget, folder: Path):
        self.source = source
        self.text_store = TextStore(budget, folder)
        self.keys = ColumnStore(np.uint32, budget, folder)
        self.sketches = RowStore(np.uint64, sketch_words, budget, folder)
        self.also: list[pa.Array] = []
        self._rows = RowStore(np.int64, 1, budget, folder)
        self._ids = _id_store(source.id_type, budget, folder)
        self._id_contents = RowStore(np.uint64, 2, budget, folder)
        self._sizes: list[npt.NDArray[np.uint32]] = []
        self._contents = RowStore(np.uint64, 2, budget, folder)

    def __len__(self) -> int:
        return len(self.text_store)

    @property
    def is_in_memory(self) -> bool:
        """Whether sketches can be looked up without reading."""
        return self.sketches.is_in_memory

    def add(self, batch: pa.RecordBatch, *, check_ids: bool) -> None:
        """The next documents: row, id, text, and perhaps one column more."""
        texts, ids = batch.column("text"), batch.column("id")
        self.text_store.append(texts)
        self._rows.append(numbers_of(batch.column("row")).reshape(-1, 1))
        self._add_ids(ids, check=check_ids)
        if batch.num_columns > 3:
            self.also.append(batch.column(3))

    def _add_ids(self, ids: pa.Array, *, check: bool) -> None:
        if check:
            self._id_contents.append(id_contents(ids))
        if isinstance(self._ids, TextStore):
            self._ids.append(widened(ids))
        else:
            self._ids.append(numbers_of(ids).reshape(-1, 1))

    def decide_k(self, settings: Settings) -> Settings:
        """Settings in which k is a number: the mean length decides where it was 'auto'."""
        if settings.text.k != "auto":
            return settings
        characters = sum(count_characters(texts) for texts in self.text_store.chunks())
        return settings.with_k(auto_k(settings.text.unit, characters / max(1, len(self))))

    def chunks(self) -> Iterator[pa.RecordBatch]:
        """The texts that are there now once more, in the pieces they came in."""
        for texts in self.text_store.chunks():
            yield pa.record_batch([texts], names=["text"])

    def add_signed(self, signed: pa.RecordBatch) -> None:
        """The next documents, signed."""
        self._sizes.append(numbers_of(signed.column("size")))
        self._contents.append(matrix_of(signed.column("content"), np.uint64))
        if self.choice.method == "lsh":
            self.keys.append(matrix_of(signed.column("keys"), np.uint32))
            self.sketches.append(matrix_of(signed.column("sketch"), np.uint64))

    def finish(self) -> None:
        """All documents are in: who is empty, whose id came before, who is a copy of whom."""
        sizes = np.concatenate(self._sizes) if self._sizes else np.empty(0, np.uint32)
        self._sizes.clear()
        self.sizes = sizes
        is_again = _is_again(self._id_contents, len(sizes))
        self.repeated = np.flatnonzero(is_again).astype(np.uint32)
        self.empty = np.flatnonzero((sizes == 0) & ~is_again).astype(np.uint32)
        valid = np.flatnonzero((sizes > 0) & ~is_again).astype(np.uint32)
        first = valid[_kernels.first_seen(_some(self._contents.all(), valid))]
        is_copy = first != valid
        self.representatives = valid[~is_copy]
        self.copies = valid[is_copy]
        self.originals = first[is_copy]
        self._contents.clear()
        self.counts = Counts(
            documents=len(self) - len(self.repeated),
            empty=len(self.empty),
            copies=len(self.copies),
            repeated=len(self.repeated),
        )

    def ids(self, documents: Documents) -> pa.Array:
        """The ids of these documents, in the given order."""
        sought, (places,) = different(documents)
        if isinstance(self._ids, TextStore):
            return narrowed(take_strings(self._ids.take(sought), places))
        return column_of(self._ids.take(sought)[places, 0])

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """The texts of these documents, in the given order."""
        sought, (places,) = different(documents)
        return take_strings(self.text_store.take(sought), places)

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        """Characters of these documents' texts, in the given order."""
        import pyarrow.compute as pc

        return numbers_of(pc.utf8_length(self.texts(documents))).astype(np.int64)

    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each document's text."""
        return self.text_store.lengths()

    def rows(self, documents: Documents) -> npt.NDArray[np.int64]:
        """The source's row numbers of these documents, which are given in ascending order."""
        numbers: npt.NDArray[np.int64] = self._rows.take(documents)[:, 0]
        return numbers


def _id_store(id_type: pa.DataType, budget: Budget, folder: Path) -> TextStore | RowStore:
    if pa.types.is_integer(id_type):
        return RowStore(np.int64, 1, budget, folder)
    return TextStore(budget, folder)


def _is_again(id_contents: RowStore, count: int) -> npt.NDArray[np.bool_]:
    """Whether each document's id came before; none did where ids were not checked."""
    contents = id_contents.all()
    id_contents.clear()
    if len(contents) == 0:
        return np.zeros(count, bool)
    again: npt.NDArray[np.bool_] = _kernels.first_seen(contents) != np.arange(count)
    return again


def _some(rows: npt.NDArray[np.uint64], chosen: Documents) -> npt.NDArray[np.uint64]:
    """The chosen rows; mostly they are all of them, and a copy would be large."""
    return rows if len(chosen) == len(rows) else rows[chosen]
