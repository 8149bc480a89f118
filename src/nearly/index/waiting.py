"""Documents that are in no segment's file, as a segment in memory that grows with each commit."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.index.catalogue import Pending
from nearly.index.live import Live, known
from nearly.index.segment import Segment
from nearly.index.segment_file import Opened, Written

__all__ = ["Waiting"]


class Waiting:
    """What waits, in order. Each segment that it shows stays as it is when more comes."""

    def __init__(self, first: Pending, *, is_text: bool) -> None:
        """Of documents that are like a first one, which does not wait here yet."""
        self._is_text = is_text
        widths = len(first.keys) // 4, len(first.sketch) // 8
        self._kernel = _kernels.Waiting(*widths, has_numbers=isinstance(first.id, int))
        self._numbers: list[int] = []
        self._texts: list[bytes] = []  # it only grows: segments that were shown share it

    def is_part_of(self, pending: Mapping[int, Pending]) -> bool:
        """Whether these are what waits here, and perhaps others that came later."""
        return self._numbers == list(islice(pending, len(self._numbers)))

    def live(self, pending: Mapping[int, Pending], lives: Sequence[Live]) -> Live:
        """All of these, of which the first wait already, as a segment.

        What segments in files hold of them is not held once more. That stays so as long as a
        document waits: a content goes only when no document has it.
        """
        new = list(islice(pending.values(), len(self._numbers), None))
        digests = np.frombuffer(b"".join([row.digest for row in new]), np.uint64).reshape(-1, 2)
        for row, is_known in zip(new, known(lives, digests).tolist(), strict=True):
            self._add(row, is_known=is_known)
        return Live(0, self._segment())

    def _add(self, row: Pending, *, is_known: bool) -> None:
        if self._kernel.add(
            row.number, row.id, row.digest, row.size, row.keys, row.sketch, is_known
        ):
            self._texts.append(row.content)
        self._numbers.append(row.number)

    def _segment(self) -> Segment:
        kernel = self._kernel
        data, sums, columns = kernel.image()
        written = Written(
            name="pending",
            contents=kernel.contents,
            keyed=kernel.keyed,
            documents=kernel.documents,
            size=len(data),
            sum=b"",
        )
        opened = Opened(
            mapped=data.data, data=data, sums=sums, columns=columns, facts={"bands": kernel.bands}
        )
        return _WaitingSegment(written, opened, self._texts, is_text=self._is_text)


class _WaitingSegment(Segment):
    """Each text lies apart, as it came."""

    def __init__(
        self, written: Written, opened: Opened, texts: Sequence[bytes], *, is_text: bool
    ) -> None:
        super().__init__(written, opened, is_text=is_text)
        self._texts = texts

    def _read_block(self, block: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
        data = np.frombuffer(self._texts[block], np.uint8)
        return data, np.array([0, len(data)])
