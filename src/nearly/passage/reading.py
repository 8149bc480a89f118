"""Documents read for passages: both sides, who belongs together, and what to ignore."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.arrays import string_array
from nearly.documents.readable import Readable, Skips
from nearly.errors import SettingsError
from nearly.passage.search import Corpus

__all__ = ["FOLDER", "Read", "corpus_of", "read"]

#: The group of a file that is not a column.
FOLDER = "folder"
#: Why a document is skipped: passages are told by ids alone.
REPEATED = "the id came before: passages need ids that are unique"


@dataclass(frozen=True, kw_only=True)
class Read:
    """One side: what its documents are called, say, and belong to."""

    ids: list[Any]
    texts: pa.LargeStringArray
    groups: list[Any]
    id_type: pa.DataType


def read(source: Readable, skipped: Skips, group: str | None) -> Read:
    """All documents of a source; an id that came before is skipped."""
    column = None if group in (None, FOLDER) else group
    if column is not None and column not in source.schema.names:
        raise SettingsError(
            f"group is {column!r}, and {source.name} has no such column; name one of "
            f"{', '.join(source.schema.names)}, or folder for files"
        )
    ids: list[Any] = []
    groups: list[Any] = []
    texts: list[pa.Array] = []
    seen: set[Any] = set()
    for read_batch in source.documents(skipped, also=column):
        batch = _with_new_ids(read_batch, seen, skipped)
        names = batch.column("id").to_pylist()
        ids += names
        texts.append(batch.column("text"))
        groups += _groups(batch, names, group, len(ids) - len(names))
    joined = pa.concat_arrays(texts) if texts else string_array([])
    return Read(ids=ids, texts=joined, groups=groups, id_type=source.id_type)


def _with_new_ids(batch: pa.RecordBatch, seen: set[Any], skipped: Skips) -> pa.RecordBatch:
    is_new = []
    for name in batch.column("id").to_pylist():
        is_new.append(name not in seen)
        seen.add(name)
        if not is_new[-1]:
            skipped.add(str(name), REPEATED)
    return batch if all(is_new) else batch.filter(pa.array(is_new, pa.bool_()))


def _groups(batch: pa.RecordBatch, names: list[Any], group: str | None, first: int) -> list[Any]:
    if group is None:
        return list(range(first, first + len(names)))
    if group == FOLDER:
        return [posixpath.dirname(str(name)) for name in names]
    values = batch.column(batch.schema.names[-1]).to_pylist()
    return list(_alone_if_missing(values, first))


def _alone_if_missing(values: list[Any], first: int) -> Iterator[Any]:
    for number, value in enumerate(values, first):
        yield ("missing", number) if value is None else value


def corpus_of(source: Read, against: Read | None, ignored: pa.LargeStringArray) -> Corpus:
    """Both sides as one corpus; without a group, every document is one of its own."""
    sides = [0] * len(source.ids) + ([1] * len(against.ids) if against else [])
    named: dict[Any, int] = {}
    keys = [*source.groups]
    if against is not None:
        own = all(isinstance(key, int) for key in keys)  # numbers of documents, not names
        keys += [("against", key) for key in against.groups] if own else against.groups
    groups = [named.setdefault(key, len(named)) for key in keys]
    texts = source.texts if against is None else pa.concat_arrays([source.texts, against.texts])
    return Corpus(
        texts=texts,
        groups=np.array(groups, np.uint32),
        sides=np.array(sides, np.uint32),
        one_sided=against is not None,
        ignored=ignored,
    )
