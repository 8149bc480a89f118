"""Legacy encodings: forced by name, or found out; tables are rewritten as UTF-8 to be read."""

import codecs
import shutil
from pathlib import Path
from typing import Any, Final

from nearly.errors import SettingsError, UnreadableError
from nearly.sources.formats.encoding import encoding_of, open_bytes
from nearly.sources.formats.extra import needed

__all__ = ["AUTO", "check_encoding", "detected", "unmarked_codec", "write_as_utf_8"]

AUTO: Final = "auto"

PIECE = 1 << 20
COMMONEST: Final = "cp1252"
#: Up to this difference, it is chance which encoding looks most like a language.
TIE: Final = 0.1
#: What is shown to the detector: enough for a verdict, and little work.
SAMPLE = 1 << 18


def check_encoding(name: str) -> None:
    """Refuse what is neither `auto` nor an encoding of text."""
    try:
        if name != AUTO:
            b"a".decode(name)
    except UnicodeError:
        return  # it is one, and has other letters
    except LookupError:
        raise SettingsError(
            f"there is no text encoding {name!r}; give one such as cp1252, latin-1, shift_jis or "
            "utf-16, or auto to have it found out"
        ) from None


def detected(path: str, name: str) -> str | None:
    """The encoding of a file that is not UTF-8; None where it is, or nobody can tell."""
    with open_bytes(path) as file:
        head = file.read(4)
    if encoding_of(head) != "utf-8" or _is_utf_8(path):
        return None  # a mark says what it is, and readers know marks
    from_bytes = needed("charset_normalizer", f"to find out the encoding of {name}").from_bytes
    return _likeliest(from_bytes(_telling(path)))


def _likeliest(matches: Any) -> str | None:
    """The best match; of those that are as good, the encoding that is by far the commonest."""
    best = matches.best()
    if best is None:
        return None
    for match in matches:
        is_as_good = match.chaos <= best.chaos and match.coherence >= best.coherence - TIE
        if is_as_good and COMMONEST in match.could_be_from_charset:
            return COMMONEST
    return str(best.encoding)


def _is_utf_8(path: str) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        try:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _telling(path: str) -> bytes:
    """The lines that are not ASCII: they alone tell encodings apart. Where NULs show that
    characters are wider than a byte, the beginning."""
    found = bytearray()
    with open_bytes(path) as file:
        rest = b""
        while len(found) < SAMPLE and (piece := file.read(PIECE)):
            if not found and b"\0" in piece:
                return piece[:SAMPLE]
            *lines, rest = (rest + piece).split(b"\n")
            found += b"".join(line + b"\n" for line in lines if not line.isascii())
        found += rest
    return bytes(found[:SAMPLE])


def unmarked_codec(path: str, encoding: str, name: str) -> str | None:
    """The codec that is right for every piece of a file; None where readers see it by a mark."""
    try:
        with open_bytes(path) as file:
            marked = encoding_of(file.read(4))
    except OSError as error:
        raise UnreadableError(f"{name} cannot be read: {error}") from error
    codec = codecs.lookup(encoding).name
    if codec == marked:
        return None
    return "utf-8" if codec == "utf-8-sig" else codec


def write_as_utf_8(path: str, encoding: str, name: str, target: Path) -> None:
    """A copy in UTF-8; bytes that the encoding has no use for stay, to be found by the reader."""
    try:
        with (
            open_bytes(path) as source,
            codecs.getreader(encoding)(source, "surrogateescape") as text,
            open(target, "w", encoding="utf-8", errors="surrogateescape", newline="") as copy,
        ):
            shutil.copyfileobj(text, copy, PIECE)
    except (OSError, UnicodeError) as error:
        raise UnreadableError(f"{name} cannot be read as {encoding}: {error}") from error
