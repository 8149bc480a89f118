"""Whether DuckDB finds the same types where objects of very many names have only some of them."""

import json
from collections.abc import Mapping, Sequence

from duckdb.sqltypes import DuckDBPyType

__all__ = ["Place", "are_types_sure"]

#: The path of an object from which members were left out (a name for a member, nothing for an
#: element), and the fewest members of an object among those.
Place = tuple[list[str], int]

#: Types of which it does not matter how many values have them. Not so those of strings, as dates:
#: one string that is none makes them strings.
_SIMPLE = ("BOOLEAN", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT", "DOUBLE", "VARCHAR")
#: From so many records on, names that most of them lack make a map of an object.
_MANY_RECORDS = 10


def are_types_sure(
    types: Mapping[str, DuckDBPyType], places: Sequence[Place], records: int
) -> bool:
    """Whether the types that were found without some members are those of all.

    An object of many names is a map if the types of its members are alike, by an average over
    all. Where they are simple, all are alike. An object counts for the part of all names that it
    has: where each has enough, so has the average.
    """
    return all(_is_sure(_type_at(types, path), fewest, records) for path, fewest in places)


def _type_at(types: Mapping[str, DuckDBPyType], path: Sequence[str]) -> DuckDBPyType | None:
    """The type of the value at a path, or the JSON around it; None where it is not found."""
    children = dict(types)
    kind = None
    for name in path:
        kind = children.get(json.loads(name) if name else "child")
        if kind is None or str(kind) == "JSON":
            break
        children = _children_of(kind) if kind.id in ("struct", "list") else {}
    return kind


def _is_sure(kind: DuckDBPyType | None, fewest: int, records: int) -> bool:
    if kind is None:
        return False
    if str(kind) == "JSON":  # it has values of several kinds, whatever they are
        return True
    if kind.id != "map":
        return False
    value = _children_of(kind)["value"]
    if _is_simple(value):
        return True
    if value.id != "struct" or records >= _MANY_RECORDS:
        return False
    members = _children_of(value).values()
    return 5 * fewest >= 4 * len(members) and all(map(_is_simple, members))


def _is_simple(kind: DuckDBPyType) -> bool:
    return _is_simple(_children_of(kind)["child"]) if kind.id == "list" else str(kind) in _SIMPLE


def _children_of(kind: DuckDBPyType) -> dict[str, DuckDBPyType]:
    """By their names; only other types have children that are something else."""
    return {name: child for name, child in kind.children if isinstance(child, DuckDBPyType)}
