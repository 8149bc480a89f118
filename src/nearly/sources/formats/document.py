"""The text of a file that is one document: as it stands, or taken out of its format."""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from nearly.errors import UnreadableError
from nearly.sources.formats.encoding import NotTextError, bare_ending, checked, open_bytes

__all__ = ["FORMATS", "document_content", "document_text", "read_document"]

#: Endings, and where the function `text_of` for them is.
FORMATS: Final = {
    ".docx": "word",
    ".odt": "open_document",
    ".pdf": "pdf",
    ".html": "web_page",
    ".htm": "web_page",
    ".xhtml": "web_page",
    ".eml": "mail",
}


def read_document(path: str) -> str:
    """The text of a file, decompressed where its name says so."""
    with open_bytes(path) as file:
        return document_text(file.read(), path)


def document_text(data: bytes, path: str, encoding: str | None = None) -> str:
    """The text of a file that holds these bytes; NotTextError says why there is none."""
    text = document_content(data, path, encoding)
    return text if isinstance(text, str) else text.decode()


def document_content(data: bytes, path: str, encoding: str | None = None) -> bytes | str:
    """The same; as it stands in the file where that is UTF-8."""
    ending = bare_ending(path)
    if ending not in FORMATS:
        return checked(data, encoding)
    text_of: Callable[[bytes, str | None], str]
    text_of = import_module(f"nearly.sources.formats.{FORMATS[ending]}").text_of
    try:
        return _clean(text_of(data, encoding))
    except (NotTextError, MemoryError):
        raise
    except UnreadableError as error:
        raise NotTextError(str(error)) from error
    except Exception as error:  # parsers fail on broken files in ways of their own
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise NotTextError(f"a broken {ending} file: {reason}") from error


def _clean(text: str) -> str:
    """Lines without the white space around them, and without those that have nothing else."""
    text = text.replace("\0", "").encode(errors="replace").decode()
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)
