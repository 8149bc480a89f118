"""What an index holds as of its last commit, and how that changes: commit by commit."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from threading import RLock
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import string_array
from nearly.documents.identity import id_digests
from nearly.documents.readable import Readable, Skips
from nearly.errors import SinkError, UnreadableError
from nearly.index import merge_policy
from nearly.index.addition import Addition
from nearly.index.answer import Id
from nearly.index.catalogue import CONTENT, DOCUMENT, Catalogue, Commit, State
from nearly.index.directory import Directory
from nearly.index.draft import Draft, draft_of
from nearly.index.live import Gone, Live, known
from nearly.index.making import Making
from nearly.index.merge import merged
from nearly.index.pending import Gathering, no_rows, rows_of_pending
from nearly.index.reading import Reading, chunks
from nearly.index.scratch import Scratch
from nearly.index.segment import Segment, open_segment
from nearly.index.segment_file import Written, write_file
from nearly.index.view import SegmentView
from nearly.measures.work import Workers, in_order
from nearly.sinks.decision import Ledger
from nearly.sources import Skipped

__all__ = ["Store", "digests_of_ids", "open_store", "threads_of"]

#: How often a reader looks again when what it read was merged away meanwhile.
TRIES: Final = 20

Given = TypeVar("Given")
Made = TypeVar("Made")


class Store:
    """Segments that are open, and the catalogue that names them."""

    def __init__(
        self,
        directory: Directory,
        catalogue: Catalogue,
        *,
        read_only: bool,
        is_tolerant: bool = False,
    ) -> None:
        self.directory, self.catalogue, self.read_only = directory, catalogue, read_only
        # What a tolerant store leaves aside: segments that cannot be opened, and why; and those
        # that can be, and have damaged pages.
        self.unreadable: dict[int, str] = {}
        self.broken: list[Live] = []
        self._is_tolerant = is_tolerant
        self.making = Making.from_facts(catalogue.facts())
        self.lock = RLock()
        self.state = State()
        self._lives: tuple[Live, ...] = ()
        self._view = SegmentView(self.making, self.state, self._lives)
        self._gathering = Gathering(self.making)
        self._fresh: dict[int, Segment] = {}  # written, and perhaps never committed
        self._version = -1
        self._pool: ThreadPoolExecutor | None = None
        self.scratch = Scratch()
        self._load()

    def close(self) -> None:
        """Let go of all files."""
        if self._pool is not None:
            self._pool.shutdown()
        self.scratch.close()
        self.catalogue.close()
        self.directory.close()

    # What it holds

    def lives(self) -> tuple[Live, ...]:
        """What the last commit left: the writer's own, or that of another process."""
        return self.view().lives

    def view(self) -> SegmentView:
        """The same, for questions; a thread that asks does not wait for one that writes."""
        if self.read_only:
            with self.lock:
                if self.catalogue.version() != self._version:
                    self._load()
        return self._view

    def reading(self) -> AbstractContextManager[SegmentView]:
        """For questions, all of them about one commit."""
        return nullcontext(self.view())

    @property
    def place(self) -> str | None:
        """The folder."""
        return os.path.dirname(self.directory.catalogue)

    @property
    def name(self) -> str:
        """What people call it."""
        return os.path.dirname(self.directory.catalogue)

    def held(self) -> AbstractContextManager[None]:
        """No other process writes meanwhile: a writer has the lock as long as it is open."""
        return nullcontext()

    def remove(self, ids: Sequence[Id]) -> int:
        """Remove documents by their ids, in one commit."""
        addition = self.addition(Skipped())
        removed = addition.remove(self.id_digests(ids))
        if removed:
            self.commit(addition.change)
            self.merge()
        return removed

    def _load(self) -> None:
        for attempt in range(TRIES):
            self._version = self.catalogue.version()
            state = self.catalogue.load(self.state)
            try:
                self._adopt(state)
            except UnreadableError:
                is_past = self.catalogue.load().commit != state.commit
                if not is_past or attempt == TRIES - 1:
                    raise
            else:
                return

    def _adopt(self, state: State) -> None:
        """Open what is new, and let go of what is no longer named."""
        before = {live.key: live for live in self._lives}
        gone: dict[tuple[int, int], list[int]] = {}
        for row in state.gone:
            gone.setdefault((row.key, row.kind), []).append(row.number)
        lives: list[Live] = []
        for key, written in state.segments.items():
            try:
                segment = self._fresh.pop(key, None) or (
                    before[key].segment if key in before else self._open(written)
                )
            except UnreadableError as error:
                if not self._is_tolerant:
                    raise
                self.unreadable[key] = str(error)
                continue
            documents = Gone().with_more(gone.get((key, DOCUMENT), []), segment.documents)
            contents = Gone().with_more(gone.get((key, CONTENT), []), segment.contents)
            live = Live(key, segment, documents, contents)
            is_broken = self._is_tolerant and segment.damaged_pages()
            (self.broken if is_broken else lives).append(live)
        if state.pending:
            lives.append(self._gathering.live(state, lives))
        self.state, self._lives = state, tuple(lives)
        self._view = SegmentView(self.making, self.state, self._lives)

    def _open(self, written: Written, directory: Directory | None = None) -> Segment:
        is_text = self.making.keeping.is_text
        return open_segment(directory or self.directory, written, is_text=is_text)

    # How it changes

    def addition(self, skipped: Skips) -> Addition:
        """A change that is begun, on top of what is held now."""

        def write(draft: Draft, workers: Workers) -> tuple[int, Written, Live]:
            key = self.state.next_key + len(addition.change.new_segments)
            return self._write(key, draft, workers)

        addition = Addition(
            asking=self.making.asking,
            state=self.state,
            lives=list(self._lives),
            write=write,
            workers=self.workers(),
            skipped=skipped,
        )
        return addition

    def take(self, addition: Addition, reading: Reading, source: Readable) -> None:
        """Write all documents of a source; nothing changes before `finish`."""
        batches = reading.rows(source, addition.skipped, addition.workers)
        for rows, is_last in chunks(batches, is_posted=self.making.poster is not None):
            addition.take(rows, is_last=is_last)
        addition.change.numbers = {
            "next_number": reading.next_number,
            "next_row": self.state.next_row + reading.numbered,
            "next_key": self.state.next_key + len(addition.change.new_segments),
            "id_kind": self.state.id_kind or (reading.id_kind if reading.documents else None),
        }

    def add(self, addition: Addition, reading: Reading, source: Readable) -> None:
        """Take all documents of a source: one commit, or none."""
        try:
            self.take(addition, reading, source)
        except BaseException:
            self.discard(addition.change)
            raise
        self.finish(addition)

    @property
    def ledger(self) -> Ledger | None:
        """Where to ask whether a run was committed."""
        return self.catalogue.ledger

    def finish(self, addition: Addition) -> None:
        """Commit what was taken."""
        try:
            self.commit(addition.change)
        except BaseException:
            self.discard(addition.change)
            raise
        self.merge()

    def commit(self, change: Commit) -> None:
        """Make a change durable: its files are, already."""
        if change.new_segments:
            self.directory.sync()
        retired = [self.state.segments[key].name for key in change.old_segments]
        # From here on the change is there: whatever fails now must not take its files away.
        self.state = self.catalogue.commit(self.state, change)
        self._adopt(self.state)
        for name in retired:
            with suppress(OSError):  # whoever opens the index next removes it
                self.directory.remove(name)

    def flush(self) -> None:
        """What is pending becomes a segment."""
        if not self.state.pending:
            return
        rows = rows_of_pending(list(self.state.pending.values()), no_rows(self.making, self.state))
        workers = self.workers()
        draft = draft_of(rows, known(self._lives, rows.digests), workers, self.making.poster)
        self._replace(draft, Commit(old_pending=list(self.state.pending)))

    def compact(self) -> None:
        """All that is held becomes one segment."""
        self.flush()
        if len(self._lives) > 1 or any(live.documents.count for live in self._lives):
            self._merge(self._lives)

    def merge(self) -> None:
        """Merge segments as long as the policy says so."""
        while True:
            lives = [live for live in self._lives if live.key]
            sizes = [(live.segment.documents, live.documents.count) for live in lives]
            chosen = merge_policy.choose([merge_policy.Size(*size) for size in sizes])
            if not chosen:
                return
            self._merge([lives[place] for place in chosen])

    def _merge(self, lives: Sequence[Live]) -> None:
        with ExitStack() as stack:
            for live in lives:
                stack.enter_context(live.segment.read_through())
            self._replace(merged(lives), Commit(old_segments=[live.key for live in lives]))

    def _replace(self, draft: Draft, change: Commit) -> None:
        """Commit one new segment, if there is anything in it, with what it replaces."""
        try:
            if len(draft.digests):
                key, written, _ = self._write(self.state.next_key, draft, self.workers())
                change.new_segments[key] = written
                change.numbers = {"next_key": key + 1}
            self.commit(change)
        except BaseException:
            self.discard(change)
            raise

    def _write(self, key: int, draft: Draft, workers: Workers) -> tuple[int, Written, Live]:
        facts = {"fingerprint": self.making.fingerprint, "key": key}
        name = f"{key:06}-{os.urandom(4).hex()}.segment"
        written = write_file(self.directory, name, draft, facts, workers)
        self._fresh[key] = self._open(written)
        return key, written, Live(key, self._fresh[key])

    def discard(self, change: Commit) -> None:
        """Remove files that no transaction named."""
        self._fresh.clear()
        named = self.names()
        for written in change.new_segments.values():
            if written.name not in named:
                with suppress(OSError):
                    self.directory.remove(written.name)

    def names(self) -> set[str]:
        """The files that the catalogue names."""
        return {written.name for written in self.state.segments.values()}

    def remove_strangers(self) -> None:
        """Files that the catalogue does not name: a writer was killed, or could not remove them."""
        named = self.names()
        for name in self.directory.names():
            if name not in named:
                self.directory.remove(name)

    def id_digests(self, ids: Sequence[Id]) -> npt.NDArray[np.uint64]:
        """What ids are looked up by."""
        return digests_of_ids(ids, self.state.id_kind)

    def workers(self) -> Workers:
        """Threads for large pieces of work."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        return threads_of(self._pool)


def threads_of(pool: ThreadPoolExecutor) -> Workers:
    """As many workers as there are cores."""
    threads = len(os.sched_getaffinity(0))

    def spread(function: Callable[[Given], Made], items: Iterable[Given], /) -> Iterator[Made]:
        return in_order(pool, function, items, 2 * threads)

    return Workers(spread, threads)


def digests_of_ids(ids: Sequence[Id], kind: str | None) -> npt.NDArray[np.uint64]:
    """What ids are looked up by; none for what cannot be an id of this kind."""
    if kind == "int64":
        numbers = [number for number in map(_whole, ids) if number is not None]
        return id_digests(pa.array(numbers, pa.int64()))
    return id_digests(string_array([str(each) for each in ids], pa.string()))


def _whole(given: Id) -> int | None:
    """A whole number, or the one that a string spells: all that a command line can give."""
    try:
        number = int(given)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 else None


def open_store(directory: Directory, *, read_only: bool, is_tolerant: bool = False) -> Store:
    """Open what lies in a directory; to write, only where nobody else does.

    Who is tolerant gets a store without the segments that are broken.
    """
    if not read_only and not directory.lock():
        raise SinkError(
            "another process writes to the index; wait until it ends, or open the index for "
            "reading only"
        )
    try:
        catalogue = Catalogue(directory.catalogue, read_only=read_only)
        try:
            store = Store(directory, catalogue, read_only=read_only, is_tolerant=is_tolerant)
            if not read_only:
                store.remove_strangers()
        except BaseException:
            catalogue.close()
            raise
    except BaseException:
        directory.close()
        raise
    return store
