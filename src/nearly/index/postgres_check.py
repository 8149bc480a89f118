"""Whether an index in PostgreSQL is as it was written: every row is read, and looked up again.

A read finds a row of documents or contents that changed, and a page that PostgreSQL finds broken.
What it cannot find is a row that it is never led to. So here all rows of documents and contents are
summed up, and their sums compared with those that the last commit left; and what bands and members
should have, which follows from contents, is looked up by the indexes that questions use, and summed
up in the tables too.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from nearly.index.postgres import Sums, Tables, signed_sum

__all__ = ["problems"]

#: Rows that are looked at in one go.
ROWS: Final = 1024

_BY_INDEX: Final = ("seqscan", "hashjoin", "mergejoin", "bitmapscan")
_BY_ROW: Final = ("indexscan", "indexonlyscan", "bitmapscan")
#: Rows of a table, summed up by a hash that no commit needs to know.
_SUMMED: Final = "coalesce(sum(hashtextextended({0}, 0)::numeric{1}), 0)"
_NAMED: Final = {
    "bands": "{0}.band || ' ' || {0}.key || ' ' || encode({0}.digest, 'hex')",
    "members": "{0}.key || ' ' || encode({0}.digest, 'hex')",
}
_DOCUMENTS: Final = "SELECT number, id, id_digest, digest, sum FROM {0}.documents"
_CONTENTS: Final = "SELECT digest, size, keys, sketch, content, sum FROM {0}.contents"

Row = tuple[Any, ...]


def problems(tables: Tables) -> list[str]:
    """What is not as it was written, or makes no sense."""
    with tables.snapshot():
        found = _of_rows(tables)
        # What contradicts rows that are damaged says nothing.
        return found or list(_contradictions(tables))


def _of_rows(tables: Tables) -> list[str]:
    """Rows whose checksums are wrong, and sums that are."""
    found: list[str] = []
    sums = Sums()
    _prefer(tables, _BY_ROW)
    for name, query in (("documents", _DOCUMENTS), ("contents", _CONTENTS)):
        wrong = 0
        for rows in tables.rows(query, ROWS):
            wrong += sum(signed_sum(*row[:-1]) != row[-1] for row in rows)
            more = [row[-1] for row in rows]
            sums = sums.with_more(*((more, []) if name == "documents" else ([], more)))
        if wrong:
            found.append(f"{wrong:,} rows of {name} are not as they were written")
    if not found and sums != tables.sums():
        held = tables.sums()
        found.append(
            f"there are {sums.documents:,} documents of {sums.contents:,} contents, and not the "
            f"{held.documents:,} of {held.contents:,} that were written"
        )
    return found


def _contradictions(tables: Tables) -> Iterator[str]:
    """What a commit never leaves."""
    lost = sum(_documents_lost(tables, rows) for rows in tables.rows(_DOCUMENTS, ROWS))
    if lost:
        yield f"{lost:,} documents are not found by their ids or contents"
    for table in ("bands", "members"):
        wrong, expected = 0, [0, 0]
        for rows in tables.rows(_CONTENTS, ROWS):
            missing, *summed = _looked_up(tables, table, [row for row in rows if row[1]])
            wrong += missing
            expected = [a + b for a, b in zip(expected, summed, strict=True)]
        if wrong:
            yield f"{wrong:,} rows of {table} are not found"
        _prefer(tables, _BY_ROW)
        summed_up = _SUMMED.format(_NAMED[table].format("t"), "")
        there = tables.run(f"SELECT count(*), {summed_up} FROM {{0}}.{table} t")[0]  # noqa: S608
        if not wrong and list(there) != expected:
            yield f"the rows of {table} are not those that its contents have"


def _documents_lost(tables: Tables, rows: Sequence[Row]) -> int:
    """Documents that the indexes do not lead to."""
    _prefer(tables, _BY_INDEX)
    lost = (
        "SELECT count(*) FROM unnest(%s::int8[], %s::bytea[], %s::bytea[]) AS e (number, named, "
        "held) WHERE NOT EXISTS (SELECT FROM {0}.documents d WHERE d.id_digest = e.named AND "
        "d.number = e.number) OR NOT EXISTS (SELECT FROM {0}.documents d WHERE d.digest = e.held "
        "AND d.number = e.number) OR NOT EXISTS (SELECT FROM {0}.contents c WHERE c.digest = "
        "e.held)"
    )
    columns = [[row[place] for row in rows] for place in (0, 2, 3)]
    return int(tables.run(lost, *columns)[0][0])


def _looked_up(tables: Tables, table: str, rows: Sequence[Row]) -> tuple[int, int, Any]:
    """Rows that contents should have in a table: how many are not found by its index, how many
    there are, and their sum."""
    columns = _expected(tables, table, rows)
    _prefer(tables, _BY_INDEX)
    given, named, same = {
        "bands": (
            "unnest(%s::int2[], %s::int8[], %s::bytea[], %s::int8[])",
            "(band, key, digest, times)",
            "t.band = e.band AND t.key = e.key AND t.digest = e.digest",
        ),
        "members": (
            "unnest(%s::int4[], %s::bytea[], %s::int8[])",
            "(key, digest, times)",
            "t.key = e.key AND t.digest = e.digest",
        ),
    }[table]
    summed = _SUMMED.format(_NAMED[table].format("e"), " * times")
    query = (
        f"SELECT count(*) FILTER (WHERE times <> (SELECT count(*) FROM {{0}}.{table} t WHERE "  # noqa: S608
        f"{same})), coalesce(sum(times), 0), {summed} FROM {given} AS e {named}"
    )
    missing, times, total = tables.run(query, *columns)[0]
    return int(missing), int(times), total


def _expected(tables: Tables, table: str, rows: Sequence[Row]) -> list[list[Any]]:
    """Columns of what contents should have in a table, each row with how often it is there."""
    if table == "bands":
        keys = [np.frombuffer(row[2], np.uint32).tolist() for row in rows]
        digests = [row[0] for row, each in zip(rows, keys, strict=True) for _ in each]
        bands = [band for each in keys for band in range(len(each))]
        return [bands, [key for each in keys for key in each], digests, [1] * len(digests)]
    if tables.members_of is None or not rows:
        return [[], [], []]
    columns: list[list[Any]] = [[], [], []]
    members = tables.members_of([row[4] for row in rows])
    for row, every in zip(rows, members, strict=True):
        different, times = np.unique(every.view(np.int32), return_counts=True)
        columns[0] += different.tolist()
        columns[1] += [row[0]] * len(different)
        columns[2] += times.tolist()
    return columns


def _prefer(tables: Tables, avoided: Sequence[str]) -> None:
    """Have the server go by its indexes, or by its rows, for the rest of the transaction."""
    for way in {*_BY_INDEX, *_BY_ROW}:
        tables.run(f"SET LOCAL enable_{way} = {'off' if way in avoided else 'on'}")
