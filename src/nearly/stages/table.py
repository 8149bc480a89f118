"""From document numbers to the tables that a user sees, with ids in them."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import schemas
from nearly.arrays import column_of, string_array, truths_of
from nearly.documents.corpus import Corpus, Named
from nearly.stages.cluster import Clusters
from nearly.stages.pair import Pairs
from nearly.stages.survivor import Removed

__all__ = ["best", "cluster_table", "pair_table", "removed_table", "top_table", "without_rows"]

TOP = 20
SNIPPET = 200


def pair_table(corpus: Named, pairs: Pairs, id_type: pa.DataType) -> pa.Table:
    """See `schemas.PAIRS`."""
    columns = [corpus.ids(pairs.first), corpus.ids(pairs.second), column_of(pairs.similarity)]
    return pa.table(columns, schema=schemas.with_id_type(schemas.PAIRS, id_type))


def cluster_table(
    corpus: Corpus, clusters: Clusters, near: Pairs, id_type: pa.DataType
) -> pa.Table:
    """See `schemas.CLUSTERS`."""
    weakest = clusters.weakest(near)[clusters.numbers]
    columns = [corpus.ids(clusters.members), column_of(clusters.numbers), column_of(weakest)]
    return pa.table(columns, schema=schemas.with_id_type(schemas.CLUSTERS, id_type))


def removed_table(corpus: Corpus, removed: Removed, id_type: pa.DataType) -> pa.Table:
    """See `schemas.REMOVED`."""
    columns = [
        corpus.ids(removed.documents),
        corpus.ids(removed.survivors),
        column_of(removed.similarity),
        column_of(removed.clusters),
    ]
    return pa.table(columns, schema=schemas.with_id_type(schemas.REMOVED, id_type))


def top_table(corpus: Named, pairs: Pairs, id_type: pa.DataType) -> pa.Table:
    """The most similar pairs with the beginnings of their texts."""
    shown = best(pairs.similarity)
    first, second = pairs.first[shown], pairs.second[shown]
    top = pair_table(
        corpus, Pairs(first=first, second=second, similarity=pairs.similarity[shown]), id_type
    )
    for name, documents in (("text_a", first), ("text_b", second)):
        texts = [text.as_py()[:SNIPPET] for text in corpus.texts(documents)]
        top = top.append_column(name, string_array(texts, pa.string()))
    return top


def best(similarity: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """The places of the highest ones, of equals the first: a stable sort, without sorting all."""
    if len(similarity) <= TOP:
        return np.argsort(-similarity, kind="stable")
    least = np.partition(similarity, -TOP)[-TOP]
    high = np.flatnonzero(similarity >= least)
    return high[np.argsort(-similarity[high], kind="stable")[:TOP]]


def without_rows(
    batches: Iterable[pa.RecordBatch], removed: npt.NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    """All rows but those, which are given by number in ascending order."""
    start = 0
    for batch in batches:
        low, high = np.searchsorted(removed, [start, start + batch.num_rows])
        kept = np.ones(batch.num_rows, bool)
        kept[removed[low:high] - start] = False
        start += batch.num_rows
        yield batch.filter(truths_of(kept)) if low < high else batch
