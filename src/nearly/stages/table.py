"""From document numbers to the tables that a user sees, with ids in them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import schemas
from nearly.arrays import column_of
from nearly.documents.corpus import Named
from nearly.measures.base import Measure
from nearly.measures.pair import Nearness, Pairs
from nearly.stages.cluster import Clusters
from nearly.stages.survivor import Removed
from nearly.text.table import excerpt_columns

__all__ = ["best", "cluster_table", "pair_table", "read_top", "removed_table"]

TOP = 20


def pair_table(corpus: Named, pairs: Pairs, measure: Measure, id_type: pa.DataType) -> pa.Table:
    """See `schemas.PAIRS`."""
    shown = column_of(measure.shown(pairs.nearness))
    columns = [corpus.ids(pairs.first), corpus.ids(pairs.second), shown]
    return pa.table(columns, schema=schemas.shaped(schemas.PAIRS, id_type, measure.value))


def cluster_table(
    corpus: Named, clusters: Clusters, near: Pairs, measure: Measure, id_type: pa.DataType
) -> pa.Table:
    """See `schemas.CLUSTERS`."""
    weakest = measure.shown(clusters.weakest(near, measure.same))[clusters.numbers]
    columns = [corpus.ids(clusters.members), column_of(clusters.numbers), column_of(weakest)]
    return pa.table(columns, schema=schemas.shaped(schemas.CLUSTERS, id_type, measure.value))


def removed_table(
    corpus: Named, removed: Removed, measure: Measure, id_type: pa.DataType
) -> pa.Table:
    """See `schemas.REMOVED`."""
    columns = [
        corpus.ids(removed.documents),
        corpus.ids(removed.survivors),
        column_of(measure.shown(removed.nearness)),
        column_of(removed.clusters),
    ]
    return pa.table(columns, schema=schemas.shaped(schemas.REMOVED, id_type, measure.value))


def read_top(
    corpus: Named, pairs: Pairs, measure: Measure, id_type: pa.DataType
) -> Callable[[], pa.Table]:
    """What makes a table of the nearest pairs, and both texts around their first difference.

    Their few texts are read now, so that the corpus can go; what differs is found when it is
    looked at.
    """
    shown = best(pairs.nearness)
    first, second = pairs.first[shown], pairs.second[shown]
    nearest = Pairs(first=first, second=second, nearness=pairs.nearness[shown])
    top = pair_table(corpus, nearest, measure, id_type)
    return partial(_with_excerpts, top, corpus.texts(first), corpus.texts(second))


def _with_excerpts(
    top: pa.Table, texts_a: pa.LargeStringArray, texts_b: pa.LargeStringArray
) -> pa.Table:
    for name, column in excerpt_columns(texts_a.to_pylist(), texts_b.to_pylist()).items():
        top = top.append_column(name, column)
    return top


def best(nearness: Nearness) -> npt.NDArray[np.intp]:
    """The places of the highest ones, of equals the first: a stable sort, without sorting all."""
    if len(nearness) <= TOP:
        return np.argsort(-nearness, kind="stable")
    least = np.partition(nearness, -TOP)[-TOP]
    high = np.flatnonzero(nearness >= least)
    return high[np.argsort(-nearness[high], kind="stable")[:TOP]]
