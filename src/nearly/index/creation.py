"""A new index: in a folder of its own, and there whole or not at all."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from nearly.errors import MissingError, SinkError
from nearly.index.catalogue import Catalogue, State
from nearly.index.directory import DiskDirectory, sync_folder
from nearly.index.making import Making
from nearly.index.reading import reading_of
from nearly.index.store import open_store
from nearly.remnant import scratch
from nearly.sources import Skipped, Source

__all__ = ["check_new", "create", "first_extent", "make", "settle"]


def create(place: Path, making: Making, source: Source | None, skipped: Skipped) -> None:
    """Make the index beside its place, with the documents of a source, and rename it."""
    check_new(place)
    with scratch(place.parent) as folder:
        built = folder / "index"

        def build(settled: Making, met: Skipped) -> float:
            if built.exists():  # made with a wrong guess
                shutil.rmtree(built)
            return _add_all(built, settled, source, met)

        settle(making, first_extent(making, source), skipped, build)
        os.replace(built, place)
        sync_folder(place.parent)


def settle(
    making: Making, extent: float, skipped: Skipped, build: Callable[[Making, Skipped], float]
) -> Making:
    """Build an index, which says the mean extent of its documents, until that was guessed right.

    What all documents decide is guessed from an `extent` first; gives what was decided.
    """
    while True:
        guessed = making.settled(extent)
        met = skipped.another()
        extent = build(guessed, met)
        if guessed == making.settled(extent):
            skipped.merge(met)
            return guessed


def check_new(place: Path) -> None:
    """Refuse a folder that has something in it."""
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise SinkError(
            f"{os.fspath(place)!r} is there already; give a new folder. To an index that is there "
            "documents are added with nearly index add"
        )
    if not place.parent.is_dir():
        raise MissingError(f"there is no folder {os.fspath(place.parent)!r} to make an index in")


def first_extent(making: Making, source: Source | None) -> float:
    """The mean extent of the first documents."""
    for batch in () if source is None else source.documents(Skipped()):
        if batch.num_rows:
            extent = making.measure.extent(batch.column("text"))
            return extent / int(batch.num_rows)
    return 0.0


def _add_all(folder: Path, making: Making, source: Source | None, skipped: Skipped) -> float:
    """Gives the mean extent of a document."""
    make(folder, making)
    if source is None:
        return 0.0
    store = open_store(DiskDirectory(folder), read_only=False)
    try:
        addition = store.addition(skipped)
        addition.is_reporting = False
        reading = reading_of(making, State(), source, is_deciding=True)
        store.add(addition, reading, source)
    finally:
        store.close()
    return reading.extent / max(1, reading.documents)


def make(folder: Path, making: Making) -> None:
    """An index that holds nothing."""
    directory = DiskDirectory(folder)
    directory.make()
    catalogue = Catalogue(directory.catalogue, is_new=True)
    try:
        catalogue.create(making.facts())
    finally:
        catalogue.close()
