"""Word documents (.docx), by python-docx."""

import io
import zipfile

from nearly.sources.formats.encoding import NotTextError
from nearly.sources.formats.extra import needed

__all__ = ["check_size", "text_of"]

#: Bytes that an archive may unpack to: a small file can claim any size.
MOST_UNPACKED = 2**29

_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def text_of(data: bytes, _encoding: str | None) -> str:
    """Paragraphs in their order, those of tables and text boxes too."""
    docx = needed("docx", "a Word document (.docx)")
    from docx.oxml.ns import qn
    from docx.text.paragraph import Paragraph

    if data.startswith(_OLD_OFFICE):
        raise NotTextError("protected by a password, or an old .doc")
    check_size(data)
    document = docx.Document(io.BytesIO(data))
    body = document.element.body
    # What stands in a Fallback stands beside it too, for newer programs.
    shown = (p for p in body.iter(qn("w:p")) if next(p.iterancestors(_FALLBACK), None) is None)
    return "\n".join(Paragraph(p, document.part).text for p in shown)


def check_size(data: bytes) -> None:
    """Refuse an archive that would fill the memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MOST_UNPACKED:
        raise NotTextError(f"unpacks to {size:,} bytes; at most {MOST_UNPACKED:,} are read")
