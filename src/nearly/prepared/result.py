"""A prepared result: tables and arrays that are mapped, and the few ways to look into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of
from nearly.errors import SettingsError
from nearly.prepared.layout import folder_of, map_array, map_table, read_members, stamp_of
from nearly.prepared.text import Texts
from nearly.prepared.wanted import strings_having
from nearly.results import Found
from nearly.saved import open_mapped
from nearly.view.label import Labels
from nearly.view.result import value_of

__all__ = ["Prepared", "is_prepared", "open_prepared"]

#: Which documents have some words: a byte a document, kept for turning pages.
MOST_ANSWERS: Final = 8

Whole = npt.NDArray[np.int32]


def is_prepared(
    result: Path, *, source: str | None = None, group: str | None = None, term: str | None = None
) -> bool:
    """Whether what lies beside a result was made of it, and as asked for."""
    members = read_members(folder_of(result))
    asked = {"stamp": stamp_of(result), "group": group, "source": source, "term": term}
    return members is not None and asked.items() <= members.items()


def open_prepared(result: Path) -> Prepared:
    """Map what `prepare` wrote."""
    folder = folder_of(result)
    members = read_members(folder)
    found = open_mapped(result)
    if members is None or not isinstance(found, Found):
        raise SettingsError(f"{str(result)!r} is not prepared to be looked at; prepare it first")
    if members["group"] is not None:
        pairs, clusters = (map_table(folder, name) for name in ("pairs", "clusters"))
        number = len(map_array(folder, "largest_first"))
        counts = replace(found.statistics, pairs=pairs.num_rows, clusters=number)
        found = replace(found, pairs=pairs, clusters=clusters, statistics=counts)
    return Prepared(place=result, found=found, members=members, folder=folder)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A result to look at. Documents, pairs and clusters are numbers, from 0."""

    place: Path
    found: Found
    members: dict[str, Any]
    folder: Path

    @property
    def value(self) -> str:
        """similarity or distance."""
        return value_of(self.found.pairs)

    @property
    def unread(self) -> str | None:
        """Why there are no texts, if so."""
        return self.members["unread"]  # type: ignore[no-any-return]

    def array(self, name: str) -> npt.NDArray[Any]:
        """One of the arrays that `prepare` made."""
        if name not in self._arrays:
            self._arrays[name] = map_array(self.folder, name)
        return self._arrays[name]

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {}

    @cached_property
    def documents(self) -> pa.Table:
        """Ids, and places where these repeat."""
        return map_table(self.folder, "documents")

    @cached_property
    def texts(self) -> Texts | None:
        """What reads texts, if there are any."""
        if self.unread is not None:
            return None
        return Texts(self.folder / "texts.arrow", self.array("text_rows"))

    @property
    def can_cut(self) -> bool:
        """Whether clusters are known at every threshold: leaders depend on all documents."""
        return self.found.settings.cluster == "components"

    # What stands where

    def names(self, documents: Sequence[int], *, hidden: bool = False) -> list[str]:
        """What documents are called; numbers for names that have to stay hidden."""
        if hidden:
            return [f"Document {document + 1}" for document in documents]
        chosen = self.documents.take(column_of(np.asarray(documents, np.int64)))
        return Labels().of(chosen, "id")

    def parts(self, kind: str, documents: Sequence[int], *, hidden: bool = False) -> list[str]:
        """The groups, or the terms, of some documents; empty where they have none.

        Groups may be names of people, and are numbers where names stay hidden; terms are not.
        """
        names = self.members[f"{kind}s"]
        if not names:
            return [""] * len(documents)
        shown = [f"Group {place + 1}" for place in range(len(names))] if hidden else names
        numbers = self.array(kind)[np.asarray(documents, np.int64)].tolist()
        return ["" if number < 0 else shown[number] for number in numbers]

    def ends(self, pair: int) -> tuple[int, int]:
        """Both documents of a pair."""
        return int(self.array("first")[pair]), int(self.array("second")[pair])

    def values_of(self, pairs: Whole) -> list[float]:
        """How near the documents of some pairs are, as people read it."""
        found = self.array("falling")[self.array("rank")[pairs]]
        values: list[float] = (found if self.value == "distance" else -found).tolist()
        return values

    def links(self, document: int) -> Whole:
        """The pairs of a document."""
        starts = self.array("link_starts")
        found: Whole = self.array("links")[int(starts[document]) : int(starts[document + 1])]
        return found

    def members_of(self, cluster: int) -> range:
        """The documents of a cluster."""
        starts = self.array("cluster_starts")
        return range(int(starts[cluster]), int(starts[cluster + 1]))

    def cluster_of(self, document: int) -> int | None:
        """The cluster of a document, if it is in one."""
        starts = self.array("cluster_starts")
        if document >= int(starts[-1]):
            return None
        return int(np.searchsorted(starts, document, "right")) - 1

    def links_inside(self, cluster: int) -> Whole:
        """The pairs of which both documents are in a cluster, each once."""
        members = self.members_of(cluster)
        starts = self.array("link_starts")[members.start : members.stop + 1]
        links = self.array("links")[int(starts[0]) : int(starts[-1])]
        # A link is there for each of its ends: the first one has it once.
        owners = np.repeat(np.arange(members.start, members.stop), np.diff(starts))
        second = self.array("second")[links]
        inside = (
            (self.array("first")[links] == owners)
            & (second >= members.start)
            & (second < members.stop)
        )
        found: Whole = np.sort(links[inside])
        return found

    # Which documents are meant

    def having(self, part: str, words: str) -> npt.NDArray[np.bool_]:
        """Which documents have these words in their name or text; the last answers are kept."""
        if (part, words) not in self._answers:
            while len(self._answers) >= MOST_ANSWERS:
                self._answers.pop(next(iter(self._answers)), None)
            if part == "text" and self.texts is None:
                raise SettingsError(f"text is {words!r}, and there are no texts: {self.unread}")
            has = self.texts.having if part == "text" and self.texts else self._named_like
            self._answers[part, words] = has(words)
        return self._answers[part, words]

    @cached_property
    def _answers(self) -> dict[tuple[str, str], npt.NDArray[np.bool_]]:
        return {}

    def _named_like(self, words: str) -> npt.NDArray[np.bool_]:
        ids = self.documents["id"].cast(pa.large_string()).combine_chunks()
        return strings_having(ids, words)

    def span(self, low: float | None, high: float | None) -> tuple[int, int]:
        """Where pairs of these values lie in the order from the nearest to the farthest."""
        falling = self.array("falling")
        if self.value == "similarity":
            low, high = (None if high is None else -high), (None if low is None else -low)
        begin = 0 if low is None else int(np.searchsorted(falling, low, "left"))
        end = len(falling) if high is None else int(np.searchsorted(falling, high, "right"))
        return begin, max(begin, end)
