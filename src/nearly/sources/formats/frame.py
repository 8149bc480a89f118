"""Python objects: lists, dicts, and everything that speaks Arrow, such as data frames."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import SourceError
from nearly.sources import part
from nearly.sources.formats.arrow import TablePart, spool
from nearly.sources.formats.encoding import without_surrogates
from nearly.sources.part import Part, Reject

__all__ = ["StringsPart", "part_of_object"]

#: Objects of these packages hold their data in memory: asked twice, they answer the same.
_IN_MEMORY = ("pandas", "polars", "pyarrow")

#: The column that pandas makes of an index that has no name.
_NAMELESS_INDEX = "__index_level_0__"


class StringsPart(Part):
    """Python strings, with or without ids, turned into Arrow a batch at a time."""

    in_memory = True

    def __init__(self, texts: Sequence[str | None], ids: pa.Array | None, name: str) -> None:
        self.name = name
        text = pa.field("text", pa.large_string())
        self.schema = pa.schema([text] if ids is None else [("id", ids.type), text])
        self._texts = texts
        self._ids = ids

    def batches(
        self,
        columns: Sequence[str] | None,  # noqa: ARG002
        reject: Reject,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self._texts), part.BATCH_ROWS):
            texts = self._array(start, self._texts[start : start + part.BATCH_ROWS])
            ids = [] if self._ids is None else [self._ids.slice(start, len(texts))]
            yield pa.RecordBatch.from_arrays([*ids, texts], schema=self.schema)

    def why_null(self, row: int) -> str:
        return super().why_null(row) if self._texts[row] is None else "holds a lone surrogate"

    def _array(self, start: int, texts: Sequence[str | None]) -> pa.Array:
        try:
            return string_array(texts)
        except UnicodeEncodeError:
            return string_array([t if without_surrogates(t or "") else None for t in texts])
        except AttributeError:
            i, text = next((i, t) for i, t in enumerate(texts) if not isinstance(t, str | None))
            raise SourceError(
                f"element {start + i} of {self.name} is a {type(text).__name__}. "
                "Documents are strings: convert them first."
            ) from None


def part_of_object(given: Any, temporary: Path) -> Part:
    """Whatever Python object was given, as something to read."""
    if isinstance(given, Mapping):
        return _part_of_mapping(given)
    if type(given).__module__.startswith("polars") and hasattr(given, "collect"):
        given = given.collect()
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return _part_of_stream(given, temporary)
        if hasattr(given, "__arrow_c_array__"):
            return _part_of_array(given)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise SourceError(
            f"the {type(given).__name__} cannot be turned into Arrow. {error}. "
            "Give each column values of one type."
        ) from error
    if isinstance(given, Sequence) and not isinstance(given, bytes | bytearray):
        return StringsPart(given, None, f"the {type(given).__name__}")
    raise SourceError(
        f"a {type(given).__name__} was given. Give a path, a query, a list of strings, "
        "a dict of id and text, or a pandas, polars or Arrow table."
    )


def _part_of_mapping(given: Mapping[Any, Any]) -> Part:
    kinds = {type(key) for key in given}
    if not (kinds <= {str} or kinds == {int}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise SourceError(
            f"the keys of the dict are {names}. Ids are all strings or all whole numbers."
        )
    try:
        ids = pa.array(list(given), pa.int64() if kinds == {int} else pa.string())
    except (UnicodeEncodeError, OverflowError) as error:
        raise SourceError(f"a key of the dict cannot be an id: {error}") from error
    return StringsPart(list(given.values()), ids, "the dict")


def _part_of_stream(given: Any, temporary: Path) -> Part:
    kind = type(given)
    name = f"the {kind.__name__}"
    if isinstance(given, pa.RecordBatchReader) or not kind.__module__.startswith(_IN_MEMORY):
        with pa.RecordBatchReader.from_stream(given) as reader:
            return spool(reader, name, temporary)
    try:
        table = pa.table(given)
    except (pa.ArrowInvalid, TypeError, ValueError):
        if not kind.__name__.endswith(("Series", "Array")):
            raise
        table = pa.table({"text": pa.chunked_array(given)})
    if _NAMELESS_INDEX in table.column_names:
        table = table.drop_columns(_NAMELESS_INDEX).replace_schema_metadata()
    return TablePart(table, name)


def _part_of_array(given: Any) -> Part:
    name = f"the {type(given).__name__}"
    array = pa.array(given)
    if pa.types.is_struct(array.type):
        return TablePart(pa.Table.from_batches([pa.RecordBatch.from_struct_array(array)]), name)
    return TablePart(pa.table({"text": array}), name)
