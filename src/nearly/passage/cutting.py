"""Repeated pieces of documents: which go, what stays for them, and what that leaves of a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of
from nearly.documents.place import Places
from nearly.passage.collected import Collected, ranked
from nearly.passage.cut_result import Cut, CutStatistics
from nearly.passage.repeat import survivors_of
from nearly.schemas import PLACES_OF
from nearly.settings import CutSettings
from nearly.sources import Skipped, Source
from nearly.sources.cut_text import CutTexts
from nearly.stages.survivor import Keep

__all__ = ["Repeats", "cut_of", "cut_table", "cut_texts", "find_repeats"]

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Pieces that go, in ascending order, with the piece that stays for each."""

    pieces: Whole
    survivors: Whole


def cut_of(
    source: Source, collected: Collected, skipped: Skipped, settings: CutSettings, keep: Keep
) -> Cut:
    """A source whose pieces were collected, without those that repeat others."""
    repeats = find_repeats(collected, keep, settings.least)
    gone = cut_texts(collected, repeats)
    cut_characters = int((gone.ends - gone.starts).sum())
    return Cut(
        cuts=cut_table(collected, repeats),
        skipped=skipped.table(),
        settings=settings,
        statistics=CutStatistics(
            documents=len(collected),
            skipped=len(skipped),
            pieces=len(collected.pieces),
            cut_pieces=len(repeats.pieces),
            cut_documents=len(gone),
            emptied=int(
                np.count_nonzero(
                    gone.ends - gone.starts == np.repeat(gone.lengths, np.diff(gone.offsets))
                )
            ),
            characters=int(collected.lengths.sum()),
            cut_characters=cut_characters,
        ),
        schema=source.schema,
        read_kept=source.kept_with_cuts(gone),
    )


def find_repeats(collected: Collected, keep: Keep, least: int) -> Repeats:
    """Every piece of a run that stands before, where documents are in the order of the rule."""
    order = ranked(collected, keep)
    offsets = np.append(0, np.cumsum(np.diff(collected.offsets)[order]))
    pieces = collected.pieces.repeated()
    documents = _documents(collected, pieces)
    # Where each piece stands if documents are in that order.
    place = np.empty(len(order), np.int64)
    place[order] = offsets[:-1]
    places = pieces - collected.offsets[documents] + place[documents]
    first = np.argsort(places)
    digests, words = collected.pieces.digests(pieces), collected.pieces.spans(pieces).words
    gone, stay = survivors_of(offsets, places[first], digests[first], words[first], least)
    gone, stay = pieces[first[gone]], pieces[first[stay]]
    ascending = np.argsort(gone)
    return Repeats(pieces=gone[ascending], survivors=stay[ascending])


def cut_table(collected: Collected, repeats: Repeats) -> pa.Table:
    """One row per cut: both documents, and where it stood and stands in them.

    Pieces in a row are one cut, as long as what stays for them is in a row too.
    """
    of_gone, of_stay = (_documents(collected, each) for each in (repeats.pieces, repeats.survivors))
    first, last = _rows_of_pieces((repeats.pieces, of_gone), (repeats.survivors, of_stay))
    gone, stay = (collected.pieces.spans(each) for each in (repeats.pieces, repeats.survivors))
    sums = np.append(0, np.cumsum(gone.words))
    columns = {
        "id": collected.ids_of(of_gone[first]),
        "start": column_of(gone.starts[first]),
        "end": column_of(gone.ends[last]),
        "survivor": collected.ids_of(of_stay[first]),
        "survivor_start": column_of(stay.starts[first]),
        "survivor_end": column_of(stay.ends[last]),
        "words": column_of(sums[last + 1] - sums[first]),
    }
    if collected.ids_repeat:
        for name, documents in (("id", of_gone[first]), ("survivor", of_stay[first])):
            columns |= _place_columns(name, collected.places_of(documents))
    return pa.table(columns)


def _rows_of_pieces(*sides: tuple[Whole, Whole]) -> tuple[Whole, Whole]:
    """The first and the last of pieces that stand in a row, in one document, on every side."""
    (pieces, _), *_ = sides
    is_next = np.ones(max(0, len(pieces) - 1), bool)
    for numbers, documents in sides:
        is_next &= (np.diff(numbers) == 1) & (np.diff(documents) == 0)
    ends = np.flatnonzero(np.append(~is_next, True)[: len(pieces)])
    return np.append(0, ends[:-1] + 1)[: len(ends)], ends


def _place_columns(name: str, places: Places) -> dict[str, pa.Array]:
    return dict(zip(PLACES_OF[name], places, strict=True))


def _documents(collected: Collected, pieces: Whole) -> Whole:
    return np.searchsorted(collected.offsets, pieces, "right") - 1


def cut_texts(collected: Collected, repeats: Repeats) -> CutTexts:
    """What goes of each text: the pieces with the white space on one side of them.

    Of the white space before and after a cut, one stays: the one with more line ends, so that
    paragraphs stay apart; and always that at the beginning and at the end of a text.
    """
    gone = repeats.pieces
    documents = _documents(collected, gone)
    first, last = _rows_of_pieces((gone, documents))
    which, counts = np.unique(documents[first], return_counts=True)
    starts, ends = _gaps(collected, gone[first], gone[last], documents[first])
    return CutTexts(
        rows=collected.rows[which],
        lengths=collected.lengths[which],
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        starts=starts,
        ends=ends,
    )


def _gaps(collected: Collected, first: Whole, last: Whole, documents: Whole) -> tuple[Whole, Whole]:
    """Where to cut out pieces from the first to the last."""
    begins = first == collected.offsets[documents]
    finishes = last + 1 == collected.offsets[documents + 1]
    before = collected.pieces.spans(np.where(begins, first, first - 1))
    after = collected.pieces.spans(np.where(finishes, last, last + 1))
    one, other = collected.pieces.spans(first), collected.pieces.spans(last)
    takes_before = ~begins & (finishes | (after.line_ends > one.line_ends))
    gap_starts = np.where(takes_before, before.ends, one.starts)
    gap_ends = np.where(takes_before | finishes, other.ends, after.starts)
    is_all = begins & finishes
    gap_starts[is_all], gap_ends[is_all] = 0, collected.lengths[documents[is_all]]
    return gap_starts, gap_ends
