"""The documents of an index that new ones have a pair with: the old side of a comparison.

The index says which of its documents are near to one of a source, or copies of it. Those alone
become the old side; whoever compares both sides finds the same pairs as with all of the index.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.place import Stretch
from nearly.documents.readable import Readable, Skips
from nearly.errors import SettingsError, UnreadableError
from nearly.index.catalogue import State
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.search import near_contents
from nearly.index.view import View
from nearly.measures.base import Signed
from nearly.measures.work import Workers

__all__ = ["Old", "check_texts", "every_document", "met", "old_side"]

#: Documents in a batch.
BATCH: Final = 4096

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class _Owners:
    """Documents of some segments: their numbers, and where they are."""

    numbers: npt.NDArray[np.uint64]
    lives: Numbers  # places in a list of segments
    documents: Numbers

    def take(self, chosen: Any) -> "_Owners":
        return _Owners(self.numbers[chosen], self.lives[chosen], self.documents[chosen])


class Old:
    """A source of documents that an index holds. A row is the number that the index gave it."""

    name = "the index"
    ids_are_unique = False
    size = 0  # segments are mapped, not read into memory of Arrow

    def __init__(
        self, making: Making, lives: Sequence[Live], owners: _Owners, state: State
    ) -> None:
        self.holds_items, self.shape = making.holds_items, making.shape
        self.id_type = pa.int64() if state.id_kind == "int64" else pa.string()
        self._kept_type = making.kept_type
        self.schema = pa.schema([("id", self.id_type), ("text", self._kept_type)])
        self.border: int | None = None
        self._lives, self._owners, self._rows = lives, owners, state.next_number

    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """Batches of row, id and what is compared, in the order of adding."""
        for first in range(0, len(self._owners.numbers), BATCH):
            yield self._batch(self._owners.take(slice(first, first + BATCH)))

    def shown(self, skipped: Any) -> Iterator[pa.RecordBatch]:
        """Texts; of items and vectors an index keeps nothing that people could read."""
        for batch in self.documents(skipped):
            text = batch.column("text")
            if not pa.types.is_large_string(text.type):
                text = pa.array(["(kept in the index)"] * len(text), pa.large_string())
            yield batch.set_column(2, "text", text)

    def stretches(self) -> list[Stretch]:
        """All rows are those of one place."""
        return [Stretch(None, 0, self._rows)]

    def facts(self) -> dict[str, Any]:
        """Nothing was guessed."""
        return {"index": True}

    def table(self) -> pa.Table:
        """All of it, in memory: ids and texts."""
        batches = [batch.select(["id", "text"]) for batch in self.documents(None)]
        return pa.Table.from_batches(batches, self.schema)

    def _batch(self, owners: _Owners) -> pa.RecordBatch:
        ids: list[Any] = [None] * len(owners.numbers)
        digests = np.empty((len(ids), 2), np.uint64)
        for place in np.unique(owners.lives).tolist():
            mine, segment = np.flatnonzero(owners.lives == place), self._lives[place].segment
            documents = owners.documents[mine]
            digests[mine] = segment.digests(segment.content_of(documents))
            for at, name in zip(mine.tolist(), segment.ids(documents), strict=True):
                ids[at] = name
        rows = pa.array(owners.numbers.astype(np.int64))
        columns = [rows, pa.array(ids, self.id_type), self._texts(digests)]
        return pa.record_batch(columns, names=["row", "id", "text"])

    def _texts(self, digests: npt.NDArray[np.uint64]) -> pa.Array:
        """What documents of these contents are, wherever it is held."""
        parts, base = [pa.array([], self._kept_type)], 0
        order = np.full(len(digests), -1)
        for live in self._lives:
            places, contents = live.find_held(digests)
            parts.append(live.segment.texts(contents))
            order[places] = base + np.arange(len(places))
            base += len(places)
        if (order < 0).any():
            raise UnreadableError("no segment holds a text of the index; check the index")
        return pa.concat_arrays(parts).take(pa.array(order))


def old_side(view: View, digests: npt.NDArray[np.uint64], *, every_copy: bool) -> Old:
    """What an index holds of some contents; of copies the first, or every one."""
    lives = view.of_contents(digests)
    return Old(view.making, lives, _owners(lives, digests, every_copy=every_copy), view.state)


def met(view: View, source: Readable, skipped: Skips, workers: Workers) -> npt.NDArray[np.uint64]:
    """Digests of the contents that have a pair with a document of a source, or are a copy of one.

    All members of a bucket are looked at, so that nothing is missed that `find` would find.
    """
    making = view.making
    check_texts(making)
    found = [np.empty((0, 2), np.uint64)]
    signs = workers.map(lambda batch: _signed(making, batch), source.documents(skipped))
    for signed, contents in signs:
        lives = view.near(making.asking, signed, contents, 0)
        nears, _ = near_contents(making.asking, lives, signed, contents, workers, 0)
        theirs = [near.digests for near in nears]
        mine = signed.digests[signed.sizes > 0]
        found.append(np.unique(np.concatenate([mine, *theirs]), axis=0))
    return np.unique(np.concatenate(found), axis=0)


def check_texts(making: Making) -> None:
    """Refuse an index whose documents cannot be read again."""
    if not making.texts:
        raise SettingsError(
            "the index keeps no texts, with which documents could be compared; create it with "
            "texts, or ask what was seen while adding: nearly index add"
        )


def _signed(making: Making, batch: pa.RecordBatch) -> tuple[Signed, pa.Array]:
    contents = batch.column("text")
    return making.asking.sign(contents), contents


def every_document(view: View) -> Old:
    """All that an index holds."""
    check_texts(view.making)
    lives = view.everything()
    parts = []
    for place, live in enumerate(lives):
        documents = np.arange(live.segment.documents)
        parts.append(_some(live, place, documents[~live.documents.has(documents)]))
    everyone = _together(parts)
    in_order = everyone.take(np.argsort(everyone.numbers))
    return Old(view.making, lives, in_order, view.state)


def _owners(lives: Sequence[Live], digests: npt.NDArray[np.uint64], *, every_copy: bool) -> _Owners:
    """The documents that have these contents, in the order of adding."""
    parts, contents = [], [np.empty(0, np.uint32)]
    for place, live in enumerate(lives):
        places, documents, numbers = live.find_documents(digests)
        parts.append(_Owners(numbers, np.full(len(documents), place), documents))
        contents.append(places)
    owners = _together(parts)
    order = np.argsort(owners.numbers)
    if not every_copy:
        firsts = np.unique(np.concatenate(contents)[order], return_index=True)[1]
        order = order[np.sort(firsts)]
    return owners.take(order)


def _some(live: Live, place: int, documents: Numbers) -> _Owners:
    numbers = live.segment.take("numbers", documents)
    return _Owners(numbers, np.full(len(documents), place), documents)


def _together(parts: Sequence[_Owners]) -> _Owners:
    none = _Owners(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    names = ("numbers", "lives", "documents")
    return _Owners(
        *(np.concatenate([getattr(part, name) for part in [none, *parts]]) for name in names)
    )
