"""A change that a client asked for, and which of them can be one commit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from nearly.index.answer import Id

__all__ = ["Change", "Kind", "group"]

Kind = Literal["add", "replace", "remove"]

#: Documents of one commit; as many skipped ones can be listed.
MOST_TOGETHER: Final = 10_000


@dataclass(frozen=True, eq=False)
class Change:
    """Documents to add, to put in the place of others, or to remove."""

    kind: Kind
    ids: Sequence[Id]
    contents: Sequence[Any] = ()
    size: int = 0  # bytes
    done: Future[Any] = field(default_factory=Future)

    @property
    def names(self) -> set[str]:
        """The ids as strings: what skipped documents are called."""
        return {str(each) for each in self.ids}


def group(waiting: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """The changes of the next commit, and those that stay: no change overtakes one of its ids."""
    together: list[Change] = []
    later: list[Change] = []
    held: set[str] = set()
    count = 0
    for change in waiting:
        names = change.names
        fits = not together or count + len(change.ids) <= MOST_TOGETHER
        if change.kind == waiting[0].kind and fits and held.isdisjoint(names):
            together.append(change)
            count += len(change.ids)
        else:
            later.append(change)
        held |= names
    return together, later
