"""A segment and what of it is gone: documents that were removed, contents that nobody has."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nearly.index.segment import Segment

__all__ = ["Gone", "Live", "known"]

_NONE: npt.NDArray[np.uint8] = np.empty(0, np.uint8)


@dataclass(frozen=True)
class Gone:
    """Numbers that are gone, as bits; nothing is held while nothing is."""

    bits: npt.NDArray[np.uint8] = field(default_factory=lambda: _NONE)
    count: int = 0

    def with_more(self, numbers: Iterable[int], size: int) -> Self:
        """The same with these numbers below `size`, none of which was gone."""
        more = np.fromiter(numbers, np.int64)
        if len(more) == 0:
            return self
        flags = np.zeros(size, bool)
        flags[: len(self.bits) * 8] = np.unpackbits(self.bits, bitorder="little")[:size]
        flags[more] = True
        return type(self)(np.packbits(flags, bitorder="little"), self.count + len(more))

    def has(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which of these are gone."""
        if self.count == 0:
            return np.zeros(len(numbers), bool)
        numbers = np.asarray(numbers, np.int64)
        gone: npt.NDArray[np.bool_] = (
            self.bits[numbers >> 3] >> (numbers & 7).astype(np.uint8) & 1 > 0
        )
        return gone


@dataclass(frozen=True)
class Live:
    """What readers see of a segment; a change makes another one."""

    key: int  # its number in the catalogue; 0 for what is not in a file yet
    segment: Segment
    documents: Gone = field(default_factory=Gone)
    contents: Gone = field(default_factory=Gone)

    def find_documents(
        self, digests: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        """Documents that have these contents: places in `digests`, documents, their numbers."""
        return self.segment.owners(digests, self.documents.bits)

    def find_ids(
        self, digests: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Documents that have these ids."""
        sought, documents = self.segment.find_ids(digests)
        if len(documents) == 0:
            return sought, documents
        is_there = ~self.documents.has(documents)
        return sought[is_there], documents[is_there]

    def find_held(
        self, digests: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Contents that are held here, and not gone."""
        sought, contents = self.segment.find_contents(digests)
        if len(contents) == 0:
            return sought, contents
        is_there = self.segment.is_held(contents) & ~self.contents.has(contents)
        return sought[is_there], contents[is_there]


def known(lives: Iterable[Live], digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether a segment that is in a file holds contents of these digests."""
    found = np.zeros(len(digests), bool)
    for live in lives:
        if live.key:
            found[live.find_held(digests)[0]] = True
    return found
