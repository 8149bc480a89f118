"""An index in PostgreSQL: tables that many processes on many machines write and read.

Every document is in the state that is called pending on disk: a row with its content. Keys of
bands stand in a table of their own, partitioned by key, and so do members where documents do not
meet in buckets. A question fetches what may be near to it, and is answered from a segment in memory
that holds just this. A transaction is a commit; writers wait for each other, readers for nobody.

Rows of documents and contents have checksums, which every read compares; their sums stand in the
one row of `state`. Bands and members follow from contents, and `check` compares them with these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from nearly.errors import MissingError, NearlyError, SettingsError, SinkError, UnreadableError
from nearly.index.catalogue import Commit, Pending, State, row_sum
from nearly.index.postgres_place import PostgresPlace

__all__ = ["Sums", "Tables", "signed_sum", "sortable"]

#: The version of these tables. Others are refused.
FORMAT: Final = 2
#: Parts of the tables of bands and of members: a key lies in one of them.
PARTITIONS: Final = 16
_STATE: Final = ("commit", "next_number", "next_row", "id_kind")
_SCHEMA: Final = """
CREATE SCHEMA {0};
CREATE TABLE {0}.facts (format int NOT NULL, value text NOT NULL, sum int8 NOT NULL);
CREATE TABLE {0}.state (value text NOT NULL, sum int8 NOT NULL);
CREATE TABLE {0}.contents (digest bytea PRIMARY KEY, size int NOT NULL, keys bytea NOT NULL,
    sketch bytea NOT NULL, content bytea NOT NULL, sum int8 NOT NULL);
CREATE TABLE {0}.documents (number bigint PRIMARY KEY, id bytea NOT NULL,
    id_digest bytea NOT NULL UNIQUE, digest bytea NOT NULL REFERENCES {0}.contents,
    sum int8 NOT NULL);
CREATE INDEX documents_by_content ON {0}.documents (digest);
CREATE TABLE {0}.bands (band int2 NOT NULL, key int8 NOT NULL, digest bytea NOT NULL)
    PARTITION BY HASH (key);
CREATE INDEX bands_by_key ON {0}.bands (band, key, digest);
CREATE TABLE {0}.members (key int4 NOT NULL, digest bytea NOT NULL) PARTITION BY HASH (key);
CREATE INDEX members_by_key ON {0}.members (key, digest);
"""
#: Classes of errors by which the server says that what it stored is broken.
_DAMAGED: Final = ("XX", "58")
_FETCH: Final = """
SELECT d.number, d.id, d.id_digest, d.sum, c.digest, c.size, c.keys, c.sketch, c.content, c.sum
FROM {0}.documents d LEFT JOIN {0}.contents c USING (digest)
"""
_NEAR: Final = """
SELECT DISTINCT met.digest FROM unnest(%s::int2[], %s::int8[]) AS asked (band, key)
CROSS JOIN LATERAL (SELECT b.digest FROM {0}.bands b WHERE b.band = asked.band
    AND b.key = asked.key ORDER BY b.digest LIMIT %s) AS met
"""

#: Contents that share members with questions: how many, and how large the question is.
_SHARING: Final = """
SELECT met.digest, c.size, asked.size AS asked, met.shared FROM (
    SELECT sought.place, m.digest, count(*) AS shared
    FROM unnest(%s::int4[], %s::int4[]) AS sought (place, key) JOIN {0}.members m USING (key)
    GROUP BY 1, 2) AS met
