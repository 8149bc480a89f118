"""What was found against a labelled truth, wherever both are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fsdecode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearly.arrays import numbers_of
from nearly.documents.place import located
from nearly.errors import MissingError, SettingsError
from nearly.evaluation import agreement
from nearly.evaluation.agreement import Evaluation, Linkage
from nearly.evaluation.linkage import link, names_places
from nearly.remnant import scratch
from nearly.sources import Skipped, open_source, read_table

if TYPE_CHECKING:
    from nearly.results import Found

__all__ = ["evaluate"]


def evaluate(
    found: Found | pa.Table | str | PathLike[str],
    gold: pa.Table | str | PathLike[str],
    *,
    documents: Any = None,
    id: str | None = None,  # noqa: A002 - the name that users know
    text: str | None = None,
    thresholds: Sequence[float] = (),
) -> Evaluation:
    """Measure how well pairs or clusters agree with a labelled truth.

    Arguments:
        found: What `find` returned; or an Arrow table, a table file or a SQL query with the columns
            id_a, id_b and perhaps similarity, or id and cluster. Where ids repeat and both tables
            have file_a, row_a, file_b and row_b, or file and row, these tell documents apart.
        gold: The truth: such a table.
        documents: The source in which pairs were found. Without it, the documents are those that
            occur in either table.
        id: The column of this source that names a document.
        text: The column of this source that holds the text.
        thresholds: Measure the same pairs also when they are cut at these thresholds.
    """
    if documents is None and (id or text):
        raise SettingsError("id and text are about documents, and none are given. Give them too.")
    with scratch() as place:
        ours, theirs = _table(found, place), _table(gold, place)
        by_place = names_places(ours, theirs)
        ids = None if documents is None else _names_of(documents, id, text, place, by_place)
        linked = link(ours, theirs, ids)
    if thresholds and linked.found.similarity is None:
        raise MissingError(
            "thresholds cut pairs by their similarity, and what was found has no column "
            "'similarity'. Give the pairs that find wrote."
        )
    measured = agreement.evaluate(linked.found, linked.gold)
    return replace(
        measured,
        cuts=agreement.sweep(linked.found, linked.gold, thresholds),
        unknown=linked.unknown,
        least=_least(linked.found),
    )


def _least(found: Linkage) -> float | None:
    """The lowest similarity of a pair that was found."""
    if found.similarity is None:
        return None
    return float(found.similarities[found.weights > 0].min(initial=1))


def _table(given: Any, folder: Path) -> pa.Table:
    if isinstance(given, str | PathLike):
        return read_table(fsdecode(given), temporary=folder)
    return given if isinstance(given, pa.Table) else given.to_arrow()


def _names_of(
    given: Any, id_: str | None, text: str | None, folder: Path, by_place: bool
) -> pa.ChunkedArray:
    """The ids of a source, as `find` names them; or the keys of their places."""
    source = open_source(given, id=id_, text=text, temporary=folder)
    batches = source.documents(Skipped())
    if not by_place:
        return pa.chunked_array([batch["id"] for batch in batches], source.id_type)
    places = (located(source.stretches(), numbers_of(batch["row"])) for batch in batches)
    return pa.chunked_array([some.keys() for some in places], pa.string())
