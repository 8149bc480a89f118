"""The records of a CSV file as bytes: cut by counting quotes where that is right, or else parsed.

Where every quote opens a value, closes one or is one of two inside of one, a line ends a record
if the quotes before it are even in number. A file where some quote is none of these is cut by the
reader that finds the bad rows.
"""

import io
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearly.sources import record
from nearly.sources.record import Layout, Places, Records, Units

__all__ = ["LongError", "UnclearError", "quoted_records"]

_QUOTE, _FEED, _RETURN = ord('"'), ord("\n"), ord("\r")


class UnclearError(Exception):
    """Counting quotes is not enough."""


class LongError(UnclearError):
    """A record is longer than it may be."""


def quoted_records(
    file: io.BufferedReader, layout: Layout, delimiter: str, longest: int
) -> Iterator[Records]:
    """Every record after the mark, blank lines left out; the header is one like others.

    Raises UnclearError where quotes do not tell, LongError where a record is longer than `longest`.
    """
    held = b""
    while piece := file.read(max(record.STRETCH, len(held))):  # as much again: it is looked at anew
        data = held + piece
        found = _cut(data, layout, delimiter, is_last=False)
        if found is None:
            held = data
            if len(held) > longest:
                raise LongError
            continue
        yield _checked(found, longest)
        held = data[len(found.data) :]
    if held:
        found = _cut(held, layout, delimiter, is_last=True)
        if found is None:
            raise UnclearError
        yield _checked(found, longest)


def _checked(records: Records, longest: int) -> Records:
    if len(records) and (records.ends - records.starts).max() >= longest:
        raise LongError
    return records


def _cut(data: bytes, layout: Layout, delimiter: str, *, is_last: bool) -> Records | None:
    """The records that end in the data; None where there is none."""
    units = layout.units(data)
    quotes = np.flatnonzero(units == _QUOTE)
    ends = _line_ends(units, is_last=is_last)
    is_outside = np.searchsorted(quotes, ends) % 2 == 0
    if is_last and len(quotes) % 2:
        raise UnclearError
    ends = ends[is_outside]
    if len(ends) == 0:
        return None
    _check_quotes(units[: ends[-1]], quotes[quotes < ends[-1]], ord(delimiter))
    starts = np.append(0, ends[:-1])
    is_record = ~_is_line_end(units[starts])
    width = layout.width
    return Records(data[: ends[-1] * width], starts[is_record] * width, ends[is_record] * width)


def _line_ends(units: Units, *, is_last: bool) -> Places:
    """Where lines end: after each line feed, and each return that none follows."""
    is_end = units == _FEED
    returns = np.flatnonzero(units == _RETURN)
    inner = returns[returns + 1 < len(units)]
    is_end[inner[units[inner + 1] != _FEED]] = True
    if is_last and len(units):
        is_end[-1] = True
    return np.flatnonzero(is_end) + 1


def _is_line_end(units: Units) -> npt.NDArray[np.bool_]:
    is_end: npt.NDArray[np.bool_] = (units == _FEED) | (units == _RETURN)
    return is_end


def _check_quotes(units: Units, quotes: Places, delimiter: int) -> None:
    """Each opens a value at its beginning, and closes it at its end."""
    opening, closing = quotes[0::2], quotes[1::2]
    before = units[opening[opening > 0] - 1]
    after = units[closing[closing + 1 < len(units)] + 1]
    for beside in (before, after):
        if not (_is_line_end(beside) | (beside == delimiter) | (beside == _QUOTE)).all():
            raise UnclearError
