"""CSV without its long values, which are read once they are asked for.

Python's reader takes four bytes for each character of a value, and as much again while it grows.
So it is given a copy in which a short mark stands for each long value.
"""

import re
from typing import IO

import numpy as np

from nearly.mapping import let_go, mapped
from nearly.sources.formats import abridged
from nearly.sources.formats.abridged import Marked, is_utf_8
from nearly.sources.formats.csv_record import UnclearError

__all__ = ["AbridgedCsv"]

_QUOTE, _FEED, _RETURN = b'"\n\r'


class AbridgedCsv(Marked):
    """A file in UTF-8, in which every quote opens a value, closes one or is doubled inside of one.

    Raises UnclearError where one does not. The file is mapped, so it has to be ours. A mark has as
    many lines as its value, so that those that follow keep their numbers.
    """

    def __init__(self, source: str, copy: str, delimiter: str) -> None:
        super().__init__(source, copy)
        edges = re.escape(delimiter).encode() + b"\r\n"
        self._edges = delimiter.encode() + b"\r\n"
        self._token = re.compile(
            rb'"(?:[^"]++|"")*+"|"|(?<![^%b])[^"%b]{%d,}+' % (edges, edges, abridged.LONG)
        )
        with open(source, "rb") as file, open(copy, "wb") as target:
            self._write_short(mapped(file.fileno(), file.seek(0, 2)), target)
        let_go()

    def _write_short(self, text: memoryview, target: IO[bytes]) -> None:
        end = 0
        for token in self._token.finditer(text):
            first, last = token.span()
            if text[first] == _QUOTE and not self._is_value(text, first, last):
                raise UnclearError
            if last - first > abridged.LONG:
                target.write(text[end:first])
                target.write(self._short(text, first, last))
                end = last
            if end < first - abridged.PIECE:
                target.write(text[end:first])
                end = first
                let_go()
        target.write(text[end:])

    def _is_value(self, text: memoryview, first: int, last: int) -> bool:
        """Whether what is quoted is all of a value."""
        begins = first == 0 or text[first - 1] in self._edges
        ends = last == len(text) or text[last] in self._edges
        return last - first > 1 and begins and ends

    def _short(self, text: memoryview, first: int, last: int) -> bytes:
        """What is no UTF-8 is told by its bytes, and so it stays: two of them are enough."""
        mark = self._mark(first, last).encode() if is_utf_8(text, first, last) else b"\xff"
        return b'"' + mark + b"\n" * _lines_in(text[first:last]) + b'"'

    def _said(self, file: IO[bytes], size: int) -> bytes:
        head = file.read(1)
        if head != b'"':
            return head + file.read(size - 1)
        pieces, half = [], b""
        for start in range(0, size - 2, abridged.PIECE):
            piece = half + file.read(min(abridged.PIECE, size - 2 - start))
            half = piece[-1:] if piece.count(b'"') % 2 else b""
            pieces.append(piece[: len(piece) - len(half)].replace(b'""', b'"'))
        if half:
            raise ValueError
        return b"".join(pieces)


def _lines_in(value: memoryview) -> int:
    """Ends of lines: each line feed, and each return that none follows."""
    units = np.frombuffer(value, np.uint8)
    returns = np.flatnonzero(units == _RETURN)
    followed = np.count_nonzero(units[np.minimum(returns + 1, len(units) - 1)] == _FEED)
    return int(np.count_nonzero(units == _FEED)) + len(returns) - int(followed)
