"""The lines that Python's reader of CSV is fed, none of them too long for it."""

import io
from collections.abc import Iterator

__all__ = ["Fed", "LongRecordError"]

#: Refused by the strict reader whether or not a quote is open, which brings it back to
#: the beginning of a row: it stands for a line too long to be read.
_POISON = 'x\nx"x'


class LongRecordError(Exception):
    """A record has more characters than are to be read."""


class Fed:
    """What the reader was given of the record that it reads: `size` characters.

    Past `most` of them, LongRecordError is raised.
    """

    def __init__(self, most: int | None) -> None:
        self.size = 0
        self._most = most

    def lines(
        self, stream: io.TextIOWrapper, longest: int, taken: list[str] | None
    ) -> Iterator[str]:
        """The lines of a file; as they stand, they are added to `taken`."""
        for line in _bounded_lines(stream, longest, taken):
            self.size += len(line)
            if self._most is not None and (self.size > self._most or line is _POISON):
                raise LongRecordError
            yield line


def _bounded_lines(
    stream: io.TextIOWrapper, longest: int, taken: list[str] | None
) -> Iterator[str]:
    """The lines of a file, where a line that would fill the memory is made unreadable.

    As they stand, they are added to `taken`.
    """
    while line := stream.readline(longest):
        pieces = [line]
        while len(pieces[-1]) == longest and pieces[-1][-1] not in "\r\n":
            if taken is not None:
                taken.append(pieces[-1])
            pieces = ["", stream.readline(longest)]
        if taken is not None:
            taken.append(pieces[-1])
        yield line if len(pieces) == 1 else _POISON
