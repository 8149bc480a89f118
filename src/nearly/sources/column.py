"""Which column is the text, which is the id, and what Arrow types they become."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from nearly.arrays import narrowed, widened
from nearly.errors import MissingError, SourceError
from nearly.frozen import dataclass
from nearly.sources import vector as vectors
from nearly.sources.embedding import Embedding
from nearly.sources.item import check_items, contents_of, is_list

__all__ = [
    "ID_NAMES",
    "Choice",
    "as_numbers",
    "cast",
    "check_column",
    "choose_columns",
    "content_of",
    "facts_of",
    "id_type_of",
    "likely_id",
    "looks_unique",
    "text_of",
    "unviewed",
]

TEXT_NAMES = (
    "text", "body", "content", "document", "message", "tweet", "abstract", "description"
)  # fmt: skip
ID_NAMES = ("id", "_id", "doc_id", "docid", "document_id", "tweetid", "key", "uuid")

#: How the names of other columns end that may well be ids: record_id, ticketId, invoice no.
_ID_ENDING = re.compile(r"(?:(?:^|[_\W])(?i:id|key|uuid|guid|no|nr|number)|[a-z]I[dD])$")
#: A longer string, or one with spaces, is rather a title than an id.
_LONGEST_ID = 64

#: How many columns an error lists.
_MOST_LISTED = 50

#: Several texts of a row are joined by this.
JOINT = "\n"


@dataclass(frozen=True)
class Choice:
    """The columns that were chosen; without an id column the row number is the id."""

    texts: tuple[str, ...]
    id: str | None
    #: What nobody named: `text`, `id`.
    guessed: tuple[str, ...] = ()
    #: The column of lists, where documents are sets of items and there is no text.
    items: str | None = None
    #: The column of vectors, where documents are these and there is no text, and their shape.
    vector: str | None = None
    shape: vectors.Shape | None = None
    #: What makes vectors of texts, where documents are texts and are compared as vectors.
    embedding: Embedding | None = None

    @property
    def contents(self) -> tuple[str, ...]:
        """The columns that hold what is compared."""
        other = self.items or self.vector
        return self.texts if other is None else (other,)

    def embedded(self, embedding: Embedding) -> "Choice":
        """The same texts, to be compared as vectors."""
        return replace(self, embedding=embedding, shape=embedding.shape)


def choose_columns(
    schema: pa.Schema,
    name: str,
    id_column: str | None,
    text: str | Sequence[str] | None,
    *,
    items: str | None = None,
    vector: str | None = None,
    guess_id: bool = True,
) -> Choice:
    """The columns that were named, or that can be guessed safely."""
    if items is not None or vector is not None:
        _check_one(text=text, items=items, vector=vector)
        return _without_text(schema, name, id_column, items, vector, guess_id=guess_id)
    texts = _named_texts(schema, text)
    for column in (id_column, *texts):
        if column is not None:
            check_column(schema, column, name)
    guessed = []
    if id_column is None and guess_id:
        id_column = _guess_id(schema, texts)
        guessed += ["id"] if id_column else []
    if not texts:
        texts = (_guess_text(schema, id_column, name),)
        guessed += ["text"]
    for column in texts:
        kind = schema.field(schema.names.index(column)).type
        if not (_is_text(kind) or pa.types.is_null(kind)):
            raise SourceError(
                f"column {column!r} of {name} holds {kind}, and strings are needed. "
                "Name another column, or cast this one in an SQL query."
            )
    return Choice(texts=texts, id=id_column, guessed=tuple(sorted(guessed)))


def _check_one(**named: str | Sequence[str] | None) -> None:
    """Refuse documents of two kinds."""
    given = {option: column for option, column in named.items() if column is not None}
    if len(given) > 1:
        told = " and ".join(f"{option} is {column!r}" for option, column in given.items())
        raise SourceError(
            f"{told}; documents are texts, sets of items or vectors. Name one of them."
        )


def _without_text(
    schema: pa.Schema,
    name: str,
    id_column: str | None,
    items: str | None,
    vector: str | None,
    *,
    guess_id: bool,
) -> Choice:
    """Sets or vectors as they are: a column of lists."""
    content = str(items or vector)
    for column in (id_column, content):
        if column is not None:
            check_column(schema, column, name)
    kind = schema.field(content).type
    shape = None if vector is None else vectors.shape_of(kind, vector, name)
    if items is not None:
        _check_lists(kind, items, name)
    found = id_column if id_column or not guess_id else _guess_id(schema, (content,))
    guessed = ("id",) if found is not None and id_column is None else ()
    return Choice(texts=(), id=found, guessed=guessed, items=items, vector=vector, shape=shape)


def _check_lists(kind: pa.DataType, items: str, name: str) -> None:
    if not is_list(kind):
        raise SourceError(
            f"column {items!r} of {name} holds {kind}, and lists are needed. Name a column of "
            "lists; of a table with one item per row, name the columns by and item instead."
        )
    check_items(kind.value_type, items, name)


def _named_texts(schema: pa.Schema, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Each column once; `title,abstract` is two of them, unless a column is called so."""
    names: list[str] = []
    for one in [given] if isinstance(given, str) else given or ():
        is_several = "," in one and one not in schema.names
        names += [piece.strip() for piece in one.split(",")] if is_several else [one]
    return tuple(dict.fromkeys(names))


