"""One string in an object of a JSON file, cut where it stands."""

import json
import re

from nearly.sources.cut_text import Gaps, NotThereError, cut_places

__all__ = ["cut_member"]

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\n\r]*")
#: A character of a string as it is written; two escapes of surrogates are one.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)


def cut_member(record: str, name: str, gaps: Gaps) -> str:
    """The object without the gaps of the string of this name; escapes stay as they are."""
    try:
        start, end = _string_of(record, name)
    except (ValueError, IndexError, RecursionError) as error:
        raise NotThereError from error
    places = [found.start() for found in _CHARACTER.finditer(record, start, end)]
    return cut_places(record, [*places, end], gaps)


def _string_of(record: str, name: str) -> tuple[int, int]:
    """Where the string of a member begins and ends, inside its quotes."""
    place = _after_space(record, record.index("{") + 1)
    while record[place] == '"':
        key, place = _DECODER.raw_decode(record, place)
        place = _after_space(record, _after_space(record, place) + 1)  # the colon
        start = place
        _, place = _DECODER.raw_decode(record, place)
        if key == name and record[start] == '"':
            return start + 1, place - 1
        place = _after_space(record, _after_space(record, place) + 1)  # the comma
    raise NotThereError


def _after_space(record: str, place: int) -> int:
    found = _SPACE.match(record, place)
    return place if found is None else found.end()
