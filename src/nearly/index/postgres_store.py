"""What an index in PostgreSQL holds, and how that changes: the store of `postgres.Tables`."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import RLock

import numpy as np
import numpy.typing as npt

from nearly.documents.readable import Readable, Skips
from nearly.errors import SettingsError, SinkError
from nearly.index.addition import Addition
from nearly.index.answer import Id
from nearly.index.catalogue import Commit, Pending, State
from nearly.index.creation import settle
from nearly.index.draft import Draft, Rows
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.pending import live_of, pending_rows
from nearly.index.postgres import Tables, sortable
from nearly.index.postgres_place import PostgresPlace
from nearly.index.reading import Reading, reading_of
from nearly.index.scratch import Scratch
from nearly.index.search import MOST_MEMBERS
from nearly.index.segment_file import Written
from nearly.index.store import digests_of_ids, threads_of
from nearly.index.view import Counts
from nearly.measures.base import Signed
from nearly.measures.work import Workers
from nearly.sources import Skipped, Source

__all__ = ["PostgresStore", "create_tables", "open_tables"]

Digests = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class PostgresView:
    """See `View`; what is fetched is as of the commit that is the last then."""

    making: Making
    tables: Tables

    @property
    def state(self) -> State:
        """See `View`."""
        return self.tables.state()

    def near(self, signed: Signed, most: int) -> Sequence[Live]:
        """See `View`."""
        return self._live(self._met(signed, most))

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

    def for_adding(self, rows: Rows) -> list[Live]:
        """All that new documents have to be compared with: near ones, copies, and equal ids."""
        same_ids = self.tables.of_ids(sortable(rows.id_digests))
        found = {row.number: row for row in (*self._met(rows, MOST_MEMBERS), *same_ids)}
        return self._live([found[number] for number in sorted(found)])

    def _met(self, asked: Signed | Rows, most: int) -> list[Pending]:
        """Documents that share a bucket with one that is asked for, and its copies."""
        there = asked.sizes > 0  # what is empty is near to nothing
        met = self.tables.near(asked.keys[there], most)
        return self.tables.of_contents([*met, *sortable(asked.digests[there])])

    def _live(self, pending: list[Pending]) -> list[Live]:
        return [live_of(pending, self.making, self.state)] if pending else []


@dataclass
class PostgresAddition(Addition):
    """What one call adds, in a transaction that is open: each batch is told to the server."""

    view: PostgresView = field(kw_only=True)

    def take(self, rows: Rows, *, is_last: bool) -> None:  # noqa: ARG002
        """See `Addition`."""
        self.lives = self.view.for_adding(rows)
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

    def view(self) -> PostgresView:
        """For questions."""
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
        """What makes no sense."""
        return self.tables.problems()

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
            view=self.view(),
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

    def finish(self, addition: Addition) -> None:  # noqa: ARG002
        """Commit what was taken."""
        self.tables.end(commit=True)

    def discard(self, change: Commit) -> None:  # noqa: ARG002
        """Nothing of it is there."""
        self.tables.end(commit=False)

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
    if making.poster is not None:
        raise SettingsError(
            f"measure is {making.measure_name!r}, for which an index lists all members, and that "
            "is for an index in a folder; create it there"
        )
    tables = Tables(place)
    begun = False

    def build(settled: Making, met: Skipped) -> float:
        nonlocal begun
        if begun:
            tables.end(commit=False)
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
        settle(making, source, skipped, build)
        tables.end(commit=True)
    finally:
        tables.close()  # which rolls back what was not committed


def _no_segment(draft: Draft, workers: Workers) -> tuple[int, Written, Live]:
    raise NotImplementedError("an index in PostgreSQL has no segments")
