"""All documents, read once and cut into pieces; their texts are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import column_of, numbers_of, spans, string_array
from nearly.documents.identity import id_digests
from nearly.documents.place import Places, Stretch, located
from nearly.documents.readable import Readable, Skips
from nearly.errors import SettingsError
from nearly.measures.normalisation import normalise
from nearly.passage.piece import piece_spans
from nearly.passage.piece_store import PieceStore
from nearly.progress import Progress
from nearly.settings import CutSettings
from nearly.stages.survivor import Keep, column_preference

__all__ = ["Collected", "collect", "ranked"]

Whole = npt.NDArray[np.int64]
Small = npt.NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True)
class Collected:
    """Documents in the order of the source, and their pieces one document behind the other."""

    rows: Whole
    ids: pa.ChunkedArray
    stretches: list[Stretch]
    lengths: Whole  # characters of each document
    preferred: pa.ChunkedArray | None  # the column of the rule
    offsets: Whole  # where the pieces of each document begin
    pieces: PieceStore

    def __len__(self) -> int:
        return len(self.rows)

    def ids_of(self, documents: Whole) -> pa.Array:
        """The ids of some documents."""
        return self.ids.take(column_of(documents)).combine_chunks()

    def places_of(self, documents: Whole) -> Places:
        """Where some documents stand."""
        return located(self.stretches, self.rows[documents])

    @property
    def ids_repeat(self) -> bool:
        """Whether an id stands for several documents."""
        digests = [np.empty((0, 2), np.uint64), *map(id_digests, self.ids.chunks)]
        firsts = _kernels.first_seen(np.concatenate(digests))
        return bool((firsts != np.arange(len(firsts))).any())


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The same of some documents, without the pieces."""

    rows: Whole
    ids: pa.Array
    lengths: Whole
    preferred: pa.Array | None
    counts: Whole


def collect(
    source: Readable,
    skipped: Skips,
    settings: CutSettings,
    keep: Keep,
    pieces: PieceStore,
    progress: Progress,
) -> Collected:
    """Read all documents, and forget their texts; the pieces go to a store, which is empty."""
    parts = []
    for batch in source.documents(skipped, also=keep.column):
        parts.append(_part(batch, settings, keep, pieces))
        progress.advance(batch.num_rows)

    def joined(name: str) -> Whole:
        return np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in parts)])

    preferred = [part.preferred for part in parts if part.preferred is not None]
    return Collected(
        rows=joined("rows"),
        ids=pa.chunked_array([part.ids for part in parts], source.id_type),
        stretches=list(source.stretches()),
        lengths=joined("lengths"),
        preferred=pa.chunked_array(preferred) if preferred else None,
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(joined("counts"))]),
        pieces=pieces,
    )


def _part(batch: pa.RecordBatch, settings: CutSettings, keep: Keep, pieces: PieceStore) -> _Part:
    texts = batch.column("text").to_pylist()
    found = [piece_spans(text, settings.each) for text in texts]
    array = string_array(
        [text[start:end] for text, at in zip(texts, found, strict=True) for start, end in at]
    )
    both = np.array(list(chain.from_iterable(found)), np.uint32).reshape(-1, 2)
    columns = (both[:, 0], both[:, 1], _words(array), _line_ends(texts, found))
    digests = _kernels.contents(*spans(normalise(array, settings.text)))
    pieces.append(np.stack(columns, 1), digests)
    return _Part(
        rows=numbers_of(batch.column("row")).astype(np.int64),
        ids=batch.column("id"),
        lengths=np.array([len(text) for text in texts], np.int64),
        preferred=None if keep.column is None else batch.column("also"),
        counts=np.array([len(at) for at in found], np.int64),
    )


def _line_ends(texts: Sequence[str], found: Sequence[Sequence[tuple[int, int]]]) -> Small:
    """In the white space before each piece."""
    counts = [
        text.count("\n", before, start)
        for text, at in zip(texts, found, strict=True)
        for (_, before), (start, _) in pairwise([(0, 0), *at])
    ]
    return np.array(counts, np.uint32)


def _words(pieces: pa.LargeStringArray) -> Small:
    """How many words each has, as passages count them: one at least."""
    offsets, *_ = _kernels.cut_units(*spans(pieces), words=True, folds=True)
    return np.maximum(1, np.diff(offsets)).astype(np.uint32)


def ranked(collected: Collected, keep: Keep) -> Whole:
    """The documents, those first whose pieces should rather stay; of equals the earlier one."""
    everyone = np.arange(len(collected), dtype=np.int64)
    if keep.rule == "first":
        return everyone
    if keep.rule == "last":
        return everyone[::-1].copy()
    if keep.rule == "largest":
        raise SettingsError("keep is 'largest', which is about sets; for texts give 'longest'")
    if collected.preferred is not None:
        preference = column_preference(collected.preferred, keep)
    else:
        preference = -collected.lengths if keep.rule == "longest" else collected.lengths
    return np.lexsort((everyone, preference))
