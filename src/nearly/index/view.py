"""What one commit left, as questions see it: the narrow seam between an index and its store.

A question is answered from segments. A store on disk has its segments mapped, and shows all of them
to every question; a store in a database fetches what a question may be about, as one segment.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.index.catalogue import State
from nearly.index.live import Live
from nearly.index.making import Making
from nearly.index.search import Asking
from nearly.measures.base import Signed

__all__ = ["Counts", "SegmentView", "View", "shown_to_kernel", "text_reader"]

Digests = npt.NDArray[np.uint64]


class Counts(NamedTuple):
    """How much there is."""

    documents: int
    contents: int  # that can be near to something
    gone: int  # documents that were removed and still take room
    size: int  # bytes


class View(Protocol):
    """See above."""

    @property
    def making(self) -> Making:
        """What the index was made with."""

    @property
    def state(self) -> State:
        """What the commit left."""

    def near(self, asking: Asking, signed: Signed, contents: pa.Array, most: int) -> Sequence[Live]:
        """What may be near to some documents, or a copy of one; of a bucket `most`, 0 for all.

        Where members are listed and there is no threshold, about `most` of all that share any.
        """

    def of_contents(self, digests: Digests) -> Sequence[Live]:
        """The documents that have these contents."""

    def of_ids(self, digests: Digests) -> Sequence[Live]:
        """The documents that have ids of these digests."""

    def everything(self) -> Sequence[Live]:
        """All documents."""

    def counts(self) -> Counts:
        """How much there is."""


@dataclass(frozen=True)
class SegmentView:
    """Segments that are mapped."""

    making: Making
    state: State
    lives: tuple[Live, ...]

    def near(
        self,
        asking: Asking,  # noqa: ARG002
        signed: Signed,  # noqa: ARG002
        contents: pa.Array,  # noqa: ARG002
        most: int,  # noqa: ARG002
    ) -> Sequence[Live]:
        """See `View`."""
        return self.lives

    @cached_property
    def shown(self) -> _kernels.ShownSegments:
        """See `shown_to_kernel`."""
        return shown_to_kernel(self.lives)

    def of_contents(self, digests: Digests) -> Sequence[Live]:  # noqa: ARG002
        """See `View`."""
        return self.lives

    def of_ids(self, digests: Digests) -> Sequence[Live]:  # noqa: ARG002
        """See `View`."""
        return self.lives

    def everything(self) -> Sequence[Live]:
        """See `View`."""
        return self.lives

    def counts(self) -> Counts:
        """See `View`."""
        lives = self.lives
        return Counts(
            documents=sum(live.segment.documents - live.documents.count for live in lives),
            contents=sum(live.segment.written.keyed - live.contents.count for live in lives),
            gone=sum(live.documents.count for live in lives),
            size=sum(written.size for written in self.state.segments.values()),
        )


def shown_to_kernel(lives: Sequence[Live]) -> _kernels.ShownSegments:
    """Segments for a kernel that asks all of them in one call."""
    shown = _kernels.ShownSegments()
    for live in lives:
        shown.add(live.segment.mapped, live.contents.bits, live.documents.bits)
    return shown


def text_reader(lives: Sequence[Live]) -> Callable[[int, int], npt.NDArray[np.uint8]]:
    """What gives the bytes of a text, by the place of its segment and its own."""
    return lambda segment, place: lives[segment].segment.text_at(place)
