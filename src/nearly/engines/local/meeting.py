"""Whom documents meet, one document after the other: for crowds, that meet in many buckets.

Buckets of all bands are sorted once, and each document looks through its own: whom it met before,
it does not look at again. So candidates come out in order, each once.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from nearly import _kernels
from nearly.documents.local import LocalCorpus
from nearly.engines.local.workshop import Workshop
from nearly.measures.pair import Packed
from nearly.stages.candidate import Span
from nearly.tuning.banding import Banding

__all__ = ["ENOUGH", "Meetings", "one_by_one", "room_for_all", "together"]

Meetings = _kernels.Meetings

#: Candidates that are verified together, at least: they stay near the processor.
ENOUGH = 2**21
BYTES_OF_PLACE = 8  # of a document in the buckets of a band, and of the bucket itself
MOST_DOCUMENTS = 2**31


def room_for_all(shop: Workshop, corpus: LocalCorpus, banding: Banding) -> Meetings | None:
    """Where buckets of all bands will lie; None where they and the places in them do not fit in
    memory, beside documents that are there."""
    count = len(corpus.representatives)
    fits = BYTES_OF_PLACE * banding.bands * count <= shop.room and count < MOST_DOCUMENTS
    if not fits or not corpus.is_in_memory or corpus.sides is not None:
        return None
    return _kernels.Meetings(count, banding.bands)


def one_by_one(
    shop: Workshop,
    corpus: LocalCorpus,
    banding: Banding,
    meetings: Meetings,
    spans: Sequence[Span],
) -> Iterator[tuple[Packed, int]]:
    """Candidates whose first document is in each span of places, and how many pairs met."""
    documents = corpus.representatives
    most_different = banding.sketched - banding.agreement
    sketches = corpus.sketches.all()

    def of_span(span: Span) -> tuple[Packed, int]:
        low, high = (min(end, len(documents)) for end in span)
        bits = banding.hashing.bits
        return meetings.candidates(documents, sketches, bits, most_different, low, high)

    shop.progress.stage("candidates", len(spans))
    for found in shop.map(of_span, spans):
        shop.progress.advance()
        yield found
        shop.progress.stage("candidates", len(spans))  # others have worked meanwhile


def together(found: Iterable[tuple[Packed, int]], most: int) -> Iterator[tuple[Packed, int]]:
    """Parts together, until they are many: the more pairs, the seldomer contents are read."""
    parts: list[Packed] = []
    meetings = 0
    for pairs, met in found:
        parts.append(pairs)
        meetings += met
        if sum(map(len, parts)) >= most:
            yield np.concatenate(parts), meetings
            parts, meetings = [], 0
    if parts:
        yield np.concatenate(parts), meetings
