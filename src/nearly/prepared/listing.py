"""Pairs in order, some of them, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from nearly.errors import SettingsError
from nearly.prepared.excerpt import Excerpt, seen
from nearly.prepared.mark import MARKS, Mark
from nearly.prepared.result import Prepared
from nearly.text.unit import unit_of
from nearly.view.result import same_value

__all__ = [
    "PAGE",
    "Filter",
    "PairList",
    "PairRow",
    "chosen_pairs",
    "list_pairs",
    "rows_of",
    "terms_of",
]

#: Pairs of a page.
PAGE: Final = 25

Whole = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which pairs are meant; what is None or empty does not count."""

    low: float | None = None  # the least value, similarity or distance
    high: float | None = None
    name: str = ""  # words in the name of either document
    text: str = ""  # words in the text of either document
    difference: str = ""  # the kind of difference, if the run told it
    mark: str = ""  # one of MARKS, or unmarked
    document: int | None = None
    near: bool = False  # leave out what is the same
    group: int | None = None  # the number of a group that either document is in
    terms: str = ""  # across: of two terms; within: of one

    def to_dict(self) -> dict[str, Any]:
        """What was asked for, by name."""
        # By identity: a number 0 was asked for.
        asked = asdict(self).items()
        return {n: v for n, v in asked if not (v is None or v is False or v == "")}


@dataclass(frozen=True, kw_only=True)
class PairRow:
    """A pair in a list."""

    pair: int
    value: float
    name_a: str
    name_b: str
    group_a: str  # empty where there are no groups
    group_b: str
    terms: tuple[str, ...]  # that the documents are of, if the result has terms
    summary: str | None  # of the difference, in words
    excerpt_a: Excerpt | None  # around the first difference
    excerpt_b: Excerpt | None
    mark: str
    note: str


@dataclass(frozen=True, kw_only=True)
class PairList:
    """One page of the pairs that are meant."""

    total: int  # pairs that are meant
    page: int  # from 1
    pages: int
    value: str
    kinds: tuple[str, ...]  # of differences, if the run told them
    groups: tuple[str, ...]  # by their numbers
    has_terms: bool
    filter: Filter
    rows: tuple[PairRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"filter": self.filter.to_dict()}


