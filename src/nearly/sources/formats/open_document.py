"""OpenDocument texts (.odt), by the standard library."""

import io
import zipfile
from typing import Final
from xml.parsers import expat

from nearly.sources.formats.encoding import NotTextError
from nearly.sources.formats.word import check_size

__all__ = ["text_of"]

_TEXT: Final = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_OFFICE: Final = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_ENDS_LINE: Final = {f"{_TEXT} p", f"{_TEXT} h"}
_HIDDEN: Final = {f"{_TEXT} tracked-changes", f"{_OFFICE} annotation", f"{_OFFICE} scripts"}
#: Where a number of spaces is claimed, this many are enough: white space is collapsed anyway.
_MOST_SPACES: Final = 1_000


def text_of(data: bytes, _encoding: str | None) -> str:
    """Paragraphs and headings in their order, without comments and deleted text."""
    check_size(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if b"encryption-data" in _member(archive, "META-INF/manifest.xml"):
            raise NotTextError("protected by a password")
        reading = _Reading()
        reading.parser.Parse(_member(archive, "content.xml"), True)
    return "".join(reading.pieces)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    return archive.read(name) if name in archive.namelist() else b""


class _Reading:
    """What the parser of XML meets, as text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._hidden = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        """Entities are declared there, which could expand without end."""
        raise NotTextError("a broken .odt file: its XML declares a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._hidden += name in _HIDDEN
        if name == f"{_TEXT} s":
            claimed = attributes.get(f"{_TEXT} c", "1")
            count = int(claimed) if claimed.isdigit() and len(claimed) < 6 else 1
            self._add(" " * min(count, _MOST_SPACES))
        elif name == f"{_TEXT} tab":
            self._add("\t")
        elif name == f"{_TEXT} line-break":
            self._add("\n")

    def _end(self, name: str) -> None:
        if name in _ENDS_LINE:
            self._add("\n")
        self._hidden -= name in _HIDDEN

    def _add(self, text: str) -> None:
        if not self._hidden:
            self.pieces.append(text)
