"""Some documents of a corpus whose parts are elsewhere: what a part does, and sends to others.

Documents are known by their numbers among all. Chosen k-grams and runs of words go to where their
hashes belong. There they meet, and pairs of documents that met go to the part of the second one,
which asks other parts for the texts that it has not, and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import by_target, take_strings
from nearly.passage.edited import GRAM, LEAST_SHARED
from nearly.passage.found import Found
from nearly.passage.hole import LeftOut
from nearly.passage.meeting import Meetings, Pairs, Sides, both_of, counted, meetings, packed
from nearly.passage.near import Candidates, near_runs
from nearly.passage.rarity import Spelt, StemCounts
from nearly.passage.search import Corpus, compare_pairs, cut_both
from nearly.passage.unit import Hashes, Units
from nearly.passage.verbatim import Crowded, gram_length, window_length
from nearly.settings import PassageSettings

__all__ = [
    "Known",
    "Message",
    "Part",
    "Seeds",
    "Sought",
    "answers",
    "compared",
    "crowded_of",
    "met_here",
    "near_of",
    "pairs_by_part",
    "questions",
    "seeds_by_hash",
    "seeds_of",
    "sought_of",
]

Whole = npt.NDArray[np.int64]
#: A kind, and columns.
Message = list[npt.NDArray[Any]]
#: Documents and their texts.
Texts = tuple[Whole, pa.LargeStringArray]
#: The words of some documents: where those of each begin, and their hashes.
Words = tuple[npt.NDArray[np.int64], Hashes]


class Part(NamedTuple):
    """Texts that lie together, and the number of the first one."""

    first: int
    texts: pa.LargeStringArray

    @property
    def numbers(self) -> Whole:
        """Of its documents."""
        return np.arange(len(self.texts)) + self.first


class Known(NamedTuple):
    """What all parts know: who belongs together, on which side and in which part; what to do."""

    who: Sides
    firsts: Whole  # the number of each part's first document
    left_out: LeftOut
    settings: PassageSettings

    def part_of(self, documents: npt.NDArray[np.integer]) -> Whole:
        """The part that has each document; a part may be empty."""
        return np.searchsorted(self.firsts, documents, "right") - 1

    def part_for(self, hashes: Hashes) -> Whole:
        """The part where all of each hash come."""
        parts = np.uint64(len(self.firsts))
        return ((hashes >> np.uint64(48)) * parts >> np.uint64(16)).astype(np.int64)

    def counts(self, part: Part) -> bool:
        """Whether its documents say how rare a word is, and are held against others."""
        return not self.who.one_sided or (len(part.texts) > 0 and not self.who.sides[part.first])


class Seeds(NamedTuple):
    """By what documents of a part may meet those of others."""

    chosen: Crowded  # all k-grams that winnowing chose, for any of them may be crowded
    rare: Hashes  # runs of words, each once for a document
    documents: Whole  # of those
    stems: StemCounts
    words: Words  # where one side is held against another


def seeds_of(part: Part, *, known: Known) -> Seeds:
    """What winnowing chose; without verbatim, the runs of words and stems too."""
    settings = known.settings
    units, words = cut_both(part.texts, known.left_out, settings, 1, part.numbers)
    chosen = _chosen(units, settings.shortest, part.first)
    none = np.empty(0, np.uint64)
    if settings.verbatim:
        stems = StemCounts(none, np.empty(0, np.int64), 0)
        return Seeds(chosen, none, np.empty(0, np.int64), stems, (np.zeros(1, np.int64), none))
    rare, documents = _kernels.document_grams(words.offsets, words.hashes, GRAM)
    counting = len(words.hashes) if known.counts(part) else 0
    return Seeds(
        chosen,
        rare,
        documents.astype(np.int64) + part.first,
        Spelt.of(words, settings.stems).counted(counting, 1),
        (words.offsets, words.hashes if known.who.one_sided else none),
    )


def _chosen(units: Units, least: int, first: int) -> Crowded:
    k = gram_length(least)
    hashes, documents, places = _kernels.winnow(
        units.offsets, units.hashes, k, window_length(least)
    )
    rows = np.stack([documents, places, np.zeros_like(places)], 1)
    chosen = Crowded.of(units, hashes, rows, k)
    return replace(chosen, documents=chosen.documents + first)


def seeds_by_hash(seeds: Seeds, *, known: Known) -> Iterator[tuple[int, Message]]:
    """Chosen k-grams and runs of words, each to where all of its hash come."""
    chosen = seeds.chosen
    kinds = ((chosen.hashes, chosen.documents), (seeds.rare, seeds.documents))
    for is_rare, (hashes, documents) in enumerate(kinds):
        for target, columns in by_target(known.part_for(hashes), hashes, documents):
            yield target, [np.array(is_rare), *columns]


def met_here(came: Sequence[Message], *, known: Known) -> Meetings:
    """Who meets by the hashes that came."""
    return meetings(came, known.who, known.settings.crowd)


def crowded_of(seeds: Seeds, *, crowded: Hashes) -> Crowded:
    """Those of the chosen k-grams that are crowded."""
    chosen = seeds.chosen
    here = np.isin(chosen.hashes, crowded)
    follows = np.zeros(len(here), np.uint8)
    follows[1:] = here[:-1] & (chosen.documents[1:] == chosen.documents[:-1])
    return replace(chosen, follows=follows).taken(here)


def near_of(part: Part, seeds: Seeds, *, known: Known, others: Words) -> Candidates:
    """Near runs of the first side's documents with those of this part, if it is of the second."""
    none = Candidates.of_pairs(np.empty((0, 2), np.uint32))
    if known.counts(part) or known.settings.verbatim:
        return none
    near, likeness = near_runs(others, known.settings).find(*seeds.words, part.first)
    return replace(none, near=near, likeness=likeness).of_different(known.who.groups)


