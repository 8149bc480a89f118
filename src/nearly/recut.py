"""Some of the pairs of a result, and the clusters that they form: at a higher threshold, say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.arrays import column_of
from nearly.documents.place import keys
from nearly.measures.pair import Pairs
from nearly.stages.cluster import cluster

__all__ = ["recut"]

Whole = npt.NDArray[np.int64]


def recut(pairs: pa.Table, members: pa.Table, chosen: pa.Array) -> tuple[pa.Table, pa.Table, int]:
    """The pairs that were chosen, the components that they form, and how many these are.

    `members` are the clusters of all pairs.
    """
    high = pairs.filter(chosen)
    in_order = members.take(_in_order(pairs, members))
    known = keys(in_order, "id").combine_chunks()
    near = Pairs(
        first=_numbers(keys(high, "id_a"), known),
        second=_numbers(keys(high, "id_b"), known),
        nearness=high["similarity"].to_numpy(),
    )
    nothing = np.empty(0, np.uint32)
    order = np.arange(len(known), dtype=np.uint32)
    clusters = cluster(near, nothing, nothing, order, "components")
    weakest = clusters.weakest(near, 1.0)[clusters.numbers]
    now = {"cluster": column_of(clusters.numbers), "weakest": column_of(weakest)}
    found = in_order.take(column_of(clusters.members))
    columns = [now.get(name, found[name]) for name in found.column_names]
    return high, pa.table(columns, schema=members.schema), clusters.count


def _in_order(pairs: pa.Table, members: pa.Table) -> pa.Array:
    """The members of all clusters in the order of the source, which two tables tell together.

    Pairs are ordered by their first documents, so these are in order; a cluster's members are in
    order too, and the first one of them is the first of a pair. So a member that is never the first
    of a pair stands after the last one before it in its cluster that is.
    """
    known = keys(members, "id").combine_chunks()
    first = pc.index_in(keys(pairs, "id_a"), known).to_numpy()
    places, seen = np.unique(first, return_index=True)
    rank = np.full(members.num_rows, -1, np.int64)
    rank[places] = seen
    anchor = np.maximum.accumulate(np.where(rank >= 0, np.arange(len(rank)), 0))
    order: Whole = np.lexsort((np.arange(len(rank)), rank[anchor]))
    return column_of(order)


def _numbers(column: pa.ChunkedArray, known: pa.Array) -> npt.NDArray[np.uint32]:
    return pc.index_in(column, known).to_numpy().astype(np.uint32)  # type: ignore[no-any-return]
