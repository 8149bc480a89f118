"""The catalogue: an SQLite file whose transactions are the only moments at which an index changes.

It says what the index was made with, which segments are live, what of them is gone, and holds the
documents that came since the last segment was written (`pending`). A segment's file is *written*
before the transaction that names it; then it is *committed*. A merge leaves files that are no
longer named: they are *retired*, and removed. So whoever holds the lock may remove a file that no
transaction names.

SQLite has no checksums, so every row has one, and the sums of them stand in the one row of `state`,
which has one too: a row that changed, or went, is found when the catalogue is read.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote

from nearly.errors import SinkError, UnreadableError
from nearly.index.segment_file import FORMAT, Written
from nearly.sinks.decision import Ledger, write_down

__all__ = ["Catalogue", "Commit", "Pending", "State"]

SCHEMA: Final = """
CREATE TABLE facts (value TEXT NOT NULL, sum BLOB NOT NULL);
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), value TEXT NOT NULL,
    sum BLOB NOT NULL);
CREATE TABLE segments (key INTEGER PRIMARY KEY, name TEXT NOT NULL, contents INTEGER NOT NULL,
    keyed INTEGER NOT NULL, documents INTEGER NOT NULL, bytes INTEGER NOT NULL, sum BLOB NOT NULL);
CREATE TABLE gone (key INTEGER NOT NULL, kind INTEGER NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (key, kind, number)) WITHOUT ROWID;
CREATE TABLE pending (number INTEGER PRIMARY KEY, id NOT NULL, digest BLOB NOT NULL,
    size INTEGER NOT NULL, keys BLOB NOT NULL, sketch BLOB NOT NULL, content BLOB NOT NULL);
