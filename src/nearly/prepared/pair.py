"""One pair: both texts side by side, the evidence, and its neighbours in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from nearly.comparison import jaccard_of
from nearly.errors import MissingError
from nearly.measures.stop_word import ENGLISH
from nearly.prepared.listing import Filter, chosen_pairs, terms_of
from nearly.prepared.mark import Mark
from nearly.prepared.result import Prepared
from nearly.prepared.template import share_of, template_spans, with_template
from nearly.text.match import Piece
from nearly.text.part import part_at, parts_of
from nearly.view.evidence import Evidence, evidence
from nearly.view.pair import PairView, side_by_side

__all__ = ["OnePair", "check_pair", "one_pair"]


class Otherwise(NamedTuple):
    """What the similarity would be without stop words; with them, if the run left them out."""

    words: str  # without or with
    similarity: float


@dataclass(frozen=True, kw_only=True)
class OnePair:
    """A pair, and where it stands among those that are meant."""

    pair: int
    documents: tuple[int, int]
    cluster: int | None
    value: str  # similarity or distance
    view: PairView
    evidence: Evidence | None
    otherwise: Otherwise | None  # where similarities are those of sets of shingles
    mark: Mark
    place: int | None  # in the list, from 1; None where it is not in it
    total: int
    previous: int | None
    next: int | None
    unread: str | None  # why there are no texts
    groups: tuple[str, str]  # empty where there are none
    terms: tuple[str, ...]
    files: tuple[tuple[str, str], ...]  # of each passage, where documents are of many files
    template: float | None  # documents that have what is grey, as a share; None: nothing is

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        plain["mark"] = self.mark._asdict()
        plain["otherwise"] = None if self.otherwise is None else self.otherwise._asdict()
        overlap = self.view.overlap
        if overlap is not None:
            plain["view"]["overlap"] |= {
                "of_first": overlap.of_first,
                "of_second": overlap.of_second,
            }
        return plain


def one_pair(
    prepared: Prepared,
    pair: int,
    wanted: Filter,
    marks: Mapping[int, Mark],
    *,
    hidden: bool = False,
) -> OnePair:
    """A pair by its number, among the pairs that are meant."""
    check_pair(prepared, pair)
    a, b = prepared.ends(pair)
    chosen = chosen_pairs(prepared, wanted, marks)
    where = np.flatnonzero(chosen == pair)
    place = int(where[0]) if len(where) else None
    view, seen = _seen(prepared, pair, hidden=hidden)
    return OnePair(
        pair=pair,
        documents=(a, b),
        cluster=prepared.cluster_of(a),
        value=prepared.value,
        view=view,
        evidence=seen,
        otherwise=_otherwise(prepared, view),
        mark=marks.get(pair, Mark("", "")),
        place=None if place is None else place + 1,
        total=len(chosen),
        previous=None if not place else int(chosen[place - 1]),
        next=None if place is None or place + 1 == len(chosen) else int(chosen[place + 1]),
        unread=prepared.unread,
        groups=_both(prepared.parts("group", (a, b), hidden=hidden)),
        terms=terms_of(prepared, (a, b)),
        files=_files(view),
        template=share_of(prepared.found.settings) if _has_template(view) else None,
    )


def check_pair(prepared: Prepared, pair: int) -> None:
    """Refuse a number that no pair has."""
    pairs = prepared.found.pairs.num_rows
    if not 0 <= pair < pairs:
        raise MissingError(f"there is no pair {pair}; the result has {pairs:,}, numbered from 0")


def _seen(prepared: Prepared, pair: int, *, hidden: bool) -> tuple[PairView, Evidence | None]:
    documents = prepared.ends(pair)
    a, b = prepared.names(documents, hidden=hidden)
    (value,) = prepared.values_of(np.array([pair], np.int32))
    texts = [None if prepared.texts is None else prepared.texts.of(each) for each in documents]
    if texts[0] is None or texts[1] is None:
        return PairView(name_a=a, name_b=b, value=value), None
    both = (texts[0], texts[1])
    view = side_by_side(prepared.found, (a, b), value, both)
    return _with_template(prepared, view, both), evidence(prepared.found, both)


def _otherwise(prepared: Prepared, view: PairView) -> Otherwise | None:
    if view.overlap is None or view.text_a is None or view.text_b is None:
        return None
    settings = prepared.found.settings
    words = () if settings.text.stop_words else ENGLISH
    text = replace(settings.text, stop_words=words, raw=settings.text.raw and not words)
    similarity = jaccard_of(view.text_a, view.text_b, text, settings.seed)
    return Otherwise("without" if words else "with", similarity)


def _with_template(prepared: Prepared, view: PairView, texts: tuple[str, str]) -> PairView:
    common = prepared.array("template")
    if view.matched is None or not len(common):
        return view
    a, b = (
        with_template(pieces, template_spans(text, common))
        for pieces, text in zip((view.matched.a, view.matched.b), texts, strict=True)
    )
    return replace(view, matched=replace(view.matched, a=a, b=b))


def _has_template(view: PairView) -> bool:
    matched = view.matched
    return matched is not None and any(each.is_template for each in (*matched.a, *matched.b))


def _files(view: PairView) -> tuple[tuple[str, str], ...]:
    """The file in which each passage stands, in both documents."""
    if view.matched is None or view.text_a is None or view.text_b is None:
        return ()
    sides = [(view.text_a, view.matched.a), (view.text_b, view.matched.b)]
    named = [_files_of(text, pieces) for text, pieces in sides]
    if not (named[0] or named[1]):
        return ()
    passages = range(view.matched.passages)
    return tuple((named[0].get(each, ""), named[1].get(each, "")) for each in passages)


def _files_of(text: str, pieces: Sequence[Piece]) -> dict[int, str]:
    """By passages: the file of their first piece."""
    parts = parts_of(text)
    firsts: dict[int, int] = {}
    for piece in pieces if parts else ():
        if piece.passage is not None:
            firsts.setdefault(piece.passage, piece.start)
    return {passage: part_at(parts, start) for passage, start in firsts.items()}


def _both(parts: list[str]) -> tuple[str, str]:
    return parts[0], parts[1]
