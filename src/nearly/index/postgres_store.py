"""What an index in PostgreSQL holds, and how that changes: the store of `postgres.Tables`."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import RLock
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.readable import Readable, Skips
from nearly.errors import SinkError
from nearly.index.addition import Addition
from nearly.index.answer import Id
from nearly.index.catalogue import Commit, Pending, State
from nearly.index.creation import first_extent, settle
from nearly.index.draft import Draft, Rows
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.pending import live_of, pending_rows
from nearly.index.postgres import Tables, sortable
from nearly.index.postgres_check import problems
from nearly.index.postgres_place import PostgresPlace
from nearly.index.posting import Poster
from nearly.index.reading import Reading, reading_of
from nearly.index.scratch import Scratch
from nearly.index.search import MOST_MEMBERS, Asking
from nearly.index.segment_file import Written
from nearly.index.store import digests_of_ids, threads_of
from nearly.index.view import Counts
from nearly.measures.base import Signed
from nearly.measures.work import Workers
from nearly.sources import Skipped, Source
from nearly.wording import count

__all__ = ["PostgresStore", "create_tables", "open_tables"]

#: Questions whose members are looked up in one go.
QUESTIONS: Final = 256

Digests = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class PostgresView:
    """See `View`; within a snapshot of the tables, all that is fetched is as of one commit."""

    making: Making
    tables: Tables

    @property
    def state(self) -> State:
        """See `View`."""
        return self.tables.state()

    def near(self, asking: Asking, signed: Signed, contents: pa.Array, most: int) -> Sequence[Live]:
        """See `View`."""
        return self._live(self._met(asking, signed, contents, most))

    def of_contents(self, digests: Digests) -> Sequence[Live]:
        """See `View`."""
        return self._live(self.tables.of_contents(sortable(digests)))

    def of_ids(self, digests: Digests) -> Sequence[Live]:
        """See `View`."""
        return self._live(self.tables.of_ids(sortable(digests)))

    def everything(self) -> Sequence[Live]:
        """See `View`."""
        return self._live(self.tables.everything())

    def counts(self) -> Counts:
        """See `View`."""
        documents, contents, size = self.tables.counts()
        return Counts(documents=documents, contents=contents, gone=0, size=size)

    def for_adding(self, rows: Rows, *, with_near: bool) -> list[Live]:
        """What has the ids of new documents; and what they have to be compared with, if that is
        asked for: near ones, and copies."""
        asked = (self.making.asking, rows, rows.contents, MOST_MEMBERS)
        met = self._met(*asked) if with_near else []
        same_ids = self.tables.of_ids(sortable(rows.id_digests))
        found = {row.number: row for row in (*met, *same_ids)}
        return self._live([found[number] for number in sorted(found)])

    def _met(
        self, asking: Asking, asked: Signed | Rows, contents: pa.Array, most: int
    ) -> list[Pending]:
        """Documents that may be near to one that is asked for, and its copies."""
        there = np.flatnonzero(asked.sizes > 0)  # what is empty is near to nothing
        if asking.poster is None:
            met = self.tables.near(asked.keys[there], most)
        else:
            met = self._sharing(asking, asking.poster, asked.sizes[there], contents, there, most)
        found = self.tables.of_contents([*met, *sortable(asked.digests[there])])
        missing = set(met) - set(sortable(digests_of(found)))
        if missing:
            raise self.tables.damaged(f"{count(len(missing), 'content')} of a bucket are not there")
        return found

    def _sharing(
        self,
        asking: Asking,
        poster: Poster,
        sizes: npt.NDArray[np.uint32],
        contents: pa.Array,
        there: npt.NDArray[np.intp],
        most: int,
    ) -> list[bytes]:
        """Digests of contents that share enough members with a question, some at a time."""
        met: set[bytes] = set()
        for first in range(0, len(there), QUESTIONS):
            some = slice(first, first + QUESTIONS)
            keys = poster.questions(contents.take(pa.array(there[some])))
            met.update(self.tables.sharing(keys, sizes[some].tolist(), asking.threshold, most))
        return list(met)

    def _live(self, pending: list[Pending]) -> list[Live]:
        return [live_of(pending, self.making, self.state)] if pending else []


def digests_of(pending: Sequence[Pending]) -> Digests:
    """Of the contents of some documents, a row each."""
    return np.frombuffer(b"".join(row.digest for row in pending), np.uint64).reshape(-1, 2)


@dataclass
class PostgresAddition(Addition):
    """What one call adds, in a transaction that is open: each batch is told to the server."""

    view: PostgresView = field(kw_only=True)

    def take(self, rows: Rows, *, is_last: bool) -> None:  # noqa: ARG002
        """See `Addition`."""
        self.lives = self.view.for_adding(rows, with_near=self.is_reporting)
        rows = self._with_new_ids(rows)
        self._count(rows)
        if self.is_reporting and len(rows):
            self._report(rows)
        self.change.new_pending += pending_rows(rows)
        digests = sortable(rows.id_digests)
        named = dict(zip(rows.numbers.tolist(), digests, strict=True))
        self.view.tables.apply(self.change, named)
        self.change = Commit()


class PostgresStore:
    """See `Store`."""

    def __init__(self, tables: Tables, making: Making, *, read_only: bool) -> None:
        self.tables, self.making, self.read_only = tables, making, read_only
        if making.poster is not None:
            tables.members_of = partial(members_of, making, making.poster)
        self.lock = RLock()
        self._pool: ThreadPoolExecutor | None = None
        self.scratch = Scratch()

    @property
    def place(self) -> str | None:
        """Not written down: who asks later has to say how to get in."""
        return None

    @property
    def name(self) -> str:
        """Its address, without what is secret."""
        return self.tables.place.shown

    @property
    def state(self) -> State:
        """What the last commit left."""
        return self.tables.state()

    def close(self) -> None:
        """Let go of the connection."""
        if self._pool is not None:
            self._pool.shutdown()
        self.scratch.close()
        self.tables.close()

    @contextmanager
    def reading(self) -> Iterator[PostgresView]:
        """For questions, all of them about one commit; one thread at a time has the connection."""
        with self.lock, self.tables.snapshot():
            yield self._view()

    def _view(self) -> PostgresView:
        return PostgresView(self.making, self.tables)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No other process writes meanwhile."""
        self.tables.hold()
        try:
            yield
        finally:
            with suppress(SinkError):  # a connection that broke holds nothing any more
                self.tables.release()

    def problems(self) -> list[str]:
        """What is not as it was written, or makes no sense."""
        return problems(self.tables)

    # How it changes

    def addition(self, skipped: Skips) -> PostgresAddition:
        """A change that is begun; other writers wait until it ends."""
        return self._begun(self.tables.begin(), skipped)

    def _begun(self, state: State, skipped: Skips) -> PostgresAddition:
        return PostgresAddition(
            asking=self.making.asking,
            state=state,
            lives=[],
            write=_no_segment,
            workers=self.workers(),
            skipped=skipped,
            view=self._view(),
        )

    def take(self, addition: Addition, reading: Reading, source: Readable) -> None:
        """Tell the server all documents of a source; they are there after `finish`."""
        for rows in reading.rows(source, addition.skipped, addition.workers):
            addition.take(rows, is_last=False)
        state = addition.state
        self.tables.save(
            replace(
                state,
                commit=state.commit + 1,
                next_number=reading.next_number,
                next_row=state.next_row + reading.numbered,
                id_kind=state.id_kind or (reading.id_kind if reading.documents else None),
            )
        )

    @property
    def ledger(self) -> None:
        """Nobody can be asked who has no address to get in."""
        return

    def finish(self, addition: Addition) -> None:  # noqa: ARG002
        """Commit what was taken."""
        self.tables.commit()

    def discard(self, change: Commit) -> None:  # noqa: ARG002
        """Nothing of it is there."""
        self.tables.roll_back()

    def fill(self, source: Source, skipped: Skipped) -> float:
        """The first documents, in the transaction that made the tables; gives their mean extent."""
        addition = self._begun(State(), skipped)
        addition.is_reporting = False
        reading = reading_of(self.making, State(), source, is_deciding=True)
        self.take(addition, reading, source)
        return reading.extent / max(1, reading.documents)

    def remove(self, ids: Sequence[Id]) -> int:
        """Remove documents by their ids, in one transaction."""
        addition = self.addition(Skipped())
        try:
            digests = digests_of_ids(ids, addition.state.id_kind)
            addition.lives = list(addition.view.of_ids(digests))
            removed = addition.remove(digests)
            self.tables.apply(addition.change, {})
            self.tables.save(replace(addition.state, commit=addition.state.commit + 1))
        except BaseException:
            self.discard(addition.change)
            raise
        self.finish(addition)
        return removed

    def compact(self) -> None:
        """The server does that itself."""

    def id_digests(self, ids: Sequence[Id]) -> Digests:
        """What ids are looked up by."""
        return digests_of_ids(ids, self.state.id_kind)

    def workers(self) -> Workers:
        """Threads for large pieces of work."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        return threads_of(self._pool)


def members_of(making: Making, poster: Poster, kept: Sequence[bytes]) -> list[npt.NDArray[Any]]:
    """The keys of the members of contents that are kept."""
    contents = pa.array(kept, pa.large_binary()).cast(making.kept_type)
    offsets, hashes = making.keeping.sets(making.measure, contents)
    return np.split(poster.keys(hashes), offsets[1:-1])


def open_tables(place: PostgresPlace, *, read_only: bool) -> PostgresStore:
    """An index that is there."""
    tables = Tables(place)
    try:
        return PostgresStore(tables, Making.from_facts(tables.facts()), read_only=read_only)
    except BaseException:
        tables.close()
        raise


def create_tables(
    place: PostgresPlace, making: Making, source: Source | None, skipped: Skipped
) -> None:
    """Make an index in one transaction, with the documents of a source: whole or not at all."""
    tables = Tables(place)
    begun = False

    def build(settled: Making, met: Skipped) -> float:
        nonlocal begun
        if begun:
            tables.roll_back()
        tables.begin_creating()
        begun = True
        if tables.is_there():
            raise SinkError(
                f"there is an index in {place.shown} already; give another name, as in "
                "?index=other, or add to it with nearly index add"
            )
        tables.create(settled.facts())
        store = PostgresStore(tables, settled, read_only=False)
        return 0.0 if source is None else store.fill(source, met)

    try:
        settle(making, first_extent(making, source), skipped, build)
        tables.commit()
    finally:
        tables.close()  # which rolls back what was not committed


def _no_segment(draft: Draft, workers: Workers) -> tuple[int, Written, Live]:
    raise NotImplementedError("an index in PostgreSQL has no segments")