"""
# Columns by name: a damaged file may have others.
EACH_SEGMENT: Final = "SELECT key, name, contents, keyed, documents, bytes, sum FROM segments"
EACH_GONE: Final = "SELECT key, kind, number FROM gone"
EACH_PENDING: Final = "SELECT number, id, digest, size, keys, sketch, content FROM pending"
APPLICATION: Final = 0x6E656172  # "near": what `file` and we know an index by
DOCUMENT, CONTENT = 0, 1

IdKind = Literal["int64", "string"]


class Pending(NamedTuple):
    """A document that is in no segment yet."""

    number: int
    id: int | str
    digest: bytes
    size: int
    keys: bytes
    sketch: bytes
    content: bytes


class GoneRow(NamedTuple):
    """A document, or a content, of a segment that is gone."""

    key: int
    kind: int
    number: int


@dataclass(frozen=True, kw_only=True)
class State:
    """What a commit left."""

    commit: int = 0
    next_number: int = 0
    next_key: int = 1
    next_row: int = 0  # the id of the next document that has none
    id_kind: IdKind | None = None
    segments: Mapping[int, Written] = field(default_factory=dict)
    gone: frozenset[GoneRow] = frozenset()
    pending: Mapping[int, Pending] = field(default_factory=dict)
    sums: Mapping[str, int] = field(
        default_factory=lambda: {"segments": 0, "gone": 0, "pending": 0}
    )


@dataclass(kw_only=True)
class Commit:
    """What one transaction changes."""

    new_segments: dict[int, Written] = field(default_factory=dict)
    old_segments: list[int] = field(default_factory=list)
    gone: list[GoneRow] = field(default_factory=list)
    new_pending: list[Pending] = field(default_factory=list)
    old_pending: list[int] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)  # what else of the state changes
    token: str | None = None  # of a run whose outputs stay if this is committed


class Catalogue:
    """One connection to the file."""

    def __init__(self, path: str, *, read_only: bool = False, is_new: bool = False) -> None:
        self._path = path
        how = _read_only(path) if read_only else "mode=rwc" if is_new else "mode=rw"
        name = path if path == ":memory:" else f"file:{quote(path)}?{how}"
        with self._explained():
            self._connection = sqlite3.connect(
                name, uri=path != ":memory:", isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA busy_timeout = 5000")
            if not read_only:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @property
    def ledger(self) -> Ledger:
        """Where the tokens of runs are written down."""
        return Ledger(path=os.path.abspath(self._path), inode=os.stat(self._path).st_ino)

    def create(self, facts: Mapping[str, Any]) -> None:
        """The tables of a new index, and what it is made with."""
        with self._explained(), self._transaction():
            for statement in SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            told = json.dumps(dict(facts), sort_keys=True)
            self._connection.execute("INSERT INTO facts VALUES (?, ?)", _summed(told))
            self._write_state(State())

    def facts(self) -> dict[str, Any]:
        """What the index was made with."""
        with self._explained():
            if self._pragma("application_id") != APPLICATION:
                raise UnreadableError(f"{self._path} is not the catalogue of an index of nearly")
            found = self._pragma("user_version")
            if found != FORMAT:
                raise UnreadableError(
                    f"{self._path} has version {found} of the format, and this version of nearly "
                    f"reads {FORMAT}. Create the index anew from its documents, or use the version "
                    "of nearly that made it"
                )
            return self._only_row("facts")

    def version(self) -> int:
        """Another number after every commit of another connection."""
        with self._explained():
            return self._pragma("data_version")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def load(self, before: State | None = None) -> State:
        """All of it, as of one commit; mostly only little came after the one `before`."""
        with self._explained(), self._transaction("BEGIN"):
            value = self._only_row("state")
            later = None if before is None else self._loaded_since(before, value)
            return self._loaded(value) if later is None else later

    def _loaded_since(self, before: State, value: dict[str, Any]) -> State | None:
        """Where documents only became pending: the sums say whether this is all that happened."""
        newest = max(before.pending, default=-1)
        rows = self._connection.execute(f"{EACH_PENDING} WHERE number > ?", (newest,))
        new = [Pending(*row) for row in rows]
        pending = (before.sums["pending"] + sum_of(new)) % 2**64
        if value["sums"] != {**before.sums, "pending": pending}:
            return None
        more = {row.number: row for row in new}
        return replace(before, **value, pending={**before.pending, **more})

    def _loaded(self, value: dict[str, Any]) -> State:
        sums = value.pop("sums")
        # `+` keeps SQLite from using an index, which may be damaged where the rows are not.
        segments = self._connection.execute(f"{EACH_SEGMENT} ORDER BY +key").fetchall()
        gone = [GoneRow(*row) for row in self._connection.execute(EACH_GONE)]
        pending = [Pending(*row) for row in self._connection.execute(EACH_PENDING)]
        found = {"segments": segments, "gone": gone, "pending": pending}
        for name, read in found.items():
            if sum_of(read) != sums[name]:
                raise self._damaged()
        return State(
            **value,
            segments={key: _written(*rest) for key, *rest in segments},
            gone=frozenset(gone),
            pending={row.number: row for row in pending},
            sums=sums,
        )

    def _only_row(self, table: str) -> dict[str, Any]:
        rows = self._connection.execute(f"SELECT value, sum FROM {table}").fetchall()  # noqa: S608
        if len(rows) != 1 or rows[0] != _summed(rows[0][0]):
            raise self._damaged()
        value: dict[str, Any] = json.loads(rows[0][0])
        return value

    def commit(self, state: State, change: Commit) -> State:
        """Make a change durable; gives the state that it leaves."""
        after = applied(state, change)
        with self._explained(), self._transaction():
            run = self._connection.executemany
            run("DELETE FROM segments WHERE key = ?", [(key,) for key in change.old_segments])
            run("DELETE FROM gone WHERE key = ?", [(key,) for key in change.old_segments])
            run("DELETE FROM pending WHERE number = ?", [(n,) for n in change.old_pending])
            rows = [(key, *_row(written)) for key, written in change.new_segments.items()]
            run("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            run("INSERT INTO gone VALUES (?, ?, ?)", change.gone)
            run("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?)", change.new_pending)
            if change.token is not None:
                write_down(self._connection, change.token)
            self._write_state(after)
        return after

    def _write_state(self, state: State) -> None:
        kept = ("commit", "next_number", "next_key", "next_row", "id_kind", "sums")
        value = json.dumps({name: getattr(state, name) for name in kept})
        self._connection.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", _summed(value))

    def copy_to(self, path: str) -> None:
        """A whole copy of the catalogue as of now, in a new file."""
        with self._explained():
            self._connection.execute("VACUUM INTO ?", (path,))

    def checked(self) -> list[str]:
        """What SQLite finds wrong with the file; nothing, mostly."""
        with self._explained():
            found = self._connection.execute("PRAGMA integrity_check").fetchall()
        return [f"the catalogue is damaged: {row[0]}" for row in found if row[0] != "ok"]

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        self._connection.execute(begin)
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            told = str(error)
            if "malformed" in told or "not a database" in told or "no such" in told:
                raise self._damaged() from error
            if "unable to open" in told:
                raise UnreadableError(f"{self._path} cannot be opened: {error}") from error
            raise SinkError(
                f"{self._path} cannot be changed: {error}. Nothing was changed; see to the disk "
                "and its rights, and try again"
            ) from error
        except (UnicodeDecodeError, OverflowError) as error:
            raise self._damaged() from error

    def _damaged(self) -> UnreadableError:
        return UnreadableError(
            f"the catalogue {self._path} is damaged: what it holds is not what was written. "
            "Restore a snapshot with nearly index restore"
        )


def applied(state: State, change: Commit) -> State:
    """The state after a change."""
    old = set(change.old_segments)
    dropped = [row for row in state.gone if row.key in old]
    segments = {key: each for key, each in state.segments.items() if key not in old}
    pending = dict(state.pending)
    removed = [pending.pop(number) for number in change.old_pending]
    sums = {
        "segments": sum_of((key, *_row(each)) for key, each in change.new_segments.items())
        - sum_of((key, *_row(state.segments[key])) for key in old),
        "gone": sum_of(change.gone) - sum_of(dropped),
        "pending": sum_of(change.new_pending) - sum_of(removed),
    }
    numbers = {"commit": state.commit + 1, **change.numbers}
    return replace(
        state,
        **numbers,
        segments=segments | change.new_segments,
        gone=(state.gone - frozenset(dropped)) | frozenset(change.gone),
        pending=pending | {row.number: row for row in change.new_pending},
        sums={name: (state.sums[name] + more) % 2**64 for name, more in sums.items()},
    )


def sum_of(rows: Iterable[Iterable[Any]]) -> int:
    """The sums of rows, added: the same in any order."""
    return sum(row_sum(*row) for row in rows) % 2**64


def row_sum(*values: int | str | bytes) -> int:
    """64 bits of the values of a row, each with its type and length."""
    hashed = hashlib.blake2b(digest_size=8)
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        hashed.update(b"%s %d " % (type(value).__name__.encode(), len(data)))
        hashed.update(data)
    return int.from_bytes(hashed.digest(), "little")


def _summed(value: str) -> tuple[str, bytes]:
    return value, row_sum(value).to_bytes(8, "little")


def _row(written: Written) -> tuple[Any, ...]:
    return (
        written.name,
        written.contents,
        written.keyed,
        written.documents,
        written.size,
        written.sum,
    )


def _written(
    name: str, contents: int, keyed: int, documents: int, size: int, digest: bytes
) -> Written:
    return Written(
        name=name, contents=contents, keyed=keyed, documents=documents, size=size, sum=digest
    )


def _read_only(path: str) -> str:
    """SQLite wants to write beside a file that it only reads, unless nobody can change it."""
    is_still = not os.path.exists(f"{path}-wal") and not os.access(os.path.dirname(path), os.W_OK)
    return "immutable=1" if is_still else "mode=ro"
