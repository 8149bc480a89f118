"""Passages of documents that lie in parts: the same answer, wherever the parts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nearly.arrays import lengths_of, numbers_of
from nearly.documents.place import Places as Standing
from nearly.documents.place import located
from nearly.documents.readable import Skips
from nearly.engines.base import Parts
from nearly.passage import part
from nearly.passage.common import with_common
from nearly.passage.found import Found, Places, Whole, told_beyond
from nearly.passage.hole import LeftOut
from nearly.passage.meeting import Meetings, Sides
from nearly.passage.part import Known, Part, Seeds
from nearly.passage.rarity import StemCounts
from nearly.passage.reading import (
    Labelled,
    check_groups,
    column_of_group,
    distinct,
    grouped,
    joined,
    named,
    parts_of,
)
from nearly.passage.table import tables
from nearly.passage.verbatim import Crowded
from nearly.settings import PassageSettings

__all__ = ["found_in_parts", "search_parts"]


def found_in_parts(
    parts: Parts,
    id_types: Sequence[pa.DataType],
    left_out: LeftOut,
    settings: PassageSettings,
    skipped: Skips,
) -> dict[str, pa.Table]:
    """The tables of what the documents of one source or two share."""
    texts, labels = read_parts(parts, skipped, settings.group)
    cuts = np.cumsum([0, *parts.sizes])
    sides = [labels[a:b] for a, b in pairwise(cuts)]
    sizes = [sum(len(each.ids) for each in side) for side in sides]
    groups = [each.groups for each in labels]
    if len(sides) == 1:
        check_groups(distinct(groups), settings.group)
    who = Sides(
        grouped(groups, sum(sizes)),
        np.repeat(np.arange(len(sides), dtype=np.uint32), sizes),
        len(sides) > 1,
    )
    found, places = search_parts(parts, texts, who, firsts_of(labels), left_out, settings)
    told = (None, told_beyond(found, places, sizes[0]))[: len(sides)]
    return tables(
        found,
        places,
        named([_labelled(*each) for each in zip(sides, id_types, told, strict=True)]),
        np.concatenate([np.empty(0, np.int64), *(each.characters for each in labels)]),
        listed=sizes[0],
        one_sided=len(sides) > 1,
    )


def _labelled(side: Sequence[Labels], id_type: pa.DataType, told: Whole | None) -> Labelled:
    def places() -> Standing:
        columns = zip(*(each.places for each in side), strict=True)
        return Standing(*(pa.concat_arrays(list(column)) for column in columns))

    return Labelled([name for each in side for name in each.ids], id_type, places, told)


class Labels(NamedTuple):
    """What documents of a part are called and belong to, where they stand, how long they are."""

    ids: list[Any]
    groups: list[Any] | None
    places: Standing
    characters: Whole
    skipped: Skips


def read_parts(parts: Parts, skipped: Skips, group: str | None) -> tuple[Any, list[Labels]]:
    """The texts of each part, and their labels here."""
    empty = parts.share(skipped.another())
    read = parts.each(_read, parts.blocks, group=parts.share(group), skipped=empty)
    labels = parts.collect(parts.each(_labels, read))
    for each in labels:
        skipped.merge(each.skipped)
    return parts.each(_part, read, numbered=True, firsts=parts.share(firsts_of(labels))), labels


def firsts_of(labels: Sequence[Labels]) -> Whole:
    """The number of each part's first document."""
    return np.cumsum([0, *(len(each.ids) for each in labels[:-1])])


def _read(block: tuple[Any, Any], *, group: str | None, skipped: Skips) -> tuple[Any, Labels]:
    readable, stretched = block
    column = column_of_group(group)
    met = skipped.another()
    read = joined(list(parts_of(readable.documents(met, also=column), group, pa.null())), pa.null())
    return read.texts, Labels(
        ids=read.ids,
        groups=read.groups,
        places=located(stretched.stretches, read.rows),
        characters=numbers_of(lengths_of(read.texts)).astype(np.int64),
        skipped=met,
    )


def _labels(read: tuple[Any, Labels]) -> Labels:
    return read[1]


def _part(number: int, read: tuple[Any, Labels], *, firsts: Whole) -> Part:
    return Part(int(firsts[number]), read[0])


def search_parts(
    parts: Parts,
    texts: Any,
    who: Sides,
    firsts: Whole,
    left_out: LeftOut,
    settings: PassageSettings,
) -> tuple[Found, Places]:
    """All passages that two documents share, and the places of those that many share."""
    told = Known(who, firsts, left_out, settings)
    left_out, settings = with_common(parts, texts, told), replace(settings, common=None)
    known = parts.share(told._replace(left_out=left_out, settings=settings))
    seeds = parts.each(part.seeds_of, texts, known=known)
    met = parts.each(
        part.met_here, parts.exchange(part.seeds_by_hash, seeds, known=known), known=known
    )
    frequent, crowded = (_all(parts, met, name) for name in ("frequent", "crowded"))
    near = _near(parts, texts, seeds, known, settings, one_sided=who.one_sided)
    pairs = parts.exchange(part.pairs_by_part, met, known=known)
    sought = parts.each(part.sought_of, pairs, near, known=known)
    asked = parts.exchange(part.questions, sought, numbered=True, known=known)
    found = parts.each(
        part.compared,
        *(texts, sought, parts.exchange(part.answers, texts, asked)),
        numbered=True,
        known=known,
        frequent=parts.share(frequent),
        stems=parts.share(StemCounts.joined(parts.collect(parts.each(_stems, seeds)))),
    )
    places = parts.collect(parts.each(part.crowded_of, seeds, crowded=parts.share(crowded)))
    spread = Crowded.joined(places).spread(settings.shortest)
    return Found.joined(parts.collect(found)).in_order(), spread


def _near(
    parts: Parts, texts: Any, seeds: Any, known: Any, settings: PassageSettings, *, one_sided: bool
) -> Any:
    """Near runs, for which every part sees the words of the first side."""
    words: part.Words = (np.zeros(1, np.int64), np.empty(0, np.uint64))
    if one_sided and not settings.verbatim:
        words = _joined_words(parts.collect(parts.each(_words, texts, seeds, known=known)))
    return parts.each(part.near_of, texts, seeds, known=known, others=parts.share(words))


def _words(texts: Part, seeds: Seeds, *, known: Known) -> part.Words:
    nothing: part.Words = (np.zeros(1, np.int64), np.empty(0, np.uint64))
    return seeds.words if known.counts(texts) else nothing


def _joined_words(some: list[part.Words]) -> part.Words:
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(offsets) for offsets, _ in some)])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return offsets, np.concatenate([np.empty(0, np.uint64), *(hashes for _, hashes in some)])


def _stems(seeds: Seeds) -> StemCounts:
    return seeds.stems


def _all(parts: Parts, met: Any, name: str) -> Any:
    """Hashes of all parts, in order."""
    return np.sort(np.concatenate(parts.collect(parts.each(partial(_column, name), met))))


def _column(name: str, met: Meetings) -> Any:
    return getattr(met, name)
