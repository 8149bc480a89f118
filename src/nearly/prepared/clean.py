"""What a clean copy would leave out: one document of each cluster stays, by a rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any, Final

from nearly import api
from nearly.errors import EngineError, SettingsError
from nearly.prepared.cluster import NAMED, PAGE
from nearly.prepared.result import Prepared
from nearly.prepared.survivor import survivors_of
from nearly.settings import Settings

__all__ = ["RULES", "Clean", "Cleaning", "cleaning", "dedup_options"]

#: Those that need nothing but the documents.
RULES: Final = ("first", "last", "longest", "shortest")


@dataclass(frozen=True, kw_only=True)
class Clean:
    """A cluster, and who of it stays; None where it is too large to look at here."""

    cluster: int
    size: int
    survivor: str | None
    why: str | None
    removed: tuple[str, ...]  # the first of them, by name


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What would be removed, cluster by cluster, the largest first."""

    keep: str
    documents: int
    removed: int
    copies: int  # of these, exact copies
    page: int
    pages: int
    rows: tuple[Clean, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def cleaning(
    prepared: Prepared, keep: str = "first", *, page: int = 1, hidden: bool = False
) -> Cleaning:
    """What `dedup` would do with these clusters."""
    if keep not in RULES:
        raise SettingsError(f"keep is {keep!r}; choose one of {', '.join(RULES)}")
    order = prepared.array("largest_first")
    pages = max(1, -(-len(order) // PAGE))
    page = min(max(page, 1), pages)
    shown = order[(page - 1) * PAGE : page * PAGE].tolist()
    rows = [_row(prepared, cluster, keep, hidden=hidden) for cluster in shown]
    numbers = prepared.found.statistics
    return Cleaning(
        keep=keep,
        documents=numbers.documents,
        removed=int(prepared.array("cluster_starts")[-1]) - len(order),
        copies=numbers.copies,
        page=page,
        pages=pages,
        rows=tuple(rows),
    )


def _row(prepared: Prepared, cluster: int, keep: str, *, hidden: bool) -> Clean:
    members = prepared.members_of(cluster)
    survivors = survivors_of(prepared, cluster, hidden=hidden)
    chosen = [each for each in survivors if each.rule == keep]
    if not chosen:
        return Clean(cluster=cluster, size=len(members), survivor=None, why=None, removed=())
    others = [each for each in members if each != chosen[0].member]
    return Clean(
        cluster=cluster,
        size=len(members),
        survivor=chosen[0].name,
        why=chosen[0].why,
        removed=tuple(prepared.names(others[:NAMED], hidden=hidden)),
    )


def dedup_options(prepared: Prepared) -> tuple[str | list[str], dict[str, Any]]:
    """Where the documents are, and what `dedup` is told to see them as the run did."""
    found = prepared.found
    if prepared.members["group"] is not None:
        raise SettingsError(
            f"group is {prepared.members['group']!r}, so pairs inside of one are not shown, and a "
            "clean copy would lose documents that nobody saw; take the result without a group"
        )
    if found.origin is None:
        raise EngineError(
            "the documents were given as an object of another process, so no clean copy can be "
            "made of them here; run nearly.dedup in Python"
        )
    usual, chosen = (_flat(each) for each in (Settings(), found.settings))
    told = {name: value for name, value in chosen.items() if value != usual[name]}
    read = asdict(found.origin)
    place = read.pop("given")
    known = signature(api.dedup).parameters
    options = {n: v for n, v in (read | told).items() if v not in (None, False) and n in known}
    return place, options | {"measure": found.statistics.measure}


def _flat(settings: Settings) -> dict[str, Any]:
    plain: dict[str, Any] = settings.to_dict()
    text: dict[str, Any] = plain.pop("text")
    return plain | text
