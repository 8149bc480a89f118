"""What documents are called: by their ids, with their places where ids repeat, or by numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from nearly.documents.place import place_list

__all__ = ["Labels"]


class Labels:
    """Names for people. Whoever must stay unknown has a number, the same one everywhere.

    Numbers are given in the order in which documents are asked for, so they tell nothing else.
    """

    def __init__(self, *, anonymous: bool = False) -> None:
        self.anonymous = anonymous
        self._numbers: dict[Any, int] = {}

    def of(self, table: pa.Table, column: str) -> list[str]:
        """The names of the documents of a column of ids."""
        ids = table[column].to_pylist()
        places = place_list(table, column)
        if self.anonymous:
            known = ids if places is None else places
            return [f"Document {self._number(each)}" for each in known]
        if places is None:
            return [str(each) for each in ids]
        return [f"{each} ({place})" for each, place in zip(ids, places, strict=True)]

    def _number(self, document: Any) -> int:
        return self._numbers.setdefault(document, len(self._numbers) + 1)
