"""HTML pages, by the standard library."""

import codecs
import re
from html.parser import HTMLParser
from typing import Final

from nearly.sources.formats.encoding import decode, encoding_of

__all__ = ["text_of", "text_of_page"]

_HIDDEN: Final = {"script", "style", "template"}
_BESIDE: Final = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
}  # fmt: skip
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
#: Where a page says in what encoding it is written.
_HEAD: Final = 4096


def text_of(data: bytes, encoding: str | None) -> str:
    """What a reader of the page reads."""
    return text_of_page(decode(data, encoding or _declared(data)))


def _declared(data: bytes) -> str | None:
    """The encoding that the page names, if it is none that marks or defaults would tell."""
    found = _CHARSET.search(data[:_HEAD])
    if found is None or encoding_of(data[:4]) != "utf-8":
        return None
    try:
        return codecs.lookup(found[1].decode()).name
    except LookupError:
        return None


def text_of_page(page: str) -> str:
    """The text between tags; those that do not stand beside each other begin a line."""
    reading = _Reading()
    reading.feed(page)
    reading.close()
    return "".join(reading.pieces)


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        """Called by the parser."""
        self._hidden += tag in _HIDDEN
        self._break(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        """Called by the parser for `<br/>`."""
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        """Called by the parser."""
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        self._break(tag)

    def handle_data(self, data: str) -> None:
        """Called by the parser."""
        if not self._hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))

    def _break(self, tag: str) -> None:
        if tag not in _BESIDE:
            self.pieces.append("\n")
