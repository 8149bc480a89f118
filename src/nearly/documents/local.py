"""The documents of one run on one machine: texts, ids, keys and sketches, by number."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import column_of, lengths_of, narrowed, numbers_of, take_strings, widened
from nearly.documents.budget import Budget
from nearly.documents.corpus import Counts, Repeat
from nearly.documents.identity import id_digests
from nearly.documents.place import Places, Stretch, located
from nearly.documents.readable import Readable, Skips
from nearly.documents.side import Cuts, Sides, by_side, sides_of
from nearly.documents.spool import ColumnStore, RowStore, TextStore
from nearly.frozen import dataclass
from nearly.measures.base import Keys, Measure, Signed, Sketches, Weighed
from nearly.measures.held_shingles import HeldShingles
from nearly.measures.number import Documents, different
from nearly.settings import Settings
from nearly.tuning.method import Choice

__all__ = ["LocalCorpus", "Reading"]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which documents stand for others, and which have nothing to compare."""

    representatives: Documents  # the first of each text
    copies: Documents  # documents whose text came before
    originals: Documents  # the representative of each of them
    empty: Documents  # documents with nothing to compare
    ignored: Documents  # documents of which nothing is left to compare

    def without_copies_before(self, border: int) -> "Roles":
        """The same, but for copies among old documents, of which nobody is told."""
        is_told = self.copies >= border
        return replace(self, copies=self.copies[is_told], originals=self.originals[is_told])


