"""An index in PostgreSQL: tables that many processes on many machines write and read.

Every document is in the state that is called pending on disk: a row with its content. Keys of
bands stand in a table of their own, partitioned by key. A question fetches what shares a bucket
with it, and is answered from a segment in memory that holds just this. A transaction is a commit;
writers wait for each other, readers for nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nearly.errors import MissingError, SettingsError, SinkError, UnreadableError
from nearly.index.catalogue import Commit, Pending, State
from nearly.index.postgres_place import PostgresPlace
from nearly.index.segment_file import FORMAT

__all__ = ["Tables", "sortable"]

#: Parts of the table of bands: a key lies in one of them.
PARTITIONS: Final = 16
_STATE: Final = ("commit", "next_number", "next_row", "id_kind")
_SCHEMA: Final = """
CREATE SCHEMA {0};
CREATE TABLE {0}.facts (format int NOT NULL, value text NOT NULL);
CREATE TABLE {0}.state (value text NOT NULL);
CREATE TABLE {0}.contents (digest bytea PRIMARY KEY, size int NOT NULL, keys bytea NOT NULL,
    sketch bytea NOT NULL, content bytea NOT NULL);
CREATE TABLE {0}.documents (number bigint PRIMARY KEY, id bytea NOT NULL,
    id_digest bytea NOT NULL UNIQUE, digest bytea NOT NULL REFERENCES {0}.contents);
CREATE INDEX documents_by_content ON {0}.documents (digest);
CREATE TABLE {0}.bands (band int2 NOT NULL, key int8 NOT NULL, digest bytea NOT NULL)
    PARTITION BY HASH (key);
CREATE INDEX bands_by_key ON {0}.bands (band, key, digest);
"""
_FETCH: Final = """
SELECT d.number, d.id, c.digest, c.size, c.keys, c.sketch, c.content
FROM {0}.documents d JOIN {0}.contents c USING (digest)
"""
_NEAR: Final = """
SELECT DISTINCT met.digest FROM unnest(%s::int2[], %s::int8[]) AS asked (band, key)
CROSS JOIN LATERAL (SELECT b.digest FROM {0}.bands b WHERE b.band = asked.band
    AND b.key = asked.key ORDER BY b.digest LIMIT %s) AS met
