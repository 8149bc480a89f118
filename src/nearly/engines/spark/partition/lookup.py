"""A few documents with their ids and texts, brought to the driver to be shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nearly.arrays import column_of, numbers_of, take_strings
from nearly.documents.lookup import texts_in
from nearly.documents.packet import unpack
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.number import Numbers, blocks_of, numbered, places_of, rows_of
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import Near
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import Pairs
from nearly.stages.table import best

__all__ = [
    "Few",
    "all_pairs",
    "best_of_rows",
    "count_near",
    "few",
    "look_up",
    "look_up_ids",
    "top_pairs",
]


class Shown(NamedTuple):
    """Some documents of one block."""

    documents: Numbers
    ids: pa.Array
    texts: pa.LargeStringArray


@dataclass(frozen=True)
class Few:
    """Documents in ascending order, known by their places."""

    documents: Numbers
    all_ids: pa.Array
    all_texts: pa.LargeStringArray

    def ids(self, documents: Documents) -> pa.Array:
        """See `Corpus`."""
        return self.all_ids.take(column_of(documents))

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """See `Corpus`."""
        return take_strings(self.all_texts, documents)

    def renumbered(self, pairs: Near) -> Pairs:
        """Pairs by places."""
        first, second = (places_of(column, self.documents) for column in pairs[:2])
        return Pairs(first=first, second=second, nearness=pairs.nearness)


def count_near(near: Near) -> tuple[int, Near]:
    """How many pairs there are, and the best of them."""
    return len(near.first), best_pairs(near)


def best_pairs(pairs: Near) -> Near:
    """The most similar of some pairs; of equals the first ones."""
    order = np.lexsort((pairs.second, pairs.first))
    chosen = order[best(pairs.nearness[order])]
    return Near(pairs.first[chosen], pairs.second[chosen], pairs.nearness[chosen])


def top_pairs(parts: Sequence[Near]) -> Near:
    """The most similar of the best."""
    return best_pairs(Near(*map(np.concatenate, zip(*parts, strict=True))))


def all_pairs(parts: Sequence[Near]) -> Near:
    """Pairs of all partitions, each once."""
    first, second, nearness = map(np.concatenate, zip(*parts, strict=True))
    _, places = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    return Near(first[places], second[places], nearness[places])


def best_of_rows(packed: bytes, *, measure: Measure) -> Near:
    """The best pairs of a table of results."""
    rows = unpack(packed)
    first, second, shown = (
        numbers_of(rows.column(name)) for name in ("first", "second", measure.value)
    )
    return best_pairs(Near(first, second, measure.shown(shown)))  # shown twice is as it was


def look_up(
    skipped: Skips, sought: Numbers, number: int, blocks: Iterable[Block]
) -> Iterator[Shown]:
    """Those of the sought documents that a block holds; it is read up to the last of them."""
    wanted = rows_of(sought[blocks_of(sought) == number])
    for block in blocks:
        left = len(wanted)
        for batch in block.documents(skipped):
            rows = numbers_of(batch.column("row"))
            chosen = np.flatnonzero(np.isin(rows, wanted)).astype(np.uint32)
            if len(chosen):
                texts = take_strings(batch.column("text"), chosen)
                ids = batch.column("id").take(column_of(chosen))
                yield Shown(numbered(number, rows[chosen].astype(np.uint32)), ids, texts)
                left -= len(chosen)
            if not left:
                break


def look_up_ids(
    skipped: Skips, wanted: set[Any], blocks: Iterable[Block]
) -> Iterator[dict[Any, str]]:
    """The texts of a block whose ids are wanted."""
    for block in blocks:
        for batch in block.documents(skipped):
            yield texts_in(batch, wanted)


def few(parts: Sequence[Shown], id_type: pa.DataType) -> Few:
    """All that was found, in order."""
    documents = np.concatenate([np.empty(0, np.int64), *(part.documents for part in parts)])
    ids = pa.concat_arrays([pa.array([], id_type), *(part.ids for part in parts)])
    texts = pa.concat_arrays([pa.array([], pa.large_string()), *(part.texts for part in parts)])
    order = np.argsort(documents)
    return Few(documents[order], ids.take(column_of(order)), texts.take(column_of(order)))
