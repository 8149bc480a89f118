"""Texts cut into pieces that can be taken out whole: sentences, paragraphs or lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from nearly.settings import Piece

__all__ = ["piece_spans"]

#: A sign that ends a sentence with what closes after it, in scripts with spaces and without them;
#: or a blank line.
_ENDING: Final = re.compile(
    r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[”’」』）]*|\n[^\S\n]*\n"  # noqa: RUF001
)
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_LINE: Final = re.compile(r"\n")
_WORD: Final = re.compile(r"[^\W_]")
_LAST_WORD: Final = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
_NEXT: Final = re.compile(r"\S")

#: A word before a full stop that need not end a sentence. Where it does after all, two sentences
#: count as one: that is safe, and half a sentence is not.
_SHORT: Final = re.compile(
    r"mrs?|ms|dr|prof|st|jr|sr|vs|etc|eg|ie|cf|al|figs?|nos?|vol|pp|eds?|ca|approx|inc|ltd|co|corp"
    r"|gen|col|sgt|capt|lt|rev|hon|dept|univ|assn|bros|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov"
    r"|dec|bzw|usw|nr|bd|hrsg|vgl"
)
#: Characters before a full stop that are looked at for its word.
_NEAR: Final = 16


def piece_spans(text: str, each: Piece) -> list[tuple[int, int]]:
    """Where the pieces of a text begin and end, without the white space around them.

    A piece has a word: what has none belongs to the piece before it, or to the first one.
    """
    spans: list[tuple[int, int]] = []
    is_wordless = False
    for start, end in _stripped(text, _BORDERS[each](text)):
        has_word = _WORD.search(text, start, end) is not None
        if spans and (is_wordless or not has_word):
            spans[-1] = spans[-1][0], end
            is_wordless &= not has_word
        else:
            spans.append((start, end))
            is_wordless = not has_word
    return spans


def _stripped(text: str, borders: Iterator[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for border in (*borders, len(text)):
        piece = text[start:border]
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip())
        if first < last:
            yield first, last
        start = border


def _sentence_ends(text: str) -> Iterator[int]:
    for found in _ENDING.finditer(text):
        sign = found[0]
        if sign[0] in "\n。！？" or _is_ending(text, sign, found.start(), found.end()):  # noqa: RUF001
            yield found.end()


def _is_ending(text: str, sign: str, start: int, end: int) -> bool:
    """Whether a sentence ends there: in doubt it does not."""
    following = _NEXT.search(text, end)
    if following is not None and following[0].islower():
        return False
    if sign != ".":
        return True
    before = _LAST_WORD.search(text[max(0, start - _NEAR) : start])
    if before is None:
        return True
    word = before[0].lower()
    is_initial = len(word) == 1 and word.isalpha()
    is_item = word.isdigit() and _begins_line(text, start - len(word))
    return not (is_initial or is_item or _SHORT.fullmatch(word) or "." in word)


def _begins_line(text: str, place: int) -> bool:
    before = text[max(0, place - _NEAR) : place].rstrip(" \t")
    return before.endswith("\n") or (not before and place <= _NEAR)


def _ends_of(border: re.Pattern[str]) -> Callable[[str], Iterator[int]]:
    return lambda text: (found.end() for found in border.finditer(text))


_BORDERS: Final[dict[Piece, Callable[[str], Iterator[int]]]] = {
    "sentence": _sentence_ends,
    "paragraph": _ends_of(_BLANK_LINE),
    "line": _ends_of(_LINE),
}