"""

Digests = npt.NDArray[np.uint64]


def sortable(digests: Digests) -> list[bytes]:
    """Digests as bytes that stand in the same order."""
    return [row.tobytes() for row in digests.astype(">u8")]


def _plain(digest: bytes) -> bytes:
    """As arrays have them."""
    return np.frombuffer(digest, ">u8").astype(np.uint64).tobytes()


class Tables:
    """One connection, and what is asked and told through it."""

    def __init__(self, place: PostgresPlace) -> None:
        self.place = place
        try:
            import psycopg
        except ImportError as error:
            raise SettingsError(
                "an index in PostgreSQL needs psycopg; pip install 'nearly[postgres]'"
            ) from error
        self._error: type[Exception] = psycopg.Error
        with self._explained():
            self._connection = psycopg.connect(place.address, autocommit=True)

    def close(self) -> None:
        """Let go of the connection; what was not committed is not there."""
        self._connection.close()

    # What it is

    def create(self, facts: Mapping[str, Any]) -> None:
        """The tables of a new index, in a transaction that is open."""
        for statement in _SCHEMA.format(self.place.schema).split(";"):
            if statement.strip():
                self._run(statement)
        for part in range(PARTITIONS):
            self._run(
                f"CREATE TABLE {self.place.schema}.bands_{part} PARTITION OF "
                f"{self.place.schema}.bands FOR VALUES WITH (MODULUS {PARTITIONS}, "
                f"REMAINDER {part})"
            )
        told = json.dumps(dict(facts), sort_keys=True)
        self._run("INSERT INTO {0}.facts VALUES (%s, %s)", FORMAT, told)
        self._run("INSERT INTO {0}.state VALUES (%s)", self._told(State()))

    def is_there(self) -> bool:
        """Whether the index is."""
        found = self._run("SELECT to_regclass(%s)", f"{self.place.schema}.facts")
        return found[0][0] is not None

    def facts(self) -> dict[str, Any]:
        """What the index was made with."""
        if not self.is_there():
            raise MissingError(
                f"there is no index in {self.place.shown}; make one with nearly index create, or "
                "nearly.Index.create"
            )
        format_is, value = self._run("SELECT format, value FROM {0}.facts")[0]
        if format_is != FORMAT:
            raise UnreadableError(
                f"{self.place.shown} has version {format_is} of the format, and this version of "
                f"nearly reads {FORMAT}. Create the index anew from its documents, or use the "
                "version of nearly that made it"
            )
        facts: dict[str, Any] = json.loads(value)
        return facts

    def state(self) -> State:
        """What the last commit left."""
        return State(**json.loads(self._run("SELECT value FROM {0}.state")[0][0]))

    def _told(self, state: State) -> str:
        return json.dumps({name: getattr(state, name) for name in _STATE})

    # What it holds

    def near(self, keys: npt.NDArray[np.uint32], most: int) -> list[bytes]:
        """Digests of contents that share a bucket with a row of keys; of each bucket the least."""
        bands = np.tile(np.arange(keys.shape[1]), len(keys)).tolist()
        asked = keys.astype(np.int64).ravel().tolist()
        found = self._run(_NEAR, bands, asked, most + 1 if most else None)
        return [digest for (digest,) in found]

    def of_contents(self, digests: Sequence[bytes]) -> list[Pending]:
        """Documents that have these contents."""
        return self._pending("WHERE d.digest = ANY(%s)", list(digests))

    def of_ids(self, digests: Sequence[bytes]) -> list[Pending]:
        """Documents that have ids of these digests."""
        return self._pending("WHERE d.id_digest = ANY(%s)", list(digests))

    def everything(self) -> list[Pending]:
        """All documents."""
        return self._pending("")

    def _pending(self, where: str, *given: Any) -> list[Pending]:
        is_number = self.state().id_kind == "int64"
        found = self._run(f"{_FETCH} {where} ORDER BY d.number", *given)
        return [
            Pending(number, int(name) if is_number else name.decode(), _plain(digest), *rest)
            for number, name, digest, *rest in found
        ]

    def counts(self) -> tuple[int, int, int]:
        """Documents, contents that can be near to something, and bytes."""
        sized = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
        sized += "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s "
        sized += "AND c.relkind IN ('r', 'm')"
        return (
            int(self._run("SELECT count(*) FROM {0}.documents")[0][0]),
            int(self._run("SELECT count(*) FROM {0}.contents WHERE size > 0")[0][0]),
            int(self._run(sized, self.place.schema)[0][0]),
        )

    def problems(self) -> list[str]:
        """What a commit never leaves."""
        asked = {
            "contents are held, and no document has them": "SELECT count(*) FROM {0}.contents c "
            "WHERE NOT EXISTS (SELECT FROM {0}.documents d WHERE d.digest = c.digest)",
            "keys of bands are of no content": "SELECT count(*) FROM {0}.bands b "
            "WHERE NOT EXISTS (SELECT FROM {0}.contents c WHERE c.digest = b.digest)",
            "contents have not all of their keys": "SELECT count(*) FROM {0}.contents c "
            "WHERE size > 0 AND length(keys) / 4 <> (SELECT count(*) FROM {0}.bands b "
            "WHERE b.digest = c.digest)",
        }
        counts = {what: int(self._run(query)[0][0]) for what, query in asked.items()}
        return [f"{number:,} {what}" for what, number in counts.items() if number]

    # How it changes

    def begin(self) -> State:
        """Become the only writer until the transaction ends; gives what the last one left."""
        self._run("BEGIN")
        self.lock()
        return self.state()

    def lock(self) -> None:
        """Wait until no other writer is at work on this index."""
        self._run("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", self.place.schema)

    def hold(self) -> None:
        """The same until `release`, over several transactions."""
        self._run("SELECT pg_advisory_lock(hashtextextended(%s, 0))", self.place.schema)

    def release(self) -> None:
        """Let other writers in."""
        self._run("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", self.place.schema)

    def begin_creating(self) -> None:
        """A transaction, before there is a state."""
        self._run("BEGIN")
        self.lock()

    def end(self, *, commit: bool) -> None:
        """Make all of it durable, or none."""
        self._run("COMMIT" if commit else "ROLLBACK")

    def apply(self, change: Commit, id_digests: Mapping[int, bytes]) -> None:
        """Documents that go, then documents that come, whose ids have these digests."""
        if change.old_pending:
            self._remove(change.old_pending)
        if not change.new_pending:
            return
        new = self._new_contents(change.new_pending)
        self._copy(
            "contents",
            ["bytea", "int4", "bytea", "bytea", "bytea"],
            ((key, row.size, row.keys, row.sketch, row.content) for key, row in new.items()),
        )
        documents = (
            (row.number, str(row.id).encode(), id_digests[row.number], _ordered(row.digest))
            for row in change.new_pending
        )
        self._copy("documents", ["int8", "bytea", "bytea", "bytea"], documents)
        with self._copying("bands") as copy:
            copy.write(_copied_bands(new))

    def _copy(self, table: str, types: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
        with self._copying(table) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def _copying(self, table: str) -> Iterator[Any]:
        into = f"COPY {self.place.schema}.{table} FROM STDIN (FORMAT BINARY)"
        with (
            self._explained(),
            self._connection.cursor() as cursor,
            cursor.copy(into) as copy,
        ):
            yield copy

    def save(self, state: State) -> None:
        """What this transaction leaves."""
        self._run("UPDATE {0}.state SET value = %s", self._told(state))

    def _new_contents(self, rows: Sequence[Pending]) -> dict[bytes, Pending]:
        """The first row of each content that is not held yet."""
        firsts: dict[bytes, Pending] = {}
        for row in rows:
            firsts.setdefault(_ordered(row.digest), row)
        held = self._run("SELECT digest FROM {0}.contents WHERE digest = ANY(%s)", list(firsts))
        for (digest,) in held:
            del firsts[digest]
        return firsts

    def _remove(self, numbers: Sequence[int]) -> None:
        gone = self._run(
            "DELETE FROM {0}.documents WHERE number = ANY(%s) RETURNING digest", list(numbers)
        )
        left = self._run(
            "DELETE FROM {0}.contents c WHERE digest = ANY(%s) AND NOT EXISTS "
            "(SELECT FROM {0}.documents d WHERE d.digest = c.digest) RETURNING digest, keys",
            list({digest for (digest,) in gone}),
        )
        keys = [np.frombuffer(each, np.uint32) for _, each in left]
        self._run(
            "DELETE FROM {0}.bands b USING unnest(%s::int2[], %s::int8[], %s::bytea[]) "
            "AS gone (band, key, digest) WHERE b.band = gone.band AND b.key = gone.key "
            "AND b.digest = gone.digest",
            [band for each in keys for band in range(len(each))],
            [key for each in keys for key in each.tolist()],
            [digest for digest, each in left for _ in range(len(keys[0]))],
        )

    def _run(self, query: str, *given: Any) -> list[tuple[Any, ...]]:
        with self._explained():
            cursor = self._connection.execute(query.format(self.place.schema), given or None)
            return cursor.fetchall() if cursor.description is not None else []

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            told = " ".join(str(error).split())
            # A message of the server may repeat the address that it was given.
            told = told.replace(self.place.address, self.place.shown)
            raise SinkError(
                f"{self.place.shown} cannot be used: {told}. Nothing was changed; see to the "
                "server and your rights, and try again"
            ) from None


def _ordered(digest: bytes) -> bytes:
    """See `sortable`."""
    return np.frombuffer(digest, np.uint64).astype(">u8").tobytes()


def _copied_bands(contents: Mapping[bytes, Pending]) -> bytes:
    """Rows of the table of bands, as COPY takes them in binary."""
    kept = [(digest, row) for digest, row in contents.items() if row.size]
    band, key = [("a", ">i4"), ("band", ">i2")], [("b", ">i4"), ("key", ">i8")]
    kind = np.dtype([("fields", ">i2"), *band, *key, ("c", ">i4"), ("digest", "S16")])
    keys = np.array([np.frombuffer(row.keys, np.uint32) for _, row in kept])
    bands = keys.shape[1] if len(kept) else 0
    rows = np.zeros(len(kept) * bands, kind)
    rows["fields"], rows["a"], rows["b"], rows["c"] = 3, 2, 8, 16
    rows["band"] = np.tile(np.arange(bands), len(kept))
    rows["key"] = keys.ravel()
    rows["digest"] = np.repeat(np.array([digest for digest, _ in kept], "S16"), bands)
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff"
