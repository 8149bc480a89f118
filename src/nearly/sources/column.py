"""Which column is the text, which is the id, and what Arrow types they become."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from nearly.arrays import narrowed
from nearly.errors import MissingError, SourceError

__all__ = [
    "Choice",
    "as_numbers",
    "cast",
    "check_column",
    "choose_columns",
    "id_type_of",
    "unviewed",
]

TEXT_NAMES = (
    "text", "body", "content", "document", "message", "tweet", "abstract", "description"
)  # fmt: skip
ID_NAMES = ("id", "_id", "doc_id", "docid", "document_id", "tweetid", "key", "uuid")


@dataclass(frozen=True)
class Choice:
    """The columns that were chosen; without an id column the row number is the id."""

    text: str
    id: str | None


def choose_columns(
    schema: pa.Schema, name: str, id_column: str | None, text_column: str | None
) -> Choice:
    """The columns that were named, or that can be guessed safely."""
    for column in (id_column, text_column):
        if column is not None:
            check_column(schema, column, name)
    id_column = id_column or _guess_id(schema, text_column)
    text_column = text_column or _guess_text(schema, id_column, name)
    kind = schema.field(text_column).type
    if not (_is_text(kind) or pa.types.is_null(kind)):
        raise SourceError(
            f"column {text_column!r} of {name} holds {kind}, and strings are needed. "
            "Name another column, or cast this one in an SQL query."
        )
    return Choice(text=text_column, id=id_column)


def check_column(schema: pa.Schema, column: str, name: str) -> None:
    """Refuse a column that is not there, or that is there twice."""
    times = schema.names.count(column)
    if times > 1:
        raise SourceError(
            f"{times} columns of {name} are called {column!r}. Give them different names."
        )
    if times == 0:
        close = difflib.get_close_matches(column, schema.names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise MissingError(
            f"{name} has no column {column!r}.{hint} It has: {_listed(schema.names)}."
        )


def _is_text(kind: pa.DataType) -> bool:
    """Strings of any layout, dictionaries of strings included."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def id_type_of(kind: pa.DataType, column: str, name: str) -> pa.DataType:
    """Whole numbers stay numbers; unsigned 64-bit ones may not fit, and become strings."""
    if pa.types.is_nested(kind):
        raise SourceError(
            f"column {column!r} of {name} holds {kind}, and an id is a number or a string. "
            "Name another column, or none: then the row number is the id."
        )
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return pa.int64()
    return pa.string()


def cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column in another type, without work where it has that type already."""
    if column.type == kind:
        return column
    if pa.types.is_dictionary(column.type):
        # Arrow decodes a dictionary of string views only after its values are cast.
        values = column.dictionary.cast(kind)
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    if (column.type, kind) == (pa.large_string(), pa.string()) and column.null_count == 0:
        return narrowed(column)
    return column.cast(kind)


def unviewed(kind: pa.DataType) -> pa.DataType:
    """The type to use instead of a view, because Arrow cannot filter views."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_string_view(values):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(values) else kind


def as_numbers(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Strings as numbers; null where a string spells none."""
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return pa.array([_number(value, kind) for value in column.to_pylist()], kind)


def _number(value: str | None, kind: pa.DataType) -> int | float | None:
    if value is None:
        return None
    try:
        return pa.scalar(value).cast(kind).as_py()  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        return None


def _guess_id(schema: pa.Schema, text: str | None) -> str | None:
    found = _called(schema, ID_NAMES, leaving_out=text)
    return found[0] if len(found) == 1 else None


def _guess_text(schema: pa.Schema, id_column: str | None, name: str) -> str:
    called = _called(schema, TEXT_NAMES, leaving_out=id_column)
    strings = [f.name for f in schema if _is_text(f.type) and f.name != id_column]
    for found in (called, strings):
        if len(found) == 1:
            return found[0]
    raise MissingError(
        f"it is not clear which column of {name} is the text. Name it, as in --text COLUMN. "
        f"There are: {_listed(schema.names)}."
    )


def _called(schema: pa.Schema, known: Sequence[str], *, leaving_out: str | None) -> list[str]:
    """The columns with one of the known names, whatever their case."""
    return [n for n in schema.names if n.lower() in known and n != leaving_out]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "no columns at all"
