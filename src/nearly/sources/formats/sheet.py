"""Spreadsheets (.xlsx, .ods), by python-calamine: one sheet is a table with a header."""

import datetime
import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import MissingError, SourceError, UnreadableError
from nearly.sources.formats.arrow import TablePart
from nearly.sources.formats.extra import needed

__all__ = ["SheetPart"]


class SheetPart(TablePart):
    """The sheet that was named, or the first."""

    def __init__(self, path: str, name: str, sheet: str | None) -> None:
        calamine = needed("python_calamine", f"a spreadsheet, such as {name},")
        try:
            workbook = calamine.CalamineWorkbook.from_path(path)
            #: All sheets of the file.
            self.sheets: list[str] = workbook.sheet_names
            self.sheet = _chosen(self.sheets, sheet, name)
            rows = workbook.get_sheet_by_name(self.sheet).to_python()
        except (calamine.CalamineError, OSError, ValueError) as error:
            hint = " It may be protected by a password." if _is_old_office(path) else ""
            raise UnreadableError(
                f"{name} cannot be read as a spreadsheet: {error}.{hint}"
            ) from error
        super().__init__(_table(rows, f"{name}::{self.sheet}"), name)
        self.path = os.path.abspath(path)


def _is_old_office(path: str) -> bool:
    """Office packs a spreadsheet that is protected into its old container."""
    with open(path, "rb") as file:
        return file.read(8) == bytes.fromhex("d0cf11e0a1b11ae1")


def _chosen(sheets: Sequence[str], asked: str | None, name: str) -> str:
    if not sheets:
        raise SourceError(f"{name} has no sheets.")
    if asked is not None and asked not in sheets:
        raise MissingError(f"{name} has no sheet {asked!r}. It has: {', '.join(sheets)}.")
    return asked or sheets[0]


def _table(rows: list[list[Any]], name: str) -> pa.Table:
    """The first row that has anything is the header; rows that have nothing are left out."""
    filled = [row for row in rows if any(value not in ("", None) for value in row)]
    if not filled:
        return pa.table({"text": string_array([])})
    header = [_spelled(value) or f"column {i + 1}" for i, value in enumerate(filled[0])]
    columns = zip(*filled[1:], strict=True) if filled[1:] else ([] for _ in header)
    try:
        return pa.Table.from_arrays([_column(list(column)) for column in columns], names=header)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise UnreadableError(f"{name} cannot be read as a table: {error}") from error


def _column(values: list[Any]) -> pa.Array:
    """Whole numbers, numbers, or strings: a column that mixes them is spelled out."""
    found = [None if value == "" else value for value in values]
    kinds = {type(value) for value in found if value is not None}
    if kinds and kinds <= {int, float}:
        if all(v is None or (float(v).is_integer() and abs(v) < 2**53) for v in found):
            return pa.array([None if v is None else int(v) for v in found], pa.int64())
        return pa.array([None if v is None else float(v) for v in found], pa.float64())
    return string_array([_spelled(value) for value in found])


def _spelled(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