def list_pairs(
    prepared: Prepared,
    wanted: Filter,
    marks: Mapping[int, Mark],
    *,
    page: int = 1,
    hidden: bool = False,
) -> PairList:
    """The nearest pairs first, of equals in the order of the source."""
    chosen = chosen_pairs(prepared, wanted, marks)
    pages = max(1, -(-len(chosen) // PAGE))
    page = min(max(page, 1), pages)
    shown = chosen[(page - 1) * PAGE : page * PAGE]
    return PairList(
        total=len(chosen),
        page=page,
        pages=pages,
        value=prepared.value,
        kinds=tuple(_kinds(prepared)),
        groups=tuple(_groups(prepared, hidden=hidden)),
        has_terms=bool(prepared.members["terms"]),
        filter=wanted,
        rows=tuple(rows_of(prepared, shown, marks, hidden=hidden)),
    )


def chosen_pairs(prepared: Prepared, wanted: Filter, marks: Mapping[int, Mark]) -> Whole:
    """The places of the pairs that are meant, in order."""
    begin, end = prepared.span(wanted.low, wanted.high)
    if wanted.near:
        begin = max(begin, _after_the_same(prepared))
    chosen: Whole = prepared.array("order")[begin : max(begin, end)]
    if wanted.document is not None:
        chosen = chosen[np.isin(chosen, _links_of(prepared, wanted.document))]
    if wanted.group is not None:
        chosen = _of_either(prepared, chosen, _in_group(prepared, wanted.group))
    if wanted.terms:
        chosen = chosen[_is_across(prepared, chosen) == _across(wanted.terms)]
    if wanted.mark:
        chosen = chosen[_is_marked(chosen, wanted.mark, marks)]
    if wanted.difference:
        chosen = chosen[_is_of_kind(prepared, wanted.difference)[chosen]]
    if wanted.name:
        chosen = _of_either(prepared, chosen, prepared.having("name", wanted.name))
    if wanted.text:
        chosen = _of_either(prepared, chosen, prepared.having("text", wanted.text))
    return chosen


def _of_either(prepared: Prepared, chosen: Whole, is_meant: npt.NDArray[np.bool_]) -> Whole:
    first, second = prepared.array("first")[chosen], prepared.array("second")[chosen]
    meant: Whole = chosen[is_meant[first] | is_meant[second]]
    return meant


def _after_the_same(prepared: Prepared) -> int:
    """Where pairs begin that are not the same when they are compared."""
    same = same_value(prepared.found)
    return 0 if same is None else prepared.span(same, same)[1]


def _links_of(prepared: Prepared, document: int) -> Whole:
    if not 0 <= document < prepared.documents.num_rows:
        raise SettingsError(
            f"document is {document}; give a number below {prepared.documents.num_rows:,}"
        )
    return prepared.links(document)


def _groups(prepared: Prepared, *, hidden: bool) -> list[str]:
    names: list[str] = prepared.members["groups"]
    return [f"Group {place}" for place in range(1, len(names) + 1)] if hidden else names


def _in_group(prepared: Prepared, group: int) -> npt.NDArray[np.bool_]:
    known = len(prepared.members["groups"])
    if not 0 <= group < known:
        raise SettingsError(f"group is {group}; this result has {known:,}, numbered from 0")
    found: npt.NDArray[np.bool_] = prepared.array("group") == group
    return found


def _across(terms: str) -> bool:
    if terms not in ("across", "within"):
        raise SettingsError(f"terms is {terms!r}; choose across or within")
    return terms == "across"


def _is_across(prepared: Prepared, chosen: Whole) -> npt.NDArray[np.bool_]:
    """Which pairs are of two terms; a document without one is of no other term."""
    if not prepared.members["terms"]:
        raise SettingsError("terms are asked for, and this result has none; serve it with --term")
    terms = prepared.array("term")
    first, second = terms[prepared.array("first")[chosen]], terms[prepared.array("second")[chosen]]
    found: npt.NDArray[np.bool_] = (first != second) & (first >= 0) & (second >= 0)
    return found


def terms_of(prepared: Prepared, documents: Sequence[int]) -> tuple[str, ...]:
    """The terms that some documents are of, each once."""
    return tuple(sorted(set(filter(None, prepared.parts("term", documents)))))


def _is_marked(chosen: Whole, mark: str, marks: Mapping[int, Mark]) -> npt.NDArray[np.bool_]:
    if mark == "unmarked":
        return ~np.isin(chosen, [pair for pair, said in marks.items() if said.mark])
    if mark not in MARKS:
        raise SettingsError(f"mark is {mark!r}; choose one of {', '.join(MARKS)} or unmarked")
    return np.isin(chosen, [pair for pair, said in marks.items() if said.mark == mark])


def _kinds(prepared: Prepared) -> list[str]:
    """The kinds of difference that there are, if the run told them."""
    pairs = prepared.found.pairs
    if "difference" not in pairs.column_names:
        return []
    return sorted(filter(None, pc.unique(pairs["difference"]).to_pylist()))


def _is_of_kind(prepared: Prepared, kind: str) -> npt.NDArray[np.bool_]:
    pairs = prepared.found.pairs
    if "difference" not in pairs.column_names:
        raise SettingsError(
            f"difference is {kind!r}, and the run told no differences; run it with --difference"
        )
    found: npt.NDArray[np.bool_] = pc.equal(pairs["difference"], kind).to_numpy()
    return found


def rows_of(
    prepared: Prepared, pairs: Whole, marks: Mapping[int, Mark], *, hidden: bool = False
) -> list[PairRow]:
    """Some pairs, as they are shown in a list."""
    ends = [prepared.ends(pair) for pair in pairs.tolist()]
    documents = [document for both in ends for document in both]
    names = prepared.names(documents, hidden=hidden)
    groups = prepared.parts("group", documents, hidden=hidden)
    values = prepared.values_of(pairs)
    statistics = prepared.found.statistics
    unit = unit_of(statistics.measure, statistics.source or {})
    rows = []
    for place, (pair, both) in enumerate(zip(pairs.tolist(), ends, strict=True)):
        told = seen(*_texts(prepared, both), unit)
        said = marks.get(pair, Mark("", ""))
        rows.append(
            PairRow(
                pair=pair,
                value=values[place],
                name_a=names[2 * place],
                name_b=names[2 * place + 1],
                group_a=groups[2 * place],
                group_b=groups[2 * place + 1],
                terms=terms_of(prepared, both),
                summary=told.summary,
                excerpt_a=told.a,
                excerpt_b=told.b,
                mark=said.mark,
                note=said.note,
            )
        )
    return rows


def _texts(prepared: Prepared, both: tuple[int, int]) -> tuple[str | None, str | None]:
    if prepared.texts is None:
        return None, None
    return prepared.texts.of(both[0]), prepared.texts.of(both[1])
