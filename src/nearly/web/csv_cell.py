"""CSV for spreadsheets, in which no cell can become a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

__all__ = ["csv_line"]

#: What a spreadsheet takes for the beginning of a formula, also behind white space.
_BEGINNINGS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_line(cells: Sequence[str | int | float]) -> bytes:
    """One row. An apostrophe before what looks like a formula makes it text."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_harmless(cell) for cell in cells])
    return line.getvalue().encode("utf-8", "replace")


def _harmless(cell: str | int | float) -> str | int | float:
    if not isinstance(cell, str):
        return cell
    is_formula = cell.startswith(_BEGINNINGS) or cell.lstrip().startswith(_BEGINNINGS)
    return f"'{cell}" if is_formula else cell.replace("\x00", "\ufffd")
