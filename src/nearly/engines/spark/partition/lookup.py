"""A few documents with their ids and texts, brought to the driver to be shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of, string_array, take_strings
from nearly.documents.block import SignedBlock
from nearly.documents.lookup import Placed, rows_at, rows_of_ids, shown_texts
from nearly.documents.packet import together, unpack
from nearly.documents.place import Place, Places, Stretch, located
from nearly.documents.readable import Skips
from nearly.engines.spark.partition.copy import Repeats
from nearly.engines.spark.partition.number import Numbers, blocks_of, numbered, places_of, rows_of
from nearly.engines.spark.partition.signed_block import (
    PLACE_COLUMNS,
    Block,
    Plan,
    labels_of,
    no_labels,
)
from nearly.engines.spark.partition.verification import Near
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import Pairs
from nearly.stages.table import best

__all__ = [
    "Few",
    "all_pairs",
    "best_of_rows",
    "best_pairs",
    "count_near",
    "few",
    "gathered",
    "look_up",
    "look_up_ids",
    "look_up_places",
]


class Stretched(Protocol):
    """What the rows of a block belong to, if that is told."""

    @property
    def stretches(self) -> Sequence[Stretch]: ...


#: A block, and where its documents stand.
Known = tuple[Block, Stretched]


class Shown(NamedTuple):
    """Some documents of one block, with what labels say of them."""

    documents: Numbers
    labels: pa.RecordBatch
    texts: pa.LargeStringArray


@dataclass(frozen=True)
class Few:
    """Documents in ascending order, known by their places."""

    documents: Numbers
    labels: pa.RecordBatch
    all_texts: pa.LargeStringArray

    @property
    def ids_repeat(self) -> bool:
        """See `Named`."""
        return PLACE_COLUMNS[0] in self.labels.schema.names

    def ids(self, documents: Documents) -> pa.Array:
        """See `Named`."""
        return self.labels.column("id").take(column_of(documents))

    def sizes_of(self, documents: Documents) -> npt.NDArray[np.uint32]:
        """See `Named`."""
        sizes: npt.NDArray[np.uint32] = numbers_of(self.labels.column("size"))
        return sizes[documents]

    def places(self, documents: Documents) -> Places:
        """See `Named`."""
        return Places(*map(self.labels.column, PLACE_COLUMNS)).take(documents)

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """See `Named`."""
        return take_strings(self.all_texts, documents)

    def renumbered(self, pairs: Near) -> Pairs:
        """Pairs by places."""
        first, second = (places_of(column, self.documents) for column in pairs[:2])
        return Pairs(first=first, second=second, nearness=pairs.nearness)


def count_near(near: Near) -> int:
    """How many pairs there are."""
    return len(near.first)


def best_pairs(pairs: Near, *, count: int, least: bool = False) -> Near:
    """The most similar of some pairs, or the least similar; of equals the first ones."""
    order = np.lexsort((pairs.second, pairs.first))
    nearness = pairs.nearness[order]
    chosen = order[best(-nearness if least else nearness, count)]
    return Near(pairs.first[chosen], pairs.second[chosen], pairs.nearness[chosen])


def gathered(parts: Sequence[Near]) -> Near:
    """Pairs of all partitions as they come."""
    return Near(*map(np.concatenate, zip(*parts, strict=True)))


def all_pairs(parts: Sequence[Near]) -> Near:
    """Pairs of all partitions, each once."""
    first, second, nearness = gathered(parts)
    _, places = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    return Near(first[places], second[places], nearness[places])


def best_of_rows(packed: bytes, *, measure: Measure, count: int) -> Near:
    """The best pairs of a table of results."""
    rows = unpack(packed)
    first, second, shown = (
        numbers_of(rows.column(name)) for name in ("first", "second", measure.value)
    )
    near = Near(first, second, measure.shown(shown))  # shown twice is as it was
    return best_pairs(near, count=count)


def look_up(
    number: int,
    block: Block,
    signed: SignedBlock,
    known: Repeats,
    *,
    skipped: Skips,
    sought: Numbers,
) -> Iterator[Shown]:
    """Those of the sought documents that a block holds; it is read up to the last of them."""
    wanted = rows_of(sought[blocks_of(sought) == number])
    left = len(wanted)
    for batch in block.shown(skipped) if left else ():
        rows = numbers_of(batch.column("row"))
        chosen = np.flatnonzero(np.isin(rows, wanted)).astype(np.uint32)
        if len(chosen):
            texts = string_array(shown_texts(batch.column("text").take(column_of(chosen))))
            documents = numbered(number, rows[chosen].astype(np.uint32))
            labels = labels_of(signed, documents, known.stretches)
            yield Shown(documents, labels, texts)
            left -= len(chosen)
        if not left:
            break


def _places(rows: pa.RecordBatch, known: Stretched) -> Places:
    return located(known.stretches, numbers_of(rows.column("row")))


def look_up_ids(
    skipped: Skips, wanted: set[Any], blocks: Iterable[Known]
) -> Iterator[tuple[Any, Placed]]:
    """The texts of a block whose ids are wanted, and their places where ids repeat."""
    for block, known in blocks:
        for batch in block.shown(skipped):
            rows = rows_of_ids(batch, wanted)
            if rows.num_rows:
                unknown = [Place(None, row) for row in rows.column("row").to_pylist()]
                places = _places(rows, known).to_list() if known.stretches else unknown
                columns = (rows.column("id").to_pylist(), places, shown_texts(rows.column("text")))
                for name, place, text in zip(*columns, strict=True):
                    yield name, Placed(place, text)


def look_up_places(
    skipped: Skips, wanted: set[Place], blocks: Iterable[Known]
) -> Iterator[tuple[Place, str]]:
    """The texts of a block that stand at wanted places."""
    for block, known in blocks:
        for batch in block.shown(skipped):
            yield from rows_at(batch, _places(batch, known), wanted)


def few(parts: Sequence[Shown], plan: Plan) -> Few:
    """All that was found, in order."""
    documents = np.concatenate([np.empty(0, np.int64), *(part.documents for part in parts)])
    labels = together([no_labels(plan), *(part.labels for part in parts)])
    texts = pa.concat_arrays([pa.nulls(0, pa.large_string()), *(part.texts for part in parts)])
    order = column_of(np.argsort(documents))
    return Few(np.sort(documents), labels.take(order), texts.take(order))
