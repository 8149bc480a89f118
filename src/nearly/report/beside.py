"""Two texts side by side: passages in matching colours, what differs marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from nearly.markup import Markup, joined, tag
from nearly.text.match import Piece
from nearly.view.pair import PairView
from nearly.wording import count

__all__ = ["beside"]

#: Colours that follow each other; the style has as many.
COLOURS: Final = 6
#: A longer piece is shown by its two ends, of so many characters.
LONGEST: Final = 1_200
END: Final = 500
#: Characters that tell whether a text is a program, and how lines of one end.
LOOKED_AT: Final = 10_000
_ENDS: Final = (";", "{", "}", ")", ":", "]", "*/")
#: Pieces of a text that are shown.
MOST_PIECES: Final = 600


def beside(pair: PairView, name: str) -> Markup:
    """Both texts of a pair; `name` begins the names of its anchors."""
    if pair.matched is None or pair.text_a is None or pair.text_b is None:
        return tag("p", "The texts could not be read again.", class_="note")
    shown = [_shown(pieces) for pieces in (pair.matched.a, pair.matched.b)]
    both = set.intersection(*({p.passage for p in pieces} for pieces in shown))
    style = "text code" if _is_code(pair.text_a) or _is_code(pair.text_b) else "text"
    sides = zip("ab", (pair.name_a, pair.name_b), (pair.text_a, pair.text_b), shown, strict=True)
    return tag(
        "div",
        [
            tag(
                "div",
                tag("h4", called, dir="auto"),
                tag("div", _text(text, pieces, f"{name}-", side, both), class_=style, dir="auto"),
                _rest((pair.matched.a, pair.matched.b)[side == "b"], pieces),
            )
            for side, called, text, pieces in sides
        ],
        class_="beside",
    )


def _shown(pieces: Sequence[Piece]) -> Sequence[Piece]:
    return pieces[:MOST_PIECES]


def _rest(pieces: Sequence[Piece], shown: Sequence[Piece]) -> Markup | None:
    more = pieces[-1].stop - shown[-1].stop if len(shown) < len(pieces) else 0
    return (
        tag("p", f"The last {more:,} characters are left out here.", class_="note")
        if more
        else None
    )


def _text(
    text: str, pieces: Sequence[Piece], name: str, side: str, both: set[int | None]
) -> Iterator[Markup]:
    other = "b" if side == "a" else "a"
    seen: set[int] = set()
    for piece in pieces:
        words = _with_line_feeds(text[piece.start : piece.stop])
        bare = words.lstrip()
        yield joined(words[: len(words) - len(bare)])
        if piece.passage is not None and piece.passage in both and piece.passage not in seen:
            seen.add(piece.passage)
            yield _number(piece.passage, name, side, other)
        yield _piece(piece, _folded(bare))


def _with_line_feeds(words: str) -> str:
    """Line ends as a page shows them: a carriage return would be a sign of its own."""
    return words.replace("\r\n", "\n").replace("\r", "\n")


def _is_code(text: str) -> bool:
    """Whether most lines end as those of a program do: it is read in letters of one width."""
    lines = [line.strip() for line in text[:LOOKED_AT].splitlines() if line.strip()]
    return len(lines) > 2 and 2 * sum(line.endswith(_ENDS) for line in lines) > len(lines)


def _number(passage: int, name: str, side: str, other: str) -> Markup:
    """A passage's number, which leads to where it stands in the other text."""
    return tag(
        "a",
        passage + 1,
        id=f"{name}{side}{passage + 1}",
        href=f"#{name}{other}{passage + 1}",
        class_=f"n c{passage % COLOURS}",
        aria_label=f"passage {passage + 1}, go to it in the other text",
    )


def _piece(piece: Piece, words: Markup) -> Markup:
    grey = " template" if piece.is_template else ""
    if piece.passage is None:
        is_bare = piece.is_same and not grey
        return words if is_bare else tag("span", words, class_=_kind(piece) + grey)
    colour = f"c{piece.passage % COLOURS}{grey}"
    return tag("mark", words, class_=colour) if piece.is_same else tag("ins", words, class_=colour)


def _kind(piece: Piece) -> str:
    return "both" if piece.is_same else "only"


def _folded(words: str) -> Markup:
    """What is too long to be read is shown by its ends; nothing is left out in silence."""
    if len(words) <= LONGEST:
        return joined(words)
    left = len(words) - 2 * END
    fold = tag("span", f"[{count(left, 'character')} not shown]", class_="fold")
    return joined(words[:END], " ", fold, " ", words[-END:])