class Sought(NamedTuple):
    """What a part has to compare: pairs that may have runs, and candidates."""

    pairs: Pairs
    candidates: Candidates | None

    @property
    def documents(self) -> Whole:
        """All of them, in order."""
        numbers = [*both_of(self.pairs)]
        if self.candidates is not None:
            numbers += [*self.candidates.pairs.T, *self.candidates.near[:, :2].T]
        return np.unique(np.concatenate([np.empty(0, np.int64), *numbers]).astype(np.int64))


def pairs_by_part(meetings: Meetings, *, known: Known) -> Iterator[tuple[int, Message]]:
    """Pairs of documents that met, each to the part of its second document."""
    ones = np.ones(len(meetings.pairs), np.uint32)
    kinds = ((meetings.pairs, ones), (meetings.rare, meetings.counts))
    for is_rare, (pairs, counts) in enumerate(kinds):
        for target, columns in by_target(known.part_of(both_of(pairs)[1]), pairs, counts):
            yield target, [np.array(is_rare), *columns]


def sought_of(came: Sequence[Message], near: Candidates, *, known: Known) -> Sought:
    """Each pair once, and those to align that share enough."""
    pairs, _ = counted([rows for is_rare, *rows in came if not is_rare])
    if known.settings.verbatim:
        return Sought(pairs, None)
    rare, counts = counted([rows for is_rare, *rows in came if is_rare])
    enough = np.stack(both_of(rare[counts >= LEAST_SHARED]), 1).astype(np.uint32)
    return Sought(pairs, replace(near, pairs=enough))


def questions(number: int, sought: Sought, *, known: Known) -> Iterator[tuple[int, list[Whole]]]:
    """Who is asking, and the documents that another part has."""
    documents = sought.documents
    for target, (wanted,) in by_target(known.part_of(documents), documents):
        if target != number:
            yield target, [np.array([number]), wanted]


def answers(part: Part, came: Sequence[list[Whole]]) -> Iterator[tuple[int, Texts]]:
    """The texts of documents that other parts asked for."""
    for asking, wanted in came:
        yield int(asking[0]), (wanted, _texts(part, wanted))


def _texts(part: Part, documents: Whole) -> pa.LargeStringArray:
    return take_strings(part.texts, (documents - part.first).astype(np.uint32))


def compared(
    number: int,
    part: Part,
    sought: Sought,
    came: Sequence[Texts],
    *,
    known: Known,
    frequent: Hashes,
    stems: StemCounts,
) -> Found:
    """The passages of the pairs that a part has to compare."""
    documents = sought.documents
    own = documents[known.part_of(documents) == number]
    numbers = np.concatenate([own, *(some for some, _ in came)])
    texts = pa.concat_arrays([_texts(part, own), *(some for _, some in came)])
    corpus = Corpus(
        texts=take_strings(texts, np.argsort(numbers).astype(np.uint32)),
        groups=known.who.groups[documents],
        sides=known.who.sides[documents],
        one_sided=known.who.one_sided,
        left_out=known.left_out,
        numbers=documents,
    )
    pairs = packed(*(np.searchsorted(documents, side) for side in both_of(sought.pairs)))
    candidates = sought.candidates
    if candidates is not None:
        candidates = candidates.among(documents)
    found = compare_pairs(corpus, pairs, candidates, frequent, stems, known.settings)
    return replace(found, a=documents[found.a], b=documents[found.b])
