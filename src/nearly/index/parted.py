"""A new index of documents that lie in parts: many machines write segments, one commits them all.

Parts find out which of their documents others hold (`parted_copy`), and write the rest as segments
(`parted_segment`), by the functions that one machine uses. Then one transaction names them all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from nearly.engines.base import Parts
from nearly.errors import SettingsError
from nearly.index.catalogue import Catalogue, Commit, State
from nearly.index.creation import check_new, make
from nearly.index.directory import DiskDirectory, sync_folder
from nearly.index.making import Making
from nearly.index.parted_copy import weighed_parts
from nearly.index.parted_plan import Plan
from nearly.index.parted_segment import merged_parts, not_shared, written_parts
from nearly.index.reading import reading_of
from nearly.index.segment_file import Written
from nearly.index.store import open_store
from nearly.remnant import scratch
from nearly.run import Lying
from nearly.sources import Skipped

__all__ = ["create_in_parts", "create_on_machines"]


def create_on_machines(
    path: str | os.PathLike[str],
    lying: Lying,
    options: Mapping[str, Any],
    skipped: Skipped,
    *,
    texts: bool,
) -> None:
    """Make an index of a source that lies on many machines; see `Index.create`."""
    place = _shared_folder(path)
    with lying as ((opened,), parts_with):
        making = Making.of(options, opened, texts=texts)
        create_in_parts(place, making, opened, parts_with(None), skipped)


def _shared_folder(path: str | os.PathLike[str]) -> Path:
    """Where segments can be written by many: found out before a session is opened."""
    if "://" in os.fspath(path):
        raise SettingsError(
            "many machines write the segments of an index in a folder; name a folder that all of "
            "them share, or leave engine and master out"
        )
    place = Path(path).absolute()
    check_new(place)
    return place


def create_in_parts(
    place: Path, making: Making, source: Any, parts: Parts, skipped: Skipped
) -> None:
    """Make the index beside its place, in a folder that all machines see, and rename it."""
    with scratch(place.parent) as folder, _out_of_reach(folder):
        path = folder / "index"
        plan = Plan(
            making=making,
            id_kind=reading_of(making, State(), source).id_kind,
            numbers_rows=source.numbers_rows,
            skipped=skipped.another(),
            path=os.fspath(path),
            firsts=np.empty(0, np.int64),
        )
        plan, weighed, told = weighed_parts(parts, plan, skipped)
        make(path, plan.making)
        wrote = written_parts(parts, plan, weighed, with_ids=not source.ids_are_unique)
        for each in wrote:
            skipped.merge(each.skipped)
        segments = merged_parts(
            parts, plan, [written for each in wrote for written in each.segments]
        )
        documents = sum(each.documents for each in told)
        numbers = {
            "next_number": documents,
            "next_row": max((each.next_row for each in told), default=0),
            "next_key": len(segments) + 1,
            "id_kind": plan.id_kind if documents else None,
        }
        _commit(place, DiskDirectory(path), segments, numbers)
        os.replace(path, place)
        sync_folder(place.parent)


@contextmanager
def _out_of_reach(folder: Path) -> Iterator[None]:
    """What fails is renamed before it is removed: a step that still runs finds no folder to fill"""
    try:
        yield
    except BaseException:
        if (folder / "index").exists():
            os.replace(folder / "index", folder / "stopped")
        raise


def _commit(
    place: Path, directory: DiskDirectory, segments: Sequence[Written], numbers: dict[str, Any]
) -> None:
    """One transaction names them all; what a step left that ran twice is removed."""
    if not {written.name for written in segments} <= set(directory.names()):
        raise not_shared(place.parent)
    directory.sync()
    catalogue = Catalogue(directory.catalogue)
    try:
        named = dict(enumerate(segments, 1))
        catalogue.commit(catalogue.load(), Commit(new_segments=named, numbers=numbers))
    finally:
        catalogue.close()
    open_store(directory, read_only=False).close()
