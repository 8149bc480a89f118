"""One value in a record of a CSV file, cut where it stands."""

import re

from nearly.sources.cut_text import Gaps, NotThereError, cut_places

__all__ = ["cut_value"]

_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_CHARACTER = re.compile(r'""|[^"]')


def cut_value(record: str, index: int, delimiter: str, gaps: Gaps) -> str:
    """The record without the gaps of its value at this index; quotes stay as they are."""
    unquoted = re.compile(f"[^{re.escape(delimiter)}\r\n]*")
    place = 0
    for _ in range(index):
        value = _QUOTED.match(record, place) or unquoted.match(record, place)
        if value is None or record[value.end() : value.end() + 1] != delimiter:
            raise NotThereError
        place = value.end() + 1
    if quoted := _QUOTED.match(record, place):
        places = [found.start() for found in _CHARACTER.finditer(record, *quoted.span(1))]
        return cut_places(record, [*places, quoted.end(1)], gaps)
    plain = unquoted.match(record, place)
    if plain is None:
        raise NotThereError
    made = cut_places(record, range(plain.start(), plain.end() + 1), gaps)
    return made if made.strip("\r\n") else f'""{made}'  # a blank line is no record
