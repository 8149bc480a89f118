"""From document numbers to the tables that a user sees, with ids in them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import schemas
from nearly.arrays import column_of
from nearly.documents.corpus import Labelled, Named
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Pairs
from nearly.stages.cluster import Clusters
from nearly.stages.survivor import Removed
from nearly.text.table import excerpt_columns

__all__ = ["best", "cluster_table", "pair_table", "place_columns", "read_shown", "removed_table"]


def pair_table(corpus: Labelled, pairs: Pairs, measure: Measure, id_type: pa.DataType) -> pa.Table:
    """See `schemas.PAIRS`."""
    columns = [
        corpus.ids(pairs.first),
        corpus.ids(pairs.second),
        column_of(measure.shown(pairs.nearness)),
        *place_columns(corpus, id_a=pairs.first, id_b=pairs.second).values(),
    ]
    return pa.table(columns, schema=_shaped(schemas.PAIRS, corpus, measure, id_type))


def cluster_table(
    corpus: Labelled, clusters: Clusters, near: Pairs, measure: Measure, id_type: pa.DataType
) -> pa.Table:
    """See `schemas.CLUSTERS`."""
    weakest = measure.shown(clusters.weakest(near, measure.same))[clusters.numbers]
    columns = [
        corpus.ids(clusters.members),
        column_of(clusters.numbers),
        column_of(weakest),
        *place_columns(corpus, id=clusters.members).values(),
    ]
    return pa.table(columns, schema=_shaped(schemas.CLUSTERS, corpus, measure, id_type))


def removed_table(
    corpus: Labelled, removed: Removed, measure: Measure, id_type: pa.DataType
) -> pa.Table:
    """See `schemas.REMOVED`."""
    columns = [
        corpus.ids(removed.documents),
        corpus.ids(removed.survivors),
        column_of(measure.shown(removed.nearness)),
        column_of(removed.clusters),
        *place_columns(corpus, id=removed.documents, survivor=removed.survivors).values(),
    ]
    return pa.table(columns, schema=_shaped(schemas.REMOVED, corpus, measure, id_type))


def place_columns(corpus: Labelled, **documents: Documents) -> dict[str, pa.Array]:
    """Where the documents of each column of ids stand; nothing where ids do not repeat."""
    if not corpus.ids_repeat:
        return {}
    columns: dict[str, pa.Array] = {}
    for ids, some in documents.items():
        columns |= zip(schemas.PLACES_OF[ids], corpus.places(some), strict=True)
    return columns


def _shaped(
    schema: pa.Schema, corpus: Labelled, measure: Measure, id_type: pa.DataType
) -> pa.Schema:
    return schemas.shaped(schema, id_type, measure.value, with_places=corpus.ids_repeat)


def read_shown(
    corpus: Named, pairs: Pairs, measure: Measure, id_type: pa.DataType
) -> Callable[[], pa.Table]:
    """What makes a table of a few pairs, and both texts around their first difference.

    Their texts are read now, so that the corpus can go; what differs is found when it is looked
    at.
    """
    shown = pair_table(corpus, pairs, measure, id_type)
    return partial(_with_excerpts, shown, corpus.texts(pairs.first), corpus.texts(pairs.second))


def _with_excerpts(
    shown: pa.Table, texts_a: pa.LargeStringArray, texts_b: pa.LargeStringArray
) -> pa.Table:
    for name, column in excerpt_columns(texts_a.to_pylist(), texts_b.to_pylist()).items():
        shown = shown.append_column(name, column)
    return shown


def best(nearness: Nearness, count: int) -> npt.NDArray[np.intp]:
    """The places of the highest ones, of equals the first: a stable sort, without sorting all."""
    if len(nearness) <= count:
        return np.argsort(-nearness, kind="stable")
    least = np.partition(nearness, -count)[-count]
    high = np.flatnonzero(nearness >= least)
    return high[np.argsort(-nearness[high], kind="stable")[:count]]
