"""Python objects: lists, dicts, and everything that speaks Arrow, such as data frames."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearly.arrays import string_array
from nearly.errors import SourceError
from nearly.frozen import dataclass
from nearly.sources import part
from nearly.sources.formats.arrow import TablePart, spool
from nearly.sources.formats.encoding import without_surrogates
from nearly.sources.part import Part, Reject

__all__ = ["PandasPart", "StringsPart", "Texts", "VectorsPart", "part_of_object", "texts"]

#: Objects of these packages hold their data in memory: asked twice, they answer the same.
_IN_MEMORY = ("pandas", "polars", "pyarrow")

#: Bytes up to which a sparse matrix is filled with its zeros.
MOST_DENSE = 2**32

#: What may hold the items of a document.
_SETS = (set, frozenset, list, tuple)


@dataclass(frozen=True)
class Texts:
    """Strings that are texts, whatever files are called like them."""

    given: Sequence[str | None]


def texts(given: Iterable[str | None]) -> Texts:
    """Strings that are the documents themselves, even where each is also the name of a file."""
    if isinstance(given, str | bytes):
        raise SourceError(
            f"one {type(given).__name__} was given to texts(). Give a list of strings: texts([…])."
        )
    return Texts(list(given))


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


class ItemsPart(TablePart):
    """Python sets or lists of items, with or without ids."""

    items = "items"

    def __init__(self, sets: Sequence[Any], ids: pa.Array | None, name: str) -> None:
        for i, one in enumerate(sets):
            if not isinstance(one, (*_SETS, type(None))):
                raise SourceError(
                    f"element {i} of {name} is a {type(one).__name__}, and others are sets of "
                    "items. Give sets or lists throughout."
                )
        try:
            lists = pa.array([None if one is None else list(one) for one in sets])
        except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
            raise SourceError(
                f"the items of {name} are not of one type: {error}. Give numbers only, or "
                "strings only."
            ) from error
        if pa.types.is_null(lists.type):
            lists = lists.cast(pa.list_(pa.null()))
        columns = {self.items: lists} if ids is None else {"id": ids, self.items: lists}
        super().__init__(pa.table(columns), name)


class VectorsPart(TablePart):
    """A matrix of numpy or scipy, each row of which is a vector; or fingerprints of 64 bits."""

    vector = "vector"

    def __init__(self, matrix: Any, name: str) -> None:
        if matrix.ndim == 1 and matrix.dtype in ("uint64", "int64"):
            super().__init__(pa.table({self.vector: matrix}), name)
            return
        if matrix.ndim != 2:
            raise SourceError(
                f"{name} has {matrix.ndim} dimension{'s' * (matrix.ndim != 1)}, and a vector is a "
                "row of a matrix: give one with 2, as in array.reshape(-1, 256). Fingerprints are "
                "whole numbers of 64 bits."
            )
        if matrix.shape[1] == 0 or matrix.dtype.kind == "c":
            given = "rows of no numbers" if matrix.shape[1] == 0 else "complex numbers"
            raise SourceError(
                f"{name} has {given}, and a vector is a row of one number or more, whole or "
                "decimal. Give a matrix with such columns."
            )
        if hasattr(matrix, "toarray"):
            matrix = _dense(matrix, name)
        values = pa.array(matrix.reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(values, matrix.shape[1])
        super().__init__(pa.table({self.vector: lists}), name)


def _dense(matrix: Any, name: str) -> Any:
    """A sparse matrix with its zeros, where there is room for them."""
    rows, columns = matrix.shape
    if rows * columns * matrix.dtype.itemsize > MOST_DENSE:
        raise SourceError(
            f"{name} has {rows:,} rows of {columns:,} numbers: with its zeros more than "
            f"{MOST_DENSE >> 30} GiB. Reduce its columns first, for example by a truncated SVD."
        )
    return matrix.toarray()


class PandasPart(TablePart):
    """A pandas frame; the label of a row in its index is the id."""

    def __init__(self, table: pa.Table, name: str, *, index: str | None) -> None:
        super().__init__(table, name)
        #: The column of the index; None where the labels are the row numbers.
        self.index = index


def part_of_object(given: Any, temporary: Path, *, named_id: bool = False) -> Part:
    """Whatever Python object was given, as something to read; an id column may be named."""
    if isinstance(given, Texts):
        return StringsPart(given.given, None, "the list")
    if isinstance(given, Mapping):
        return _part_of_mapping(given)
    if (made := _part_of_lists(given)) is not None:
        return made
    if type(given).__module__.startswith("polars") and hasattr(given, "collect"):
        given = given.collect()
    try:
        if type(given).__module__.startswith("pandas"):
            return _part_of_pandas(given, named_id=named_id)
        if hasattr(given, "__arrow_c_stream__"):
            return _part_of_stream(given, temporary)
        if hasattr(given, "__arrow_c_array__"):
            return _part_of_array(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise SourceError(
            f"the {type(given).__name__} cannot be turned into Arrow. {error}. "
            "Give each column a name of its own, and values of one type."
        ) from error
    if isinstance(given, Sequence) and not isinstance(given, bytes | bytearray):
        _refuse_names_of_files(given)
        return StringsPart(given, None, f"the {type(given).__name__}")
    raise SourceError(
        f"a {type(given).__name__} was given. Give a path, a query, a list of strings "
        "or of sets, a dict of id and text, or a pandas, polars or Arrow table."
    )


def _part_of_lists(given: Any) -> Part | None:
    """Vectors or sets, where these were given."""
    name = f"the {type(given).__name__}"
    if type(given).__module__.startswith(("numpy", "scipy.sparse")) and hasattr(given, "ndim"):
        return VectorsPart(given, name)
    is_sets = isinstance(given, Sequence) and _are_sets(given)
    return ItemsPart(given, None, name) if is_sets else None


def _refuse_names_of_files(given: Sequence[Any]) -> None:
    """Whoever gives the names of files means the files, or has to say so."""
    if given and all(isinstance(name, str) and os.path.isfile(name) for name in given):
        raise SourceError(
            f"every string of the {type(given).__name__} is the name of a file, such as "
            f"{given[0]!r}. To read the files, give paths: [Path(name) for name in names]. "
            "To compare the names themselves, give nearly.texts(names)."
        )


def _part_of_pandas(given: Any, *, named_id: bool) -> Part:
    """The index comes along as a column, except where its labels are the row numbers."""
    kind = type(given).__name__
    name = f"the {kind}"
    if kind == "Series":
        given = given.to_frame("text")
    if not hasattr(given, "columns"):  # an index or an array of pandas
        return TablePart(pa.table({"text": pa.array(given)}), name)
    repeated = given.columns[given.columns.duplicated()]
    if len(repeated):
        raise SourceError(
            f"several columns of {name} are called {repeated[0]!r}. Give them different names."
        )
    if len(given) == 0:  # pandas takes an empty column for one of numbers
        given = given.astype(object)
    levels = given.index.names
    if named_id:  # an index that has a name is a column like others
        keep = any(level is not None for level in levels)
        return TablePart(pa.Table.from_pandas(given, preserve_index=keep), name)
    if len(levels) > 1:
        raise SourceError(
            f"the index of {name} has {len(levels)} levels, and an id is one number or string. "
            "Name the column of the ids, as in id='name', or give frame.reset_index()."
        )
    is_count = levels[0] is None and getattr(given.index, "start", None) == 0
    is_count = is_count and given.index.step == 1
    table = pa.Table.from_pandas(given, preserve_index=not is_count)
    return PandasPart(table, name, index=None if is_count else table.column_names[-1])


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
    values = list(given.values())
    if _are_sets(values):
        return ItemsPart(values, ids, "the dict")
    return StringsPart(values, ids, "the dict")


def _are_sets(given: Sequence[Any]) -> bool:
    """Whether documents are sets or lists of items, by the first of them."""
    first = next((one for one in given if one is not None), None)
    return isinstance(first, _SETS)


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
    return TablePart(table, name)


def _part_of_array(given: Any) -> Part:
    name = f"the {type(given).__name__}"
    array = pa.array(given)
    if pa.types.is_struct(array.type):
        return TablePart(pa.Table.from_batches([pa.RecordBatch.from_struct_array(array)]), name)
    return TablePart(pa.table({"text": array}), name)
