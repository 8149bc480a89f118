"""Tables of pairs or clusters, by ids, as linkages over one numbering of the documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearly.documents.place import has_places, keys
from nearly.errors import MissingError, SourceError
from nearly.evaluation.agreement import Fraction, Linkage, Whole

__all__ = ["Linked", "link", "names_places"]

PAIR = ("id_a", "id_b")
CLUSTER = ("id", "cluster")
RENAME = "Rename them, or give a SQL query: SELECT x AS id_a, y AS id_b FROM 'gold.csv'."


@dataclass(frozen=True, kw_only=True)
class Linked:
    """What was found and what is true, about the same documents.

    `unknown`: the ids of the truth that no document has. Their rows are left out.
    """

    found: Linkage
    gold: Linkage
    unknown: Sequence[str]


def names_places(found: pa.Table, gold: pa.Table) -> bool:
    """Whether both tables know documents by file and row, for ids that repeat."""
    return has_places(found) and has_places(gold)


def link(found: pa.Table, gold: pa.Table, documents: pa.ChunkedArray | None = None) -> Linked:
    """Number the documents of both tables, and of `documents`, all ids that exist.

    Where both tables have places beside their ids, documents are known by these, and `documents`
    has to be their keys. Without `documents`, those exist that occur in either table.
    """
    by_place = names_places(found, gold)
    ours, theirs = _Rows(found, "what was found", by_place), _Rows(gold, "the truth", by_place)
    if documents is None:
        ids = pc.unique(pa.chunked_array([*ours.chunks(), *theirs.chunks()], pa.large_string()))
        return Linked(found=ours.linkage(ids), gold=theirs.linkage(ids), unknown=[])
    ids = pc.unique(documents.cast(pa.large_string()))
    strangers = ours.unknown(ids)
    if strangers:
        raise SourceError(
            f"what was found has {len(strangers):,} ids that are not among the {len(ids):,} "
            f"documents, such as {strangers[0]!r}. Give the documents in which it was found."
        )
    unknown = theirs.unknown(ids)
    return Linked(found=ours.linkage(ids), gold=theirs.known(ids).linkage(ids), unknown=unknown)


class _Rows:
    """A table of pairs or clusters, whose ids are strings."""

    def __init__(self, table: pa.Table, name: str, by_place: bool) -> None:
        self._table, self._name, self._by_place = table, name, by_place
        self._columns = _columns_of(table, name)
        for column in self._columns:
            nulls = table[column].null_count
            if nulls:
                raise SourceError(
                    f"{nulls:,} rows of {name} have no {column!r}. Every row needs one."
                )

    def chunks(self) -> list[pa.Array]:
        """All ids, column after column."""
        return [chunk for column in self._id_columns() for chunk in column.chunks]

    def unknown(self, ids: pa.Array) -> list[str]:
        """The ids of this table that are not among those, each once, in their order."""
        occurring = pc.unique(pa.chunked_array(self.chunks(), pa.large_string()))
        strange = pc.invert(pc.is_in(occurring, value_set=ids))
        return occurring.filter(strange).to_pylist()  # type: ignore[no-any-return]

    def known(self, ids: pa.Array) -> "_Rows":
        """Only the rows all of whose ids are among those."""
        kept = np.ones(self._table.num_rows, bool)
        for column in self._id_columns():
            kept &= pc.is_in(column, value_set=ids).to_numpy()
        return _Rows(self._table.filter(pa.array(kept)), self._name, self._by_place)

    def linkage(self, ids: pa.Array) -> Linkage:
        """The rows over documents that are numbered as their ids stand here."""
        first, *second = (_numbers(column, ids) for column in self._id_columns())
        if self._columns == PAIR:
            return Linkage.of_pairs(first, second[0], len(ids), self._similarity())
        clusters = self._table["cluster"].cast(pa.large_string())
        numbers = _numbers(clusters, pc.unique(clusters))
        self._check_once(first, numbers, ids)
        return Linkage.of_clusters(first, numbers, len(ids))

    def _id_columns(self) -> list[pa.ChunkedArray]:
        names = PAIR if self._columns == PAIR else CLUSTER[:1]
        told = [keys(self._table, name) if self._by_place else self._table[name] for name in names]
        return [column.cast(pa.large_string()) for column in told]

    def _similarity(self) -> Fraction | None:
        if "similarity" not in self._table.column_names:
            return None
        try:
            similarity: Fraction = self._table["similarity"].cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid as error:
            raise SourceError(
                f"the column 'similarity' of {self._name} holds no numbers: {error}"
            ) from error
        wrong = np.flatnonzero(~((similarity >= 0) & (similarity <= 1)))
        if len(wrong):
            raise SourceError(
                f"the column 'similarity' of {self._name} has {similarity[wrong[0]]:g} in row "
                f"{wrong[0]}, and similarity runs from 0 to 1. Fix it, or leave the column out."
            )
        return similarity

    def _check_once(self, members: Whole, clusters: Whole, ids: pa.Array) -> None:
        """Documents of one id may share a cluster, but the id cannot be in two."""
        memberships = np.unique(np.stack([members, clusters]), axis=1)
        counts = np.bincount(memberships[0])
        if len(members) and counts.max() > 1:
            twice = ids[int(counts.argmax())].as_py()
            raise SourceError(
                f"in {self._name}, {twice!r} stands in more than one cluster, and a document has "
                "one. Keep one of the rows; or, if documents share the id, give both tables the "
                "columns file and row."
            )


def _columns_of(table: pa.Table, name: str) -> tuple[str, str]:
    for columns in (PAIR, CLUSTER):
        if set(columns) <= set(table.column_names):
            return columns
    raise MissingError(
        f"the columns of {name} are {', '.join(table.column_names) or 'none'}; pairs have id_a "
        f"and id_b, clusters have id and cluster. {RENAME}"
    )


def _numbers(values: pa.ChunkedArray, ordered: pa.Array) -> Whole:
    places: Whole = pc.index_in(values, value_set=ordered).to_numpy().astype(np.int64)
    return places
