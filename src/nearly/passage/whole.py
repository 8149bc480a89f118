"""Passages of documents that lie together: on one machine, in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from nearly.arrays import lengths_of, numbers_of, string_array
from nearly.documents.readable import Readable, Skips
from nearly.passage.against import search_against
from nearly.passage.found import Found, Places, Whole, told_beyond
from nearly.passage.hole import LeftOut
from nearly.passage.reading import (
    Labelled,
    check_groups,
    corpus_of,
    labelled,
    named,
    parts,
    read,
)
from nearly.passage.search import complete, cut_both
from nearly.passage.table import tables
from nearly.progress import Progress
from nearly.settings import PassageSettings

__all__ = ["found_together"]


class _Together(NamedTuple):
    """What was found, what the documents are called, and how long they are."""

    found: Found
    places: Places
    sides: list[Labelled]
    characters: Whole


def found_together(
    source: Readable,
    against: Readable | None,
    left_out: LeftOut,
    settings: PassageSettings,
    skipped: tuple[Skips, Skips],
    threads: int,
    progress: Progress,
) -> dict[str, pa.Table]:
    """The tables of what the documents of one source or two share.

    What is read a second time tells the second one of `skipped` what it skips.
    """
    if against is None or settings.common is not None:
        both = source, against
        together = _all_pairs(both, left_out, settings, skipped[0], threads, progress)
    else:
        two = source, against
        together = _one_by_one(two, left_out, settings, skipped, threads, progress)
    found, places, sides, characters = together
    first, *others = sides
    told = told_beyond(found, places, len(first.ids))
    return tables(
        found,
        places,
        named([first, *(other._replace(told=told) for other in others)]),
        characters,
        listed=len(first.ids),
        one_sided=against is not None,
    )


def _all_pairs(
    sources: tuple[Readable, Readable | None],
    left_out: LeftOut,
    settings: PassageSettings,
    skipped: Skips,
    threads: int,
    progress: Progress,
) -> _Together:
    """Texts are forgotten once they are cut: units take several times as much."""
    given = [source for source in sources if source is not None]
    sides = [read(source, skipped, settings.group) for source in given]
    if len(sides) == 1:
        check_groups(sides[0].groups, settings.group)
    progress.stage("passages", None)
    labels = [labelled(side, source.stretches()) for side, source in zip(sides, given, strict=True)]
    corpus = corpus_of(sides[0], sides[1] if len(sides) > 1 else None, left_out)
    sides.clear()
    characters = numbers_of(lengths_of(corpus.texts))
    units = cut_both(corpus.texts, left_out, settings, threads, corpus.numbers)
    corpus = replace(corpus, texts=string_array([]))
    pa.default_memory_pool().release_unused()
    return _Together(*complete(corpus, *units, None, settings, threads), labels, characters)


def _one_by_one(
    sources: tuple[Readable, Readable],
    left_out: LeftOut,
    settings: PassageSettings,
    skipped: tuple[Skips, Skips],
    threads: int,
    progress: Progress,
) -> _Together:
    """Documents of the second source go by twice, and those that share something stay."""
    source, against = sources
    one = read(source, skipped[0], settings.group)
    progress.stage("passages", None)
    found, places, corpus, other = search_against(
        one,
        parts(against, skipped[0], settings.group),
        lambda: parts(against, skipped[1], settings.group),
        left_out,
        settings,
        threads,
    )
    labels = [labelled(one, source.stretches()), labelled(other, against.stretches())]
    return _Together(found, places, labels, numbers_of(lengths_of(corpus.texts)))
