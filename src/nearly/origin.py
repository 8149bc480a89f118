"""Where the documents of a result are, and how they are read again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arguments import Reading
from nearly.arrays import numbers_of
from nearly.documents.place import has_places, keys, located
from nearly.results import Origin
from nearly.sources import Skipped, Source
from nearly.sources.kept import Kept, KeptPart

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
        items=reading.items,
        vector=reading.vector,
        by=reading.by,
        item=reading.item,
        glob=reading.glob,
        lines=reading.lines,
        encoding=reading.encoding,
        # Files are known by a look at them; a query would have to run once more.
        stamp=source.stamp() if isinstance(source, Source) and source.size else None,
        names=source.part_names() if isinstance(source, Source) else None,
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


def rows_reader(source: Source, removed: pa.Table) -> Callable[[], Iterator[pa.RecordBatch]]:
    """Every row of the source but those of the removed documents."""
    return _KeptByName(source, removed)


class _KeptByName:
    """The clean copy of a source that is read again when it is asked for."""

    def __init__(self, source: Source, removed: pa.Table) -> None:
        self.schema = source.schema
        self._source = source
        self._by_place = has_places(removed)
        self._removed = keys(removed, "id").combine_chunks()

    def __call__(self) -> Iterator[pa.RecordBatch]:
        return self._kept()

    def parts(self) -> list[KeptPart]:
        """File by file, as they stand."""
        return self._kept.parts()

    @cached_property
    def _kept(self) -> Kept:
        import pyarrow.compute as pc  # slow to import, and rarely needed

        rows = [np.empty(0, np.int64)]
        for batch in _documents(self._source):
            here = numbers_of(batch.column("row"))
            is_removed = pc.is_in(self._names(batch, here), self._removed)
            rows.append(here[is_removed.to_numpy(zero_copy_only=False)])
        return self._source.kept(np.concatenate(rows))

    def _names(self, batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> pa.Array:
        if not self._by_place:
            return batch.column("id")
        return located(self._source.stretches(), rows).keys()


def _documents(source: Source) -> Iterator[pa.RecordBatch]:
    return source.documents(Skipped())
