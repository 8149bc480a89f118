"""From document numbers to the tables that a user sees, with ids in them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import schemas
from nearly.arrays import column_of, spans
from nearly.documents.corpus import Labelled, Named
from nearly.documents.lookup import TextReader, named_pairs
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.measures.pair import PART, Nearness, Pairs
from nearly.stages.cluster import Clusters
from nearly.stages.survivor import Removed
from nearly.text.table import Glimpse, excerpt_columns, glimpse
from nearly.text.unit import Unit

__all__ = [
    "best",
    "best_pairs",
    "cluster_tables",
    "pair_table",
    "pair_tables",
    "place_columns",
    "read_shown",
    "removed_tables",
    "side_columns",
]


def pair_table(corpus: Labelled, pairs: Pairs, measure: Measure, id_type: pa.DataType) -> pa.Table:
    """See `schemas.PAIRS`."""
    columns = [
        corpus.ids(pairs.first),
        corpus.ids(pairs.second),
        column_of(measure.shown(pairs.nearness)),
        *side_columns(corpus, pairs, measure).values(),
        *place_columns(corpus, id_a=pairs.first, id_b=pairs.second).values(),
    ]
    schema = schemas.with_sides(schemas.PAIRS, measure.sides)
    return pa.table(columns, schema=_shaped(schema, corpus, measure, id_type))


def pair_tables(
    corpus: Labelled, pairs: Pairs, measure: Measure, id_type: pa.DataType
) -> Iterator[pa.Table]:
    """The same, some rows at a time."""
    for part in pairs.parts():
        yield pair_table(corpus, part, measure, id_type)


def cluster_tables(
    corpus: Labelled, clusters: Clusters, near: Pairs, measure: Measure, id_type: pa.DataType
) -> Iterator[pa.Table]:
    """See `schemas.CLUSTERS`; some rows at a time."""
    weakest = measure.shown(clusters.weakest(near, measure.same))
    schema = _shaped(schemas.CLUSTERS, corpus, measure, id_type)
    for rows in _parts(len(clusters.members)):
        members, numbers = clusters.members[rows], clusters.numbers[rows]
        columns = [
            corpus.ids(members),
            column_of(numbers),
            column_of(weakest[numbers]),
            *place_columns(corpus, id=members).values(),
        ]
        yield pa.table(columns, schema=schema)


def removed_tables(
    corpus: Labelled, removed: Removed, measure: Measure, id_type: pa.DataType
) -> Iterator[pa.Table]:
    """See `schemas.REMOVED`; some rows at a time."""
    schema = _shaped(schemas.REMOVED, corpus, measure, id_type)
    for rows in _parts(len(removed)):
        documents, survivors = removed.documents[rows], removed.survivors[rows]
        columns = [
            corpus.ids(documents),
            corpus.ids(survivors),
            column_of(measure.shown(removed.nearness[rows])),
            column_of(removed.clusters[rows]),
            *place_columns(corpus, id=documents, survivor=survivors).values(),
        ]
        yield pa.table(columns, schema=schema)


def _parts(rows: int) -> Iterator[slice]:
    """One at least."""
    for start in range(0, max(1, rows), PART):
        yield slice(start, start + PART)


def side_columns(corpus: Labelled, pairs: Pairs, measure: Measure) -> dict[str, pa.Array]:
    """What a measure says of each document of a pair; most say nothing."""
    if not measure.sides:
        return {}
    sizes = corpus.sizes_of(pairs.first), corpus.sizes_of(pairs.second)
    return dict(
        zip(measure.sides, map(column_of, measure.of_sides(pairs.nearness, *sizes)), strict=True)
    )


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
    corpus: Named,
    pairs: Pairs,
    measure: Measure,
    id_type: pa.DataType,
    unit: Unit | None,
    reader: TextReader | None = None,
) -> Callable[[], pa.Table]:
    """What makes a table of a few pairs, and both texts around their first difference, by unit.

    Their texts are read now, so that the corpus can go; what differs is found when it is looked
    at. Where documents are no texts, `reader` reads what people see of them, then.
    """
    shown = pair_table(corpus, pairs, measure, id_type)
    if reader is None or corpus.texts(pairs.first[:0]).type == pa.large_string():
        return partial(_with_excerpts, shown, _glimpses(corpus, pairs), unit)
    return partial(_with_read_excerpts, shown, reader, unit)


def _glimpses(corpus: Named, pairs: Pairs) -> list[Glimpse]:
    """One pair at a time: of long texts no more is held than a piece.

    Each text is asked for by itself: two would be copied, to stand one after the other.
    """

    def text_of(document: int) -> npt.NDArray[np.uint8]:
        offsets, data = spans(corpus.texts(np.array([document], pairs.first.dtype)))
        return data[offsets[0] : offsets[-1]]

    ends = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return [glimpse(text_of(a), text_of(b)) for a, b in ends]


def _with_read_excerpts(shown: pa.Table, reader: TextReader, unit: Unit | None) -> pa.Table:
    named = named_pairs(reader, shown)
    texts = named.read([*named.first, *named.second])
    ends = zip(texts[: len(shown)], texts[len(shown) :], strict=True)
    return _with_excerpts(shown, [Glimpse(a, b) for a, b in ends], unit)


def _with_excerpts(shown: pa.Table, seen: Sequence[Glimpse], unit: Unit | None) -> pa.Table:
    for name, column in excerpt_columns(seen, unit).items():
        shown = shown.append_column(name, column)
    return shown


def best_pairs(pairs: Pairs, count: int, *, least: bool = False) -> Pairs:
    """The nearest ones, or the least near: of equals, those of an earlier part come first."""
    places, scores, start = np.empty(0, np.intp), np.empty(0), 0
    for part in pairs.parts():
        score = -part.nearness if least else part.nearness
        high = best(score, count)
        places = np.concatenate([places, high + start])
        scores = np.concatenate([scores, score[high]])
        top = best(scores, count)
        places, scores = places[top], scores[top]
        start += len(part)
    return pairs.at(places)


def best(nearness: Nearness, count: int) -> npt.NDArray[np.intp]:
    """The places of the highest ones, of equals the first: a stable sort, without sorting all."""
    if len(nearness) <= count:
        return np.argsort(-nearness, kind="stable")
    least = np.partition(nearness, -count)[-count]
    high = np.flatnonzero(nearness >= least)
    return high[np.argsort(-nearness[high], kind="stable")[:count]]
