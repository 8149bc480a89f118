"""Bytes as they come → lines or paragraphs, with all that separates them.

What the cutters give, one behind the other, is what they were given, byte for byte.
"""

from collections.abc import Iterator
from typing import Final

from nearly.settings import Whole

__all__ = ["LONGEST", "LineCutter", "ParagraphCutter", "Piece", "cutter_of"]

#: Bytes of a line or paragraph that are held at most: a longer one passes in pieces.
LONGEST: Final = 2**26


class Piece(bytes):
    """A part of what is too long to be compared."""

    is_first = False

    @classmethod
    def of(cls, data: bytes, *, is_first: bool) -> "Piece":
        """A piece that knows whether it begins something."""
        made = cls(data)
        made.is_first = is_first
        return made


class LineCutter:
    """Lines, each with its line feed; the last one may have none."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._rest = b""
        self._is_in_pieces = False

    def feed(self, block: bytes) -> Iterator[bytes]:
        """The lines that are complete now."""
        *lines, self._rest = (self._rest + block).split(b"\n")
        for line in lines:
            yield self._whole(line + b"\n")
        if len(self._rest) > self._longest:
            yield self._piece(self._rest)
            self._rest, self._is_in_pieces = b"", True

    def finish(self) -> Iterator[bytes]:
        """What is left when nothing more comes."""
        if self._rest:
            yield self._whole(self._rest)
            self._rest = b""

    def _whole(self, line: bytes) -> bytes:
        if not self._is_in_pieces and len(line) <= self._longest + 1:
            return line
        piece = self._piece(line)
        self._is_in_pieces = False
        return piece

    def _piece(self, data: bytes) -> Piece:
        return Piece.of(data, is_first=not self._is_in_pieces)


class ParagraphCutter:
    """Runs of lines that have something in them, each with the blank lines after it."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._lines = LineCutter(longest)
        self._longest = longest
        self._held: list[bytes] = []
        self._size = 0
        self._is_over = False  # a blank line was seen
        self._is_in_pieces = False

    def feed(self, block: bytes) -> Iterator[bytes]:
        """The paragraphs after which another one begins."""
        for line in self._lines.feed(block):
            yield from self._take(line)

    def finish(self) -> Iterator[bytes]:
        """What is left when nothing more comes."""
        for line in self._lines.finish():
            yield from self._take(line)
        yield from self._end()

    def _take(self, line: bytes) -> Iterator[bytes]:
        is_blank = not line.strip()
        if self._is_over and not is_blank:
            yield from self._end()
        self._held.append(line)
        self._size += len(line)
        self._is_over = is_blank
        if self._size > self._longest:
            yield self._piece()
            self._is_in_pieces = True

    def _end(self) -> Iterator[bytes]:
        if self._held:
            yield self._piece() if self._is_in_pieces else self._joined()
        self._is_over = self._is_in_pieces = False

    def _piece(self) -> Piece:
        return Piece.of(self._joined(), is_first=not self._is_in_pieces)

    def _joined(self) -> bytes:
        joined = b"".join(self._held)
        self._held, self._size = [], 0
        return joined


def cutter_of(each: Whole) -> LineCutter | ParagraphCutter:
    """What cuts a stream into what is looked at."""
    return LineCutter() if each == "line" else ParagraphCutter()
