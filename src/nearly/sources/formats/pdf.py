"""PDF files, by pypdfium2."""

import re

from nearly.sources.formats.encoding import NotTextError
from nearly.sources.formats.extra import needed

__all__ = ["text_of"]

#: How PDFium marks a hyphen that is there only because the line ends.
_SOFT_HYPHEN = re.compile("\ufffe\\s*")


def text_of(data: bytes, _encoding: str | None) -> str:
    """The text of all pages."""
    pdfium = needed("pypdfium2", "a PDF (.pdf)")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise NotTextError("protected by a password") from error
        raise
    try:
        pages = [_text_of_page(page) for page in document]
    finally:
        document.close()
    text = "\n".join(pages)
    if not text.strip():
        raise NotTextError("a PDF without text, such as a scan: give it to an OCR program first")
    return text


def _text_of_page(page: object) -> str:
    text_page = page.get_textpage()  # type: ignore[attr-defined]
    try:
        return _SOFT_HYPHEN.sub("", text_page.get_text_range())
    finally:
        text_page.close()
        page.close()  # type: ignore[attr-defined]