def content_of(batch: pa.RecordBatch, choice: Choice) -> pa.Array:
    """What is compared of each row: its text, the hashes of its items, or its numbers."""
    if choice.items is not None:
        return contents_of(batch.column(choice.items))
    if choice.embedding is not None:
        return choice.embedding.contents(text_of(batch, choice))
    if choice.shape is not None:
        return vectors.contents_of(batch.column(choice.vector), choice.shape)
    return text_of(batch, choice)


def text_of(batch: pa.RecordBatch, choice: Choice) -> pa.Array:
    """The text of each row: one column, or the values that are there of several, joined."""
    columns = [cast(batch.column(name), pa.large_string()) for name in choice.texts]
    if len(columns) == 1:
        return columns[0]
    import pyarrow.compute as pc  # slow to import, and seldom needed

    joint = pa.scalar(JOINT, pa.large_string())
    joined = columns[0]
    for column in columns[1:]:
        # Arrow's own way to leave out nulls loses rows in which every value is null.
        both = pc.binary_join_element_wise(joined, column, joint, null_handling="emit_null")
        joined = pc.coalesce(both, joined, column)
    return joined


def facts_of(choice: Choice) -> dict[str, Any]:
    """The columns as plain values: which they are, and which of them nobody named."""
    content: dict[str, Any] = {"text": list(choice.texts)}
    if choice.items is not None:
        content = {"items": choice.items}
    if choice.embedding is not None:
        content |= {"embed": choice.embedding.name, "numbers": choice.embedding.length}
    elif choice.shape is not None:
        content = {"vector": choice.vector, "numbers": choice.shape.length}
    return {**content, "id": choice.id, "guessed": list(choice.guessed)}


def likely_id(schema: pa.Schema, choice: Choice) -> str | None:
    """A column that may be the id, to be named in a hint: by its name, or because it is first."""
    if choice.id is not None or not schema.names:
        return None
    kinds = {f.name: f.type for f in schema if f.name not in choice.contents}
    usable = [n for n, kind in kinds.items() if _is_text(kind) or pa.types.is_integer(kind)]
    called = [name for name in usable if _ID_ENDING.search(name)]
    return next(iter(called), schema.names[0] if schema.names[0] in usable else None)


def looks_unique(values: Sequence[Any]) -> bool:
    """Whether some values of a column could be ids."""
    if len(values) < 2 or len(set(values)) < len(values) or None in values:
        return False
    return all(len(str(v)) <= _LONGEST_ID and not re.search(r"\s", str(v)) for v in values)


def check_column(schema: pa.Schema, column: str, name: str) -> None:
    """Refuse a column that is not there, or that is there twice."""
    times = schema.names.count(column)
    if times > 1:
        raise SourceError(
            f"{times} columns of {name} are called {column!r}. Give them different names."
        )
    if times == 0:
        import difflib

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
    if not _can_be_id(kind):
        raise SourceError(
            f"column {column!r} of {name} holds {kind}, and an id is a number or a string. "
            "Name another column, or none: then the row number is the id. "
            f'Bytes become strings in a query, as in: SELECT hex("{column}") AS id, …'
        )
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return pa.int64()
    return pa.string()


def _can_be_id(kind: pa.DataType) -> bool:
    """Bytes are none: few of them could be shown as text."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_bytes = any(
        check(values)
        for check in (
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
            pa.types.is_binary_view,
        )
    )
    return not (is_bytes or pa.types.is_nested(values) or pa.types.is_interval(values))


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
    if (column.type, kind) == (pa.string(), pa.large_string()) and column.null_count == 0:
        return widened(column)
    return column.cast(kind)  # which imports `pyarrow.compute`


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


def _guess_id(schema: pa.Schema, texts: Sequence[str]) -> str | None:
    found = [
        name
        for name in _called(schema, ID_NAMES, leaving_out=texts)
        if _can_be_id(schema.field(schema.names.index(name)).type)
    ]
    return found[0] if len(found) == 1 else None


def _guess_text(schema: pa.Schema, id_column: str | None, name: str) -> str:
    called = _called(schema, TEXT_NAMES, leaving_out=[id_column or ""])
    strings = [f.name for f in schema if _is_text(f.type) and f.name != id_column]
    for found in (called, strings):
        if len(found) == 1:
            return found[0]
    raise MissingError(
        f"it is not clear which column of {name} is the text. Name it, as in --text COLUMN. "
        f"There are: {_listed(schema.names)}."
    )


def _called(schema: pa.Schema, known: Sequence[str], *, leaving_out: Sequence[str]) -> list[str]:
    """The columns with one of the known names, whatever their case."""
    return [n for n in schema.names if n.lower() in known and n not in leaving_out]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_LISTED]) or "no columns at all"
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown
