"""Documents read for passages: both sides, who belongs together, and what to ignore."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import numbers_of, string_array, take_strings
from nearly.documents.group import folder_of, is_folder
from nearly.documents.place import Places, Stretch, located
from nearly.documents.readable import Readable, Skips
from nearly.errors import SettingsError
from nearly.passage.hole import LeftOut
from nearly.passage.search import Corpus
from nearly.passage.table import Named
from nearly.passage.unit import Numbers

__all__ = [
    "Labelled",
    "Read",
    "all_groups",
    "check_column",
    "check_groups",
    "column_of_group",
    "corpus_of",
    "distinct",
    "grouped",
    "joined",
    "labelled",
    "named",
    "parts",
    "parts_of",
    "read",
    "some",
]


@dataclass(frozen=True, kw_only=True)
class Read:
    """One side: what its documents are called, say, and belong to."""

    ids: list[Any]
    rows: npt.NDArray[np.int64]
    texts: pa.LargeStringArray
    groups: list[Any] | None  # None where every document is one of its own
    id_type: pa.DataType


def read(source: Readable, skipped: Skips, group: str | None) -> Read:
    """All documents of a source."""
    return joined(list(parts(source, skipped, group)), source.id_type)


def check_groups(groups: Sequence[Any] | None, group: str | None) -> None:
    """Refuse documents that all belong together: none of them would be compared."""
    if groups is None or len(groups) < 2:
        return
    if is_folder(group) and all(map(_is_missing, groups)):
        raise SettingsError(
            f"none of the {len(groups):,} documents lies in a folder; one folder for each "
            "student is expected: leave group out, or give the folder above"
        )
    if len(set(groups)) == 1:
        folders = "; one folder for each student is expected" if is_folder(group) else ""
        raise SettingsError(
            f"all {len(groups):,} documents have the same {group}, {groups[0]!r}, so "
            f"that none is compared{folders}; leave group out, or name another column"
        )


def parts(source: Readable, skipped: Skips, group: str | None) -> Iterator[Read]:
    """The documents of a source, some at a time."""
    column = check_column(source, group)
    return parts_of(source.documents(skipped, also=column), group, source.id_type)


def check_column(source: Readable, group: str | None) -> str | None:
    """The column that says what documents belong to, if any does; it has to be there."""
    column = column_of_group(group)
    if column is not None and column not in source.schema.names:
        raise SettingsError(
            f"group is {column!r}, and {source.name} has no such column; name one of "
            f"{', '.join(source.schema.names)}, or folder for files"
        )
    return column


def column_of_group(group: str | None) -> str | None:
    """The column that a group is, if it is one."""
    return None if is_folder(group) else group


def parts_of(
    batches: Iterable[pa.RecordBatch], group: str | None, id_type: pa.DataType
) -> Iterator[Read]:
    """The documents of some batches."""
    first = 0
    for batch in batches:
        ids = batch.column("id").to_pylist()
        yield Read(
            ids=ids,
            rows=numbers_of(batch.column("row")).astype(np.int64),
            texts=batch.column("text"),
            groups=_groups(batch, ids, group, first),
            id_type=id_type,
        )
        first += len(ids)


def some(all_parts: Iterable[Read], numbers: npt.NDArray[np.int64], id_type: pa.DataType) -> Read:
    """Documents by their numbers, which ascend; `id_type` is for none of them."""
    found, first = [], 0
    for part in all_parts:
        low, high = np.searchsorted(numbers, [first, first + len(part.ids)])
        places = (numbers[low:high] - first).astype(np.uint32)
        if len(places):
            ids = [part.ids[i] for i in places.tolist()]
            groups = part.groups and [part.groups[i] for i in places.tolist()]
            texts = take_strings(part.texts, places)
            rows = part.rows[places]
            id_type = part.id_type
            found.append(Read(ids=ids, rows=rows, texts=texts, groups=groups, id_type=id_type))
        first += len(part.ids)
    return joined(found, id_type)


def joined(all_parts: Sequence[Read], id_type: pa.DataType) -> Read:
    """All documents of some parts."""
    texts = [part.texts for part in all_parts]
    return Read(
        ids=[name for part in all_parts for name in part.ids],
        rows=np.concatenate([np.empty(0, np.int64), *(part.rows for part in all_parts)]),
        texts=pa.concat_arrays(texts) if texts else string_array([]),
        groups=all_groups([part.groups for part in all_parts]),
        id_type=id_type,
    )


def all_groups(parts: Sequence[list[Any] | None]) -> list[Any] | None:
    """The groups of all parts."""
    if any(groups is None for groups in parts):
        return None
    return [group for groups in parts for group in groups or ()]


def _groups(
    batch: pa.RecordBatch, names: list[Any], group: str | None, first: int
) -> list[Any] | None:
    if group is None:
        return None
    if is_folder(group):
        values = [folder_of(name, group) for name in names]
    else:
        values = batch.column(batch.schema.names[-1]).to_pylist()
    return list(_alone_if_missing(values, first))


def _is_missing(group: Any) -> bool:
    return isinstance(group, tuple)


def _alone_if_missing(values: list[Any], first: int) -> Iterator[Any]:
    for number, value in enumerate(values, first):
        yield ("missing", number) if value is None else value


def corpus_of(
    source: Read,
    against: Read | None,
    left_out: LeftOut,
    numbers: npt.NDArray[np.int64] | None = None,
) -> Corpus:
    """Both sides as one corpus; of the other side, `numbers` tells those among all documents."""
    texts = source.texts if against is None else pa.concat_arrays([source.texts, against.texts])
    both = [source] if against is None else [source, against]
    sizes = [len(side.ids) for side in both]
    groups = grouped([side.groups for side in both], sum(sizes))
    sides = np.repeat(np.arange(len(both), dtype=np.uint32), sizes)
    first = np.arange(len(source.ids) if numbers is not None else len(groups))
    return Corpus(
        texts=texts,
        groups=groups,
        sides=sides,
        one_sided=against is not None,
        left_out=left_out,
        numbers=first if numbers is None else np.concatenate([first, numbers]),
    )


def distinct(parts: Sequence[list[Any] | None]) -> list[Any] | None:
    """The groups of all parts, where what is missing in one is not what is missing in another."""
    return all_groups(
        [
            groups and [(part, key) if _is_missing(key) else key for key in groups]
            for part, groups in enumerate(parts)
        ]
    )


def grouped(parts: Sequence[list[Any] | None], count: int) -> Numbers:
    """A number for the group of each document; without groups, each is one of its own."""
    keys = distinct(parts)
    if keys is None or len(keys) < count:
        return np.arange(count, dtype=np.uint32)
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.uint32)


class Labelled(NamedTuple):
    """What the documents of one side are called, and where they stand."""

    ids: list[Any]
    id_type: pa.DataType
    places: Callable[[], Places]
    told: npt.NDArray[np.int64] | None = None  # those that a result tells of; all by default

    @property
    def ids_repeat(self) -> bool:
        """Whether an id stands for several documents that are told of."""
        told = self.ids if self.told is None else [self.ids[i] for i in self.told.tolist()]
        return len(set(told)) < len(told)


def labelled(
    side: Read, stretches: Sequence[Stretch], told: npt.NDArray[np.int64] | None = None
) -> Labelled:
    """Those of a side that was read."""
    rows = side.rows  # not the side itself, which has the texts
    return Labelled(side.ids, side.id_type, lambda: located(stretches, rows), told)


def named(sides: Sequence[Labelled]) -> Named:
    """What the documents of one side or both are called; with places, if ids repeat in a side."""
    types = {side.id_type for side in sides}
    id_type = types.pop() if len(types) == 1 else pa.string()
    ids = pa.concat_arrays([_as_ids(side.ids, id_type) for side in sides])
    if not any(side.ids_repeat for side in sides):
        return Named(ids=ids, places=None)
    found = [side.places() for side in sides if side.ids]
    columns = (pa.concat_arrays(list(column)) for column in zip(*found, strict=True))
    return Named(ids=ids, places=Places(*columns))


def _as_ids(ids: list[Any], id_type: pa.DataType) -> pa.Array:
    return pa.array(ids if id_type != pa.string() else list(map(str, ids)), id_type)
