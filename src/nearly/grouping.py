"""Which pairs lie between groups, such as students: a group is a column, or a file's folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from nearly.documents.group import folder_of, is_folder
from nearly.documents.lookup import ColumnReader, TextReader
from nearly.documents.place import place_list
from nearly.errors import EngineError

__all__ = ["are_between_groups", "groups_of", "terms_of"]


def are_between_groups(pairs: pa.Table, reader: TextReader, group: str) -> pa.Array:
    """Of each pair, whether its documents belong to different groups.

    A document without a group is in none with any other.
    """
    first, second = (groups_of(pairs, column, reader, group) for column in ("id_a", "id_b"))
    ends = zip(first, second, strict=True)
    return pa.array([a is None or a != b for a, b in ends], pa.bool_())


def terms_of(pairs: pa.Table, reader: TextReader, term: str) -> list[tuple[str, ...]]:
    """Of each pair, the terms that its documents are of, each once."""
    ends = zip(
        *(groups_of(pairs, column, reader, term) for column in ("id_a", "id_b")), strict=True
    )
    return [tuple(sorted({str(each) for each in pair if each is not None})) for pair in ends]


def groups_of(table: pa.Table, column: str, reader: TextReader, group: str) -> Sequence[Any]:
    """The group of each document that a column of ids names; None where it has none."""
    if is_folder(group):
        return [folder_of(name, group) for name in table[column].to_pylist()]
    known = _values(reader, group)
    places = place_list(table, column)
    return [known.get(each) for each in places or table[column].to_pylist()]


def _values(reader: TextReader, column: str) -> Mapping[Any, Any]:
    if not isinstance(reader, ColumnReader):
        raise EngineError(
            f"the column {column!r} is read on one machine, and these documents lie on Spark; "
            "save the result, and open it with nearly.open(folder, source=...)"
        )
    return reader.values(column)
