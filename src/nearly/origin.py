"""Where the documents of a result are, and how they are read again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearly.arguments import Reading
from nearly.arrays import numbers_of
from nearly.results import Origin
from nearly.sources import Skipped, Source
from nearly.stages.table import without_rows

__all__ = ["origin_of", "rows_reader"]

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_QUERY: Final = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)


def origin_of(given: Any, reading: Reading, source: Any) -> Origin | None:
    """What to write down of a source; nothing where only this process has it."""
    place = _place(given)
    if place is None:
        return None
    return Origin(
        given=place,
        id=reading.id,
        text=reading.text if isinstance(reading.text, str | None) else list(reading.text),
        glob=reading.glob,
        lines=reading.lines,
        encoding=reading.encoding,
        # Files are known by a look at them; a query would have to run once more.
        stamp=source.stamp() if isinstance(source, Source) and source.size else None,
    )


def _place(given: Any) -> str | list[str] | None:
    """By a name that does not depend on the folder in which a process runs, but for queries."""
    if isinstance(given, str | os.PathLike):
        name = os.fsdecode(given)
        is_query = _QUERY.match(name) and not os.path.lexists(name)
        if name == "-":
            return None
        return name if is_query or _SCHEME.match(name) else os.path.abspath(name)
    if isinstance(given, list | tuple) and given and isinstance(given[0], os.PathLike):
        return [os.path.abspath(path) for path in given]
    return None


def rows_reader(source: Source, removed: pa.Array) -> Callable[[], Iterator[pa.RecordBatch]]:
    """Every row of the source but those of the removed documents, which are given by id."""

    def read() -> Iterator[pa.RecordBatch]:
        rows: dict[Any, int] = {}
        for batch in _documents(source):
            chosen = batch.filter(pc.is_in(batch.column("id"), removed))
            places = zip(
                chosen.column("id").to_pylist(), numbers_of(chosen.column("row")), strict=True
            )
            for name, row in places:
                rows.setdefault(name, int(row))
        yield from without_rows(source.rows(), np.sort(np.array(list(rows.values()), np.int64)))

    return read


def _documents(source: Source) -> Iterator[pa.RecordBatch]:
    return source.documents(Skipped())
