"""Changes stored in an index as one commit, and what came of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.index.answer import Added, Id
from nearly.index.index import Index
from nearly.service.change import Change
from nearly.service.message import Refused, Removed, Seen, Stored

__all__ = ["stored"]


def stored(index: Index, together: Sequence[Change]) -> list[Stored | Removed]:
    """One commit of changes of one kind, none of which is about a document of another."""
    ids = [each for change in together for each in change.ids]
    if together[0].kind == "remove":
        there = [sum(each in index for each in set(c.ids)) for c in together]
        index.remove(ids)
        return [Removed(count) for count in there]
    is_replacing = together[0].kind == "replace"
    replaced = [sum(each in index for each in set(c.ids)) if is_replacing else 0 for c in together]
    contents = [each for change in together for each in change.contents]
    table = pa.table({"id": _ids(ids), index.holds: pa.array(contents, _content_type(index))})
    reading: dict[str, Any] = {"id": "id", index.holds: index.holds}
    added = index.add(table, replace=is_replacing, **reading)
    return _shared_out(together, added, replaced)


def _content_type(index: Index) -> pa.DataType:
    shape = index.shape
    if shape is not None:
        return pa.list_(pa.from_numpy_dtype(np.dtype(shape.number)))
    return pa.list_(pa.string()) if index.holds == "items" else pa.large_string()


def _ids(ids: Sequence[Id]) -> pa.Array:
    if all(isinstance(each, int) for each in ids):
        return pa.array(ids, pa.int64())
    return pa.array([str(each) for each in ids])


def _shared_out(
    together: Sequence[Change], added: Added, replaced: Sequence[int]
) -> list[Stored | Removed]:
    """To each change what came of its own documents."""
    counts = zip(together, replaced, strict=True)
    answers = [Stored(len(change.ids), count, [], []) for change, count in counts]
    home = {
        name: answer
        for change, answer in zip(together, answers, strict=True)
        for name in change.names
    }
    columns = [added.seen.column(i).to_pylist() for i in range(3)]
    for row in zip(*columns, strict=True):
        home[str(row[0])].seen.append(Seen(*row))
    skipped = [column.to_pylist() for column in added.skipped.columns]
    for record, reason in zip(*skipped, strict=True):
        home[record].skipped.append(Refused(record, reason))
        home[record].added -= 1
    return list(answers)
