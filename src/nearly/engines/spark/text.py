"""Texts that are shown: every block is asked for those that it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from nearly.documents.lookup import Placed
from nearly.documents.place import Place
from nearly.documents.readable import Skips
from nearly.engines.spark.partition import lookup
from nearly.engines.spark.shelf import Room

if TYPE_CHECKING:
    from pyspark import RDD

__all__ = ["BlockTexts"]


@dataclass(frozen=True)
class BlockTexts:
    """Texts of blocks, which are read where they are."""

    states: RDD[lookup.Known]
    skipped: Skips
    room: Room | None = None  # where these states lie, if not in Spark

    def by_id(self, ids: Iterable[Any]) -> dict[Any, list[Placed]]:
        """See `TextReader`."""
        found: dict[Any, list[Placed]] = {}
        step = partial(lookup.look_up_ids, self.skipped, set(ids))
        for name, placed in self.states.mapPartitions(step).collect():
            found.setdefault(name, []).append(placed)
        return found

    def by_place(self, places: Iterable[Place]) -> dict[Place, str]:
        """See `TextReader`."""
        step = partial(lookup.look_up_places, self.skipped, set(places))
        return dict(self.states.mapPartitions(step).collect())