class Reading:
    """Documents as they come: texts and ids first, then sizes, digests, keys and sketches.

    `add` and `add_weighed` take batches in the same order; `finish` makes a corpus of them.
    """

    def __init__(self, source: Readable, skipped: Skips, budget: Budget, folder: Path):
        self.source = source
        self._nothing_skipped = skipped.another()
        self._budget, self._folder = budget, folder
        self._texts = TextStore(budget, folder)
        self._rows = RowStore(np.int64, 1, budget, folder)
        self._ids = _id_store(source.id_type, budget, folder)
        self._id_digests = RowStore(np.uint64, 2, budget, folder)
        self._rule_column: list[pa.Array] = []
        self._sizes: list[npt.NDArray[np.uint32]] = []
        self._is_ignored: list[npt.NDArray[np.bool_]] = []
        self._digests = RowStore(np.uint64, 2, budget, folder)
        self._keys = ColumnStore(np.uint32, budget, folder)
        self._sketches: RowStore | None = None
        self._roles: Roles | None = None  # where they are known of all that was weighed
        #: Of the first documents: those that were made when they were weighed.
        self.shingles = HeldShingles()

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def held(self) -> int:
        """Bytes of text in memory."""
        return self._texts.held

    def add(self, batch: pa.RecordBatch) -> None:
        """The next documents: row, id, text, and perhaps the column of a rule."""
        self._texts.append(batch.column("text"))
        self._rows.append(numbers_of(batch.column("row")).reshape(-1, 1))
        self._add_ids(batch.column("id"))
        if batch.num_columns > 3:
            self._rule_column.append(batch.column(3))

    def _add_ids(self, ids: pa.Array) -> None:
        if not self.source.ids_are_unique:
            self._id_digests.append(id_digests(ids))
        if isinstance(self._ids, TextStore):
            self._ids.append(widened(ids))
        else:
            self._ids.append(numbers_of(ids).reshape(-1, 1))

    def chunks(self) -> Iterator[pa.LargeStringArray]:
        """The texts that are there now once more, in the pieces they came in."""
        return self._texts.chunks()

    def add_weighed(self, weighed: Weighed) -> None:
        """The next documents, signed or only weighed."""
        self._roles = None
        self._sizes.append(weighed.sizes)
        if weighed.is_ignored is not None:
            self._is_ignored.append(weighed.is_ignored)
        self._digests.append(weighed.digests)
        if weighed.shingles is not None:
            self.shingles.append(weighed.shingles)
        if isinstance(weighed, Signed):
            self.add_signed(weighed.keys, weighed.sketches)

    def add_signed(self, keys: Keys, sketches: Sketches) -> None:
        """The same of documents that were weighed before."""
        if self._sketches is None:
            self._sketches = RowStore(np.uint64, sketches.shape[1], self._budget, self._folder)
        self._keys.append(keys)
        self._sketches.append(sketches)

    def forget_weighed(self) -> None:
        """Texts will be weighed again: another k was guessed than all of them ask for."""
        self._roles = None
        self._sizes.clear()
        self._is_ignored.clear()
        for store in (self._digests, self._keys, self._sketches):
            if store is not None:
                store.clear()

    def different(self) -> Documents:
        """The first of each text, once all are weighed."""
        return self._known_roles(*self._weights()).representatives

    def _known_roles(
        self, sizes: npt.NDArray[np.uint32], is_ignored: npt.NDArray[np.bool_]
    ) -> Roles:
        if self._roles is None:
            self._roles = _roles(sizes, self._digests.all(), is_ignored)
        return self._roles

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """The texts of these documents, which are given in ascending order."""
        return self._texts.take(documents)

    def _weights(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
        """The sizes of all documents, and which of them have nothing left to compare."""
        sizes = np.concatenate([np.empty(0, np.uint32), *self._sizes])
        nobody = np.zeros(len(sizes), bool)
        return sizes, np.concatenate(self._is_ignored) if self._is_ignored else nobody

    def finish(
        self, measure: Measure, settings: Settings, choice: Choice, *, cleaning: bool
    ) -> "LocalCorpus":
        """All documents are in: who is empty, who is a copy of whom, and which ids repeat."""
        sizes, is_ignored = self._weights()
        roles = self._known_roles(sizes, is_ignored)
        old, sides = 0, None
        if self.source.border is not None:
            old = self._count_before(self.source.border)
            lists_copies = settings.all_pairs and not cleaning
            sides = sides_of(
                len(sizes), old, roles.copies, roles.originals, both=lists_copies, cleaning=cleaning
            )
            roles = roles if lists_copies else roles.without_copies_before(old)
        later, earlier = _same(self._id_digests.all())
        for store in (self._digests, self._id_digests):
            store.clear()
        return LocalCorpus(
            source=self.source,
            nothing_skipped=self._nothing_skipped,
            measure=measure,
            settings=measure.decided(settings),
            choice=choice,
            roles=roles,
            old=old,
            sides=sides,
            later=later,
            earlier=earlier,
            stretches=tuple(self.source.stretches()),
            sizes=sizes,
            text_store=self._texts,
            id_store=self._ids,
            row_store=self._rows,
            keys=self._keys,
            sketches=self._sketches or RowStore(np.uint64, 0, self._budget, self._folder),
            shingles=self.shingles,
            rule_column=self._rule_column,
        )

    def _count_before(self, border: int) -> int:
        """How many documents stand before a row; their rows ascend, and need not be in memory."""
        return bisect_left(
            range(len(self)), border, key=lambda i: int(self._rows.take(np.array([i]))[0, 0])
        )


@dataclass(frozen=True, kw_only=True)
class LocalCorpus:
    """Documents that were read, in memory or spilled; nothing changes any more."""

    source: Readable
    nothing_skipped: Skips  # for reading again
    measure: Measure
    settings: Settings
    choice: Choice
    roles: Roles
    old: int  # documents before a border, which come first; 0 where there is none
    sides: Sides | None
    later: Documents  # documents whose id came before
    earlier: Documents  # the first document of that id
    stretches: tuple[Stretch, ...]
    sizes: npt.NDArray[np.uint32]
    text_store: TextStore
    id_store: TextStore | RowStore
    row_store: RowStore
    keys: ColumnStore
    sketches: RowStore
    shingles: HeldShingles  # of all documents, or of none
    rule_column: list[pa.Array]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def representatives(self) -> Documents:
        """The first of each text."""
        return self.roles.representatives

    @property
    def copies(self) -> Documents:
        """Documents whose text came before."""
        return self.roles.copies

    @property
    def originals(self) -> Documents:
        """The representative of each of them."""
        return self.roles.originals

    @cached_property
    def by_side(self) -> tuple[Documents, Cuts | None]:
        """The representatives side by side, and where the sides lie, if there is a border."""
        documents = self.representatives
        places, cuts = by_side(None if self.sides is None else self.sides[documents])
        return documents[places], cuts

    @cached_property
    def counts(self) -> Counts:
        """How many documents of each kind there are; of two sides, on the new one."""
        ids = len(different(self.earlier)[0])

        def new(documents: Documents) -> int:
            return int((documents >= self.old).sum()) if self.old else len(documents)

        return Counts(
            documents=len(self) - self.old,
            empty=new(self.roles.empty),
            ignored=new(self.roles.ignored),
            copies=new(self.copies),
            repeated_ids=ids,
            sharing_ids=ids + len(self.later),
            against=None if self.sides is None else self.old,
            different=len(self.representatives),
        )

    @property
    def ids_repeat(self) -> bool:
        """Whether an id stands for several documents."""
        return len(self.later) > 0

    def first_repeat(self) -> Repeat:
        """The first id that came before, of those that repeat."""
        both = np.array([self.earlier[0], self.later[0]])
        return Repeat(self.ids(both)[0].as_py(), *self.places(both).to_list())

    @property
    def is_in_memory(self) -> bool:
        """Whether sketches can be looked up without reading."""
        return self.sketches.is_in_memory

    def ids(self, documents: Documents) -> pa.Array:
        """The ids of these documents, in the given order."""
        sought, (places,) = different(documents)
        if isinstance(self.id_store, TextStore):
            return narrowed(take_strings(self.id_store.take(sought), places))
        return column_of(self.id_store.take(sought)[places, 0])

    def places(self, documents: Documents) -> Places:
        """Where these documents stand, in the given order."""
        sought, (places,) = different(documents)
        return located(self.stretches, self.rows(sought)).take(places)

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """The texts of these documents, in the given order."""
        if len(documents) == 1 or (documents[1:] > documents[:-1]).all():
            return self.text_store.take(documents)
        sought, (places,) = different(documents)
        return take_strings(self.text_store.take(sought), places)

    def sizes_of(self, documents: Documents) -> npt.NDArray[np.uint32]:
        """How much of each there is to compare, in the given order."""
        return self.sizes[documents]

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        """Characters of these documents' texts, or their items, in the given order."""
        return numbers_of(lengths_of(self.texts(documents))).astype(np.int64)

    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each document's text."""
        return self.text_store.lengths()

    def rows(self, documents: Documents) -> npt.NDArray[np.int64]:
        """The source's row numbers of these documents, which are given in ascending order."""
        numbers: npt.NDArray[np.int64] = self.row_store.take(documents)[:, 0]
        return numbers


def _id_store(id_type: pa.DataType, budget: Budget, folder: Path) -> TextStore | RowStore:
    if pa.types.is_integer(id_type):
        return RowStore(np.int64, 1, budget, folder)
    return TextStore(budget, folder)


def _roles(
    sizes: npt.NDArray[np.uint32],
    digests: npt.NDArray[np.uint64],
    is_ignored: npt.NDArray[np.bool_],
) -> Roles:
    valid = np.flatnonzero(sizes > 0).astype(np.uint32)
    first = valid[_kernels.first_seen(_some(digests, valid))]
    is_copy = first != valid
    return Roles(
        representatives=valid[~is_copy],
        copies=valid[is_copy],
        originals=first[is_copy],
        empty=np.flatnonzero((sizes == 0) & ~is_ignored).astype(np.uint32),
        ignored=np.flatnonzero(is_ignored).astype(np.uint32),
    )


def _same(id_digests: npt.NDArray[np.uint64]) -> tuple[Documents, Documents]:
    """Documents whose id came before, and the first of each id; none where ids are unique."""
    first = _kernels.first_seen(id_digests)
    is_later = first != np.arange(len(first))
    return np.flatnonzero(is_later).astype(np.uint32), first[is_later].astype(np.uint32)


def _some(rows: npt.NDArray[np.uint64], chosen: Documents) -> npt.NDArray[np.uint64]:
    """The chosen rows; mostly they are all of them, and a copy would be large."""
    return rows if len(chosen) == len(rows) else rows[chosen]
