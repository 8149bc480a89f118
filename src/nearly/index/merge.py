"""Several segments as one, without what is gone."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.index.draft import NOWHERE, Draft
from nearly.index.live import Live
from nearly.index.posting import key_ranges
from nearly.index.text_block import TextBlock

__all__ = ["merged"]

Numbers = npt.NDArray[Any]


def merged(lives: Sequence[Live]) -> Draft:
    """The draft of one segment that holds what these hold."""
    parts = [_Part(live) for live in lives]
    digests = np.concatenate([part.digests for part in parts])
    order = _kernels.digest_order(digests)
    in_order = digests.take(order, axis=0)
    is_first = np.ones(len(order), bool)
    is_first[1:] = (in_order[1:] != in_order[:-1]).any(axis=1)
    number = np.empty(len(order), np.int64)  # the new number of each content of a part
    number[order] = np.cumsum(is_first) - 1
    firsts = order[is_first]
    count = len(firsts)

    # Of equal contents one at most is held: that one has the sketch and the text.
    held = np.flatnonzero(np.concatenate([part.is_held for part in parts]))
    best = firsts.astype(np.int64)
    best[number[held]] = held
    texts = np.full(count, NOWHERE, np.uint32)
    texts[number[held]] = np.concatenate([np.empty(0, np.int64), *_text_places(parts)])

    new_numbers = np.split(number, np.cumsum([len(part.digests) for part in parts])[:-1])
    for part, numbers in zip(parts, new_numbers, strict=True):
        part.number = numbers
    owners = np.concatenate([part.number_of_documents() for part in parts])
    document_numbers = np.concatenate([part.document_numbers for part in parts])
    by_content = np.lexsort((document_numbers, owners))
    ids = pa.concat_arrays([part.ids for part in parts])
    return Draft(
        digests=digests.take(best, axis=0),
        sizes=np.concatenate([part.sizes for part in parts])[best],
        texts=texts,
        starts=np.searchsorted(owners[by_content], np.arange(count + 1)).astype(np.uint32),
        sketches=np.concatenate([part.sketches for part in parts]).take(best, axis=0),
        bands=parts[0].bands,
        runs=lambda start, end: _runs(parts, start, end),
        numbers=document_numbers[by_content],
        ids=ids.take(pa.array(by_content)),
        id_digests=np.concatenate([part.id_digests for part in parts]).take(by_content, axis=0),
        blocks=_blocks(parts),
        postings=partial(_postings, parts) if parts[0].live.segment.is_posted else None,
    )


class _Part:
    """What stays of one segment. Contents are those that are held, or that a document has."""

    def __init__(self, live: Live) -> None:
        segment = live.segment
        self.live = live
        everything = np.arange(segment.contents, dtype=np.uint32)
        is_held = segment.is_held(everything) & ~live.contents.has(everything)
        documents = np.arange(segment.documents)
        self.documents = documents[~live.documents.has(documents)]
        self._content_of = segment.content_of(self.documents)
        is_there = is_held.copy()
        is_there[self._content_of] = True
        self.contents = everything[is_there]
        self.is_held = is_held[is_there]
        self.digests = segment.digests(self.contents)
        self.sizes = segment.column("sizes")[self.contents]
        self.sketches = segment.sketches().take(self.contents, axis=0)
        self.bands = segment.bands
        self.document_numbers = segment.column("numbers")[self.documents]
        self.ids = segment.id_column().take(pa.array(self.documents))
        self.id_digests = _id_digests(live).take(self.documents, axis=0)
        self.number: Numbers = np.empty(0, np.int64)

    def number_of_documents(self) -> Numbers:
        """The new number of the content of each document."""
        return self.number[np.searchsorted(self.contents, self._content_of)]

    def kept_places(self) -> Numbers:
        """The old places of the texts that stay, content by content."""
        return self.live.segment.column("texts")[self.contents[self.is_held]].astype(np.int64)

    def band(self, band: int) -> tuple[Numbers, Numbers]:
        """Keys that stay, and the new numbers of whose they are."""
        keys, owners = self.live.segment.band(band)
        owned = self._new_numbers()[owners]
        return keys[owned >= 0], owned[owned >= 0].astype(np.uint32)

    def postings(self) -> Iterator[tuple[Numbers, Numbers]]:
        """The same of members, range by range of their keys."""
        keys, owners = self.live.segment.postings()
        new = self._new_numbers()
        for part in key_ranges(keys):
            owned = new[owners[part]]
            yield keys[part][owned >= 0], owned[owned >= 0].astype(np.uint32)

    def _new_numbers(self) -> Numbers:
        """By old number; -1 for what is not held any more."""
        new = np.full(self.live.segment.contents, -1, np.int64)
        new[self.contents[self.is_held]] = self.number[self.is_held]
        return new

    def is_gone(self) -> npt.NDArray[np.bool_]:
        """By place: which texts go."""
        gone = np.ones(len(self.live.segment.column("lengths")), bool)
        gone[self.kept_places()] = False
        return gone


def _id_digests(live: Live) -> npt.NDArray[np.uint64]:
    """By document."""
    segment = live.segment
    digests = np.empty((segment.documents, 2), np.uint64)
    places = segment.column("id_of")
    digests[places, 0], digests[places, 1] = segment.column("id_high"), segment.column("id_low")
    return digests


def _text_places(parts: Sequence[_Part]) -> Iterator[Numbers]:
    """Where the texts that stay will be, content by content."""
    base = 0
    for part in parts:
        stays = ~part.is_gone()
        yield base + (np.cumsum(stays) - 1)[part.kept_places()]
        base += int(np.count_nonzero(stays))


def _runs(parts: Sequence[_Part], start: int, end: int) -> npt.NDArray[np.uint32]:
    """The runs of some bands."""
    pieces = [np.empty(0, np.uint32)]
    for band in range(start, end):
        both = zip(*(part.band(band) for part in parts), strict=True)
        keys, owners = (np.concatenate(column) for column in both)
        # In the order of the owners first, since the sort by keys keeps it.
        owners, keys = _kernels.sort_band(owners, keys)
        pieces += _kernels.sort_band(keys, owners)
    return np.concatenate(pieces)


def _postings(parts: Sequence[_Part]) -> Iterator[tuple[Numbers, Numbers]]:
    """Range by range of the keys, so that a part of them is held at a time."""
    for pieces in zip(*(part.postings() for part in parts), strict=True):
        keys, owners = (np.concatenate(column) for column in zip(*pieces, strict=True))
        owners, keys = _kernels.sort_band(owners, keys)
        yield _kernels.sort_band(keys, owners)


def _blocks(parts: Sequence[_Part]) -> Iterator[TextBlock]:
    for part in parts:
        yield from part.live.segment.blocks(part.is_gone())