JOIN {0}.contents c USING (digest)
JOIN unnest(%s::int4[]) WITH ORDINALITY AS asked (size, place) USING (place)
"""
_ENOUGH: Final = """
SELECT DISTINCT digest FROM ({1}) AS found
WHERE shared * %s::numeric >= least(size, asked) * %s::numeric
"""
_MOST: Final = """
SELECT digest FROM ({1}) AS found
ORDER BY shared::float8 / greatest(least(size, asked), 1) DESC FETCH FIRST %s ROWS WITH TIES
"""

Digests = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
#: The keys of the members of each of some contents that are kept.
MembersOf = Callable[[Sequence[bytes]], Sequence[U32]]


class Sums(NamedTuple):
    """Rows of documents and of contents: how many, and their checksums together."""

    documents: int = 0
    contents: int = 0
    document_sum: int = 0
    content_sum: int = 0

    def with_more(self, rows: Iterable[int], contents: Iterable[int], sign: int = 1) -> Self:
        """The same with rows that have these checksums, or without them."""
        more, others = list(rows), list(contents)
        return type(self)(
            self.documents + sign * len(more),
            self.contents + sign * len(others),
            (self.document_sum + sign * sum(more)) % 2**64,
            (self.content_sum + sign * sum(others)) % 2**64,
        )


def signed_sum(*values: int | str | bytes) -> int:
    """The checksum of a row, as a database has it."""
    found = row_sum(*values)
    return found - 2**64 if found >= 2**63 else found


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
        #: Where members are listed; set by who knows what the index is made with.
        self.members_of: MembersOf | None = None
        self._sums = Sums()
        self._is_held = False
        try:
            import psycopg
        except ImportError as error:
            raise SettingsError(
                "an index in PostgreSQL needs psycopg; pip install 'nearly[postgres]'"
            ) from error
        self._driver = psycopg
        self._connect()

    def _connect(self) -> None:
        with self._explained():
            self._connection = self._driver.connect(self.place.address, autocommit=True)

    def close(self) -> None:
        """Let go of the connection; what was not committed is not there."""
        self._connection.close()

    # What it is

    def create(self, facts: Mapping[str, Any]) -> None:
        """The tables of a new index, in a transaction that is open."""
        self._sums = Sums()
        for statement in _SCHEMA.format(self.place.schema).split(";"):
            if statement.strip():
                self.run(statement)
        for table in ("bands", "members"):
            for part in range(PARTITIONS):
                self.run(
                    f"CREATE TABLE {self.place.schema}.{table}_{part} PARTITION OF "
                    f"{self.place.schema}.{table} FOR VALUES WITH (MODULUS {PARTITIONS}, "
                    f"REMAINDER {part})"
                )
        told = json.dumps(dict(facts), sort_keys=True)
        self.run("INSERT INTO {0}.facts VALUES (%s, %s, %s)", FORMAT, told, signed_sum(told))
        self.run("INSERT INTO {0}.state VALUES ('', 0)")
        self.save(State())

    def is_there(self) -> bool:
        """Whether the index is."""
        found = self.run("SELECT to_regclass(%s)", f"{self.place.schema}.facts")
        return found[0][0] is not None

    def facts(self) -> dict[str, Any]:
        """What the index was made with."""
        if not self.is_there():
            raise MissingError(
                f"there is no index in {self.place.shown}; make one with nearly index create, or "
                "nearly.Index.create"
            )
        rows = self.run("SELECT format FROM {0}.facts")
        if len(rows) == 1 and rows[0][0] != FORMAT:
            raise UnreadableError(
                f"{self.place.shown} has version {rows[0][0]} of the format, and this version of "
                f"nearly reads {FORMAT}. Create the index anew from its documents, or use the "
                "version of nearly that made it"
            )
        return self._only_row("facts")

    def state(self) -> State:
        """What the last commit left."""
        return self._state()[0]

    def sums(self) -> Sums:
        """What the rows of the last commit add up to."""
        return self._state()[1]

    def _state(self) -> tuple[State, Sums]:
        value = self._only_row("state")
        sums = Sums(*value.pop("sums"))
        return State(**value), sums

    def _only_row(self, table: str) -> dict[str, Any]:
        rows = self.run(f"SELECT value, sum FROM {{0}}.{table}")  # noqa: S608
        if len(rows) != 1 or signed_sum(rows[0][0]) != rows[0][1]:
            raise self.damaged(f"the row of {table} is not as it was written")
        value: dict[str, Any] = json.loads(rows[0][0])
        return value

    # What it holds

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read in the block is as of one commit."""
        status = self._connection.info.transaction_status
        if not self._connection.closed and status != self._driver.pq.TransactionStatus.IDLE:
            yield  # within a change, or within another snapshot
            return
        self._first("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            with suppress(
                NearlyError
            ):  # what was read is here, and a lost connection holds nothing
                self.run("ROLLBACK")

    def near(self, keys: U32, most: int) -> list[bytes]:
        """Digests of contents that share a bucket with a row of keys; of each bucket the least."""
        bands = np.tile(np.arange(keys.shape[1]), len(keys)).tolist()
        asked = keys.astype(np.int64).ravel().tolist()
        found = self.run(_NEAR, bands, asked, most + 1 if most else None)
        return [digest for (digest,) in found]

    def sharing(
        self, asked: Sequence[U32], sizes: Sequence[int], threshold: Fraction | None, most: int
    ) -> list[bytes]:
        """Digests of contents that share enough members with a question, or those that share most.

        Shares are at least those of members, since keys of 32 bits may collide.
        """
        lengths = [len(keys) for keys in asked]
        places = np.repeat(np.arange(1, len(asked) + 1), lengths).tolist()
        keys = np.concatenate([np.empty(0, np.uint32), *asked]).view(np.int32).tolist()
        given = (places, keys, list(sizes))
        if threshold is None:
            found = self.run(_MOST.replace("{1}", _SHARING), *given, most)
        else:
            enough = _ENOUGH.replace("{1}", _SHARING)
            found = self.run(enough, *given, threshold.denominator, threshold.numerator)
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
        found = self.run(f"{_FETCH} {where} ORDER BY d.number", *given)
        return [self._sound(row, is_number=is_number) for row in found]

    def _sound(self, row: tuple[Any, ...], *, is_number: bool) -> Pending:
        """A document with its content, if both are as they were written."""
        number, name, id_digest, sum_here, digest, *content, content_sum = row
        if digest is None:
            raise self.damaged("a document has a content that is not there")
        if sum_here != signed_sum(number, name, id_digest, digest):
            raise self.damaged(f"the row of document {number} is not as it was written")
        if content_sum != signed_sum(digest, *content):
            raise self.damaged(f"the content of document {number} is not as it was written")
        name = int(name) if is_number else name.decode()
        return Pending(number, name, _plain(digest), *content)

    def counts(self) -> tuple[int, int, int]:
        """Documents, contents that can be near to something, and bytes."""
        sized = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
        sized += "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s "
        sized += "AND c.relkind IN ('r', 'm')"
        return (
            int(self.run("SELECT count(*) FROM {0}.documents")[0][0]),
            int(self.run("SELECT count(*) FROM {0}.contents WHERE size > 0")[0][0]),
            int(self.run(sized, self.place.schema)[0][0]),
        )

    # How it changes

    def begin(self) -> State:
        """Become the only writer until the transaction ends; gives what the last one left."""
        self.begin_creating()
        state, self._sums = self._state()
        return state

    def begin_creating(self) -> None:
        """A transaction, before there is a state."""
        self._first("BEGIN")
        self.run("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", self.place.schema)

    def hold(self) -> None:
        """Wait until no other writer is at work on this index, and keep others out."""
        self._first("SELECT pg_advisory_lock(hashtextextended(%s, 0))", self.place.schema)
        self._is_held = True

    def release(self) -> None:
        """Let other writers in."""
        self._is_held = False
        self.run("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", self.place.schema)

    def commit(self) -> None:
        """Make all of it durable."""
        try:
            self.run("COMMIT")
        except NearlyError as error:
            if not self._connection.closed:
                raise
            raise SinkError(
                f"the connection to {self.place.shown} was lost while the change was committed: it "
                "is there as a whole, or not at all. See whether it is; documents that are there "
                "already are skipped when they are added again"
            ) from error

    def roll_back(self) -> None:
        """None of it is there; nor is it where the connection was lost."""
        if not self._connection.closed:
            self.run("ROLLBACK")

    def apply(self, change: Commit, id_digests: Mapping[int, bytes]) -> None:
        """Documents that go, then documents that come, whose ids have these digests."""
        if change.old_pending:
            self._remove(change.old_pending)
        if not change.new_pending:
            return
        new = self._new_contents(change.new_pending)
        contents = [
            (*row, signed_sum(*row))
            for row in ((key, r.size, r.keys, r.sketch, r.content) for key, r in new.items())
        ]
        self._copy("contents", ["bytea", "int4", "bytea", "bytea", "bytea", "int8"], contents)
        rows = (
            (row.number, str(row.id).encode(), id_digests[row.number], _ordered(row.digest))
            for row in change.new_pending
        )
        documents = [(*row, signed_sum(*row)) for row in rows]
        self._copy("documents", ["int8", "bytea", "bytea", "bytea", "int8"], documents)
        self._sums = self._sums.with_more(_last(documents), _last(contents))
        kept = {digest: row for digest, row in new.items() if row.size}
        with self._copying("bands") as copy:
            copy.write(_copied_bands(kept))
        if self.members_of is not None and kept:
            with self._copying("members") as copy:
                found = self.members_of([row.content for row in kept.values()])
                copy.write(_copied_members(list(kept), found))

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
        told = json.dumps({**{n: getattr(state, n) for n in _STATE}, "sums": self._sums})
        self.run("UPDATE {0}.state SET value = %s, sum = %s", told, signed_sum(told))

    def _new_contents(self, rows: Sequence[Pending]) -> dict[bytes, Pending]:
        """The first row of each content that is not held yet."""
        firsts: dict[bytes, Pending] = {}
        for row in rows:
            firsts.setdefault(_ordered(row.digest), row)
        held = self.run("SELECT digest FROM {0}.contents WHERE digest = ANY(%s)", list(firsts))
        for (digest,) in held:
            del firsts[digest]
        return firsts

    def _remove(self, numbers: Sequence[int]) -> None:
        gone = self.run(
            "DELETE FROM {0}.documents WHERE number = ANY(%s) RETURNING digest, sum", list(numbers)
        )
        left = self.run(
            "DELETE FROM {0}.contents c WHERE digest = ANY(%s) AND NOT EXISTS "
            "(SELECT FROM {0}.documents d WHERE d.digest = c.digest) "
            "RETURNING digest, size, keys, content, sum",
            list({digest for digest, _ in gone}),
        )
        self._sums = self._sums.with_more(_last(gone), _last(left), -1)
        kept = [row for row in left if row[1]]
        keys = [np.frombuffer(row[2], np.uint32) for row in kept]
        self.run(
            "DELETE FROM {0}.bands b USING unnest(%s::int2[], %s::int8[], %s::bytea[]) "
            "AS gone (band, key, digest) WHERE b.band = gone.band AND b.key = gone.key "
            "AND b.digest = gone.digest",
            [band for each in keys for band in range(len(each))],
            [key for each in keys for key in each.tolist()],
            [row[0] for row, each in zip(kept, keys, strict=True) for _ in each],
        )
        if self.members_of is not None and kept:
            members = self.members_of([row[3] for row in kept])
            self.run(
                "DELETE FROM {0}.members m USING (SELECT DISTINCT * FROM unnest(%s::int4[], "
                "%s::bytea[]) AS every (key, digest)) AS gone WHERE m.key = gone.key AND "
                "m.digest = gone.digest",
                np.concatenate(members).view(np.int32).tolist(),
                [row[0] for row, each in zip(kept, members, strict=True) for _ in each],
            )

    def _first(self, query: str, *given: Any) -> None:
        """Run what begins something; anew where the connection was lost meanwhile."""
        try:
            self.run(query, *given)
        except NearlyError:
            if not self._connection.closed or self._is_held:
                raise
            self._connect()
            self.run(query, *given)

    def run(self, query: str, *given: Any) -> list[tuple[Any, ...]]:
        """The rows that a query gives; {0} is the schema."""
        with self._explained():
            cursor = self._connection.execute(query.format(self.place.schema), given or None)
            return cursor.fetchall() if cursor.description is not None else []

    def rows(self, query: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The same of very many, so many at a time; in a snapshot."""
        with self._explained(), self._connection.cursor(name="nearly") as cursor:
            cursor.execute(query.format(self.place.schema))
            while rows := cursor.fetchmany(size):
                yield rows

    def damaged(self, what: str) -> UnreadableError:
        """The error of rows that are not as they were written."""
        return UnreadableError(
            f"{self.place.shown} is damaged: {what}. Bring the index back from a copy of pg_dump, "
            "or create it anew from its documents"
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._driver.Error as error:
            told = " ".join(str(error).split())
            # A message of the server may repeat the address that it was given.
            told = told.replace(self.place.address, self.place.shown).rstrip(".")
            if (error.sqlstate or "")[:2] in _DAMAGED:
                raise self.damaged(told) from None
            raise SinkError(
                f"{self.place.shown} cannot be used. Nothing was changed; see to the server and "
                f"your rights, and try again. The server or its driver said: {told}"
            ) from None


def _last(rows: Iterable[tuple[Any, ...]]) -> Iterator[int]:
    """Checksums stand in the last column."""
    return (row[-1] for row in rows)


def _ordered(digest: bytes) -> bytes:
    """See `sortable`."""
    return np.frombuffer(digest, np.uint64).astype(">u8").tobytes()


_BEGIN, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"


def _copied_bands(contents: Mapping[bytes, Pending]) -> bytes:
    """Rows of the table of bands, as COPY takes them in binary."""
    band, key = [("a", ">i4"), ("band", ">i2")], [("b", ">i4"), ("key", ">i8")]
    kind = np.dtype([("fields", ">i2"), *band, *key, ("c", ">i4"), ("digest", "S16")])
    keys = np.array([np.frombuffer(row.keys, np.uint32) for row in contents.values()])
    bands = keys.shape[1] if len(contents) else 0
    rows = np.zeros(len(contents) * bands, kind)
    rows["fields"], rows["a"], rows["b"], rows["c"] = 3, 2, 8, 16
    rows["band"] = np.tile(np.arange(bands), len(contents))
    rows["key"] = keys.ravel()
    rows["digest"] = np.repeat(np.array(list(contents), "S16"), bands)
    return _BEGIN + rows.tobytes() + _END


def _copied_members(digests: Sequence[bytes], members: Sequence[U32]) -> bytes:
    """The same of the table of members."""
    key = [("a", ">i4"), ("key", ">i4")]
    kind = np.dtype([("fields", ">i2"), *key, ("b", ">i4"), ("digest", "S16")])
    keys = np.concatenate(members)
    rows = np.zeros(len(keys), kind)
    rows["fields"], rows["a"], rows["b"] = 2, 4, 16
    rows["key"] = keys.view(np.int32)
    rows["digest"] = np.repeat(np.array(digests, "S16"), [len(each) for each in members])
    return _BEGIN + rows.tobytes() + _END
