"""Outputs that stay if something else is committed: who decides, and how to ask afterwards.

Where a run writes files and changes an SQLite database, no rename can decide both. So the token of
the run is written down in the transaction; a later run that finds the mark of a killed one asks
whether it was.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

from nearly.frozen import dataclass

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Decider", "Ledger", "was_decided", "write_down"]


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """A database in which tokens are written down; another file in its place knows nothing."""

    path: str
    inode: int


class Decider(Protocol):
    """What commits with the outputs."""

    @property
    def ledger(self) -> Ledger | None:
        """Where to ask afterwards; None where nobody can: then it commits after the outputs."""

    def decide(self, token: str) -> None:
        """Commit, and write the token down in the same transaction."""


def write_down(connection: sqlite3.Connection, token: str) -> None:
    """In the transaction that is open."""
    connection.execute("CREATE TABLE IF NOT EXISTS decided (token TEXT PRIMARY KEY)")
    connection.execute("INSERT INTO decided VALUES (?)", (token,))


def was_decided(ledger: Ledger, token: str) -> bool | None:
    """Whether the transaction of a run was committed; None where that cannot be found out."""
    import sqlite3  # seldom needed
    from urllib.parse import quote

    try:
        if os.stat(ledger.path).st_ino != ledger.inode:
            return None
        place = f"file:{quote(ledger.path)}?mode=rw"
        with closing(sqlite3.connect(place, uri=True)) as connection:
            known = "SELECT count(*) FROM sqlite_master WHERE name = 'decided'"
            if not connection.execute(known).fetchone()[0]:
                return False
            found = connection.execute("SELECT 1 FROM decided WHERE token = ?", (token,))
            return found.fetchone() is not None
    except (OSError, sqlite3.Error):
        return None
