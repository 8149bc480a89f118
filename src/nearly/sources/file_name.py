"""Names of files as ids: readable, unique, and able to be turned back into the name."""

import os
import re

__all__ = ["id_of_name", "name_of_id"]

_HIDDEN = re.compile("[\\\\\x00-\x1f\x7f-\x9f\udc80-\udcff]")
_SPELT = re.compile(r"\\\\|\\x([0-9a-f]{2})")


def id_of_name(name: str) -> str:
    r"""A relative path as an id: control characters and bytes that are not UTF-8 as \xNN."""
    name = name.replace(os.sep, "/")
    return _HIDDEN.sub(_spell, name)


def name_of_id(given: str) -> str:
    """The relative path that an id stands for."""
    spelt = _SPELT.sub(lambda m: chr(0xDC00 + int(m[1], 16)) if m[1] else "\\", given)
    # Spelt bytes that are part of a character, or below 128, are put together here.
    raw = b"".join(
        bytes([ord(c) - 0xDC00]) if "\udc00" <= c <= "\udcff" else c.encode() for c in spelt
    )
    return os.fsdecode(raw)


def _spell(found: re.Match[str]) -> str:
    if found[0] == "\\":
        return "\\\\"
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(found[0]))
