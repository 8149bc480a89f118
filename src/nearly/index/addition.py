"""Documents on their way into an index: signed, compared, written; one transaction at the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.documents.readable import Skips
from nearly.index.answer import Id
from nearly.index.catalogue import CONTENT, DOCUMENT, Commit, GoneRow, State
from nearly.index.draft import Draft, Rows, draft_of
from nearly.index.live import Live, known
from nearly.index.pending import pending_rows, rows_of_pending
from nearly.index.plain_question import first_near_plainly
from nearly.index.search import (
    MOST_MEMBERS,
    NOBODY,
    Asking,
    Owners,
    first_owners,
    near_contents,
    near_each_other,
    near_one,
)
from nearly.index.segment_file import Written
from nearly.measures.base import Signed
from nearly.measures.work import Workers

__all__ = [
    "CHUNK",
    "CHUNK_BYTES",
    "EARLIER_ID",
    "PENDING",
    "POSTED_BYTES",
    "Addition",
    "Seen",
    "some_rows",
    "together",
]

#: Documents that are kept in the catalogue before they become a segment, and bytes of them. Every
#: commit reads them all, so more make a single one slower.
PENDING: Final = 256
PENDING_BYTES: Final = 2**23
#: Documents, and bytes, that become one segment: fewer would have to be merged at once.
CHUNK: Final = 2**20
CHUNK_BYTES: Final = 2**28
#: The same where every member of a document is listed, which takes 8 bytes and more to sort.
POSTED_BYTES: Final = 2**25
#: Why a document is skipped.
EARLIER_ID: Final = "an earlier document of the same input has its id"

Write = Callable[[Draft, Workers], tuple[int, Written, Live]]


@dataclass
class Addition:
    """What one call adds. `lives` is what the index will hold, as far as it is known."""

    asking: Asking
    state: State
    lives: list[Live]
    write: Write
    workers: Workers
    skipped: Skips
    change: Commit = field(default_factory=Commit)
    is_replacing: bool = False
    is_reporting: bool = True
    added: int = 0
    copies: int = 0
    replaced: int = 0
    empty: int = 0
    left_out: int = 0
    seen: list["Seen"] = field(default_factory=list)

    def take(self, rows: Rows, *, is_last: bool) -> None:
        """The next documents; the last of few stay in the catalogue."""
        rows = self._with_new_ids(rows)
        self._count(rows)
        if self.is_reporting and len(rows) and not self._report_plainly(rows):
            self._report(rows)
        gone = set(self.change.old_pending)
        pending = [row for number, row in self.state.pending.items() if number not in gone]
        size = sum([len(row.content) for row in pending]) + rows.kept.nbytes
        is_first = not self.change.new_segments
        few = len(pending) + len(rows) <= PENDING and size <= PENDING_BYTES
        if is_first and is_last and few:
            self.change.new_pending += pending_rows(rows)
            return
        if is_first and pending:  # they become part of the first segment
            rows = replace(rows, contents=rows.kept)  # nothing is asked of these any more
            rows = together([rows_of_pending(pending, rows), rows])
            self.change.old_pending += [row.number for row in pending]
            self.lives = [live for live in self.lives if live.key]
        self.write_segment(rows)

    def write_segment(self, rows: Rows) -> None:
        """These documents become a segment."""
        is_known = known(self.lives, rows.digests)
        draft = draft_of(rows, is_known, self.workers, self.asking.poster)
        key, written, live = self.write(draft, self.workers)
        self.change.new_segments[key] = written
        self.lives.append(live)

    # Ids

    def _with_new_ids(self, rows: Rows) -> Rows:
        """Without documents whose id is there; or the others make way for them."""
        first = _kernels.first_seen(rows.id_digests)
        places = np.arange(len(rows))
        if self.is_replacing:
            last = np.zeros(len(rows), bool)
            last[len(rows) - 1 - np.unique(first[::-1], return_index=True)[1]] = True
            self._skip(rows, places[~last], "a later document of the same input has its id")
            rows = some_rows(rows, last)
            self.replaced += self.remove(rows.id_digests)
            return rows
        is_new = first == places
        self._skip(rows, places[~is_new], EARLIER_ID)
        for live in self.lives:
            there = live.find_ids(rows.id_digests)[0]
            there = there[is_new[there]]
            self._skip(rows, np.sort(there), "its id is in the index already")
            is_new[there] = False
        return some_rows(rows, is_new)

    def _skip(self, rows: Rows, places: npt.NDArray[Any], reason: str) -> None:
        if len(places) == 0:
            return
        for id in rows.ids.take(pa.array(places)).to_pylist():  # noqa: A001
            self.skipped.add(str(id), reason)

    # What goes

    def remove(self, digests: npt.NDArray[np.uint64]) -> int:
        """Documents with ids of these digests go; gives their number."""
        removed, touched = 0, [np.empty((0, 2), np.uint64)]
        for place, live in enumerate(self.lives):
            documents = np.unique(live.find_ids(digests)[1])
            if len(documents) == 0:
                continue
            removed += len(documents)
            touched.append(live.segment.digests(live.segment.content_of(documents)))
            self.lives[place] = self._without(live, DOCUMENT, documents.tolist())
        self._let_go(np.unique(np.concatenate(touched), axis=0))
        return removed

    def _without(self, live: Live, kind: int, numbers: list[int]) -> Live:
        if live.key == 0:
            if kind == DOCUMENT:
                gone = live.segment.take("numbers", np.array(numbers)).tolist()
                self.change.old_pending += gone
        else:
            self.change.gone += [GoneRow(live.key, kind, number) for number in numbers]
        if kind == DOCUMENT:
            size = live.segment.documents
            return replace(live, documents=live.documents.with_more(numbers, size))
        return replace(live, contents=live.contents.with_more(numbers, live.segment.contents))

    def _let_go(self, digests: npt.NDArray[np.uint64]) -> None:
        """Contents that no document has any more go."""
        is_had = np.zeros(len(digests), bool)
        for live in self.lives:
            is_had[live.find_documents(digests)[0]] = True
        left = digests[~is_had]
        for place, live in enumerate(self.lives):
            contents = live.find_held(left)[1]
            if len(contents):
                self.lives[place] = self._without(live, CONTENT, contents.tolist())

    def let_go_of_all(self) -> None:
        """All contents that no document has go."""
        for live in list(self.lives):
            everything = np.arange(live.segment.contents, dtype=np.uint32)
            self._let_go(live.segment.digests(everything))

    # What was seen

    def _count(self, rows: Rows) -> None:
        self.added += len(rows)
        self.empty += int(np.count_nonzero(rows.sizes == 0))

    def _report(self, rows: Rows) -> None:
        """New pairs: with what was there, and of these documents with each other."""
        first = _kernels.first_seen(rows.digests)
        places, valid = np.arange(len(rows)), rows.sizes > 0
        owners = first_owners(self.lives, rows.digests)
        is_there = owners.numbers != NOBODY
        of_there, within = valid & is_there, valid & ~is_there & (first != places)
        same = self.asking.measure.same
        if of_there.any():
            self._see(rows, places[of_there], _some(owners, of_there), same)
        if within.any():
            self._see(rows, places[within], _owners_of(rows, first[within]), same)
        self.copies += int(np.count_nonzero(of_there | within))
        fresh = places[valid & ~is_there & (first == places)].astype(np.uint32)
        if len(fresh):
            self._report_old(rows, fresh)
            self._report_new(rows, fresh)

    def _report_plainly(self, rows: Rows) -> bool:
        """The same of a single document, where one call of a kernel can tell."""
        if len(rows) > 1:
            return False
        found = first_near_plainly(self.asking, self.lives, rows.contents[0].as_py())
        if found is None:
            return False
        near, is_copy, left_out = found
        self.copies += is_copy
        self.left_out += left_out
        if near:
            numbers, ids, nearness = (list(column) for column in zip(*near, strict=True))
            earlier = Owners(np.array(numbers, np.uint64), ids)
            self._see(rows, np.zeros(len(near), np.intp), earlier, np.array(nearness))
        return True

    def _report_old(self, rows: Rows, fresh: npt.NDArray[np.uint32]) -> None:
        """What was there that is near to these rows."""
        if not self.lives:  # nothing has to be copied
            return
        signed, contents = _signed(rows, fresh), rows.contents.take(pa.array(fresh))
        if len(rows) == 1:  # in a crowd, too, it costs what a question costs
            found, left_out = near_one(self.asking, self.lives, signed, contents)
        else:
            asked = (signed, contents, self.workers, MOST_MEMBERS)
            found, left_out = near_contents(self.asking, self.lives, *asked)
        self.left_out += left_out
        for near in found:
            if len(near.questions):
                owners = first_owners(self.lives, near.digests)
                self._see(rows, fresh[near.questions], owners, near.nearness)

    def _report_new(self, rows: Rows, fresh: npt.NDArray[np.uint32]) -> None:
        """Which of these rows are near to each other."""
        asked = (_signed(rows), rows.contents, fresh, self.workers, MOST_MEMBERS)
        earlier, later, nearness = near_each_other(self.asking, *asked)
        if len(later):
            self._see(rows, later, _owners_of(rows, earlier), nearness)

    def _see(
        self,
        rows: Rows,
        later: npt.NDArray[Any],
        earlier: Owners,
        nearness: npt.NDArray[np.float64] | float,
    ) -> None:
        """Take note of pairs; the later documents are rows, the earlier ones owners."""
        self.seen.append(
            Seen(
                later=rows.numbers[later],
                earlier=earlier.numbers,
                ids=rows.ids.take(pa.array(later)).to_pylist(),
                seen=earlier.ids,
                nearness=np.broadcast_to(nearness, len(later)),
            )
        )


@dataclass(frozen=True)
class Seen:
    """Pairs of a document that is added and one that was there before it."""

    later: npt.NDArray[np.uint64]
    earlier: npt.NDArray[np.uint64]
    ids: list[Id]
    seen: list[Id | None]
    nearness: npt.NDArray[np.float64]


def _signed(rows: Rows, chosen: npt.NDArray[np.uint32] | None = None) -> Signed:
    """All rows, or those at some places, as they were signed."""
    names = ("sizes", "digests", "keys", "sketches")
    columns = {name: getattr(rows, name) for name in names}
    if chosen is not None:
        columns = {name: column.take(chosen, axis=0) for name, column in columns.items()}
    return Signed(**columns)


def _some(owners: Owners, chosen: npt.NDArray[np.bool_]) -> Owners:
    return Owners(owners.numbers[chosen], [owners.ids[i] for i in np.flatnonzero(chosen).tolist()])


def _owners_of(rows: Rows, places: npt.NDArray[Any]) -> Owners:
    return Owners(rows.numbers[places], rows.ids.take(pa.array(places)).to_pylist())


def some_rows(rows: Rows, chosen: npt.NDArray[Any]) -> Rows:
    """The rows that are marked, or at some places."""
    if chosen.dtype == bool:
        if chosen.all():
            return rows
        chosen = np.flatnonzero(chosen)
    places = pa.array(chosen)
    contents = rows.contents.take(places)
    return Rows(
        ids=rows.ids.take(places),
        contents=contents,
        kept=contents if rows.kept is rows.contents else rows.kept.take(places),
        **{name: getattr(rows, name).take(chosen, axis=0) for name in _ARRAYS},
    )


_ARRAYS: Final = ("numbers", "id_digests", "digests", "sizes", "keys", "sketches")


def together(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    if len(parts) == 1:
        return parts[0]
    contents = pa.concat_arrays([part.contents for part in parts])
    is_same = all(part.kept is part.contents for part in parts)
    return Rows(
        ids=pa.concat_arrays([part.ids for part in parts]),
        contents=contents,
        kept=contents if is_same else pa.concat_arrays([part.kept for part in parts]),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS},
    )
