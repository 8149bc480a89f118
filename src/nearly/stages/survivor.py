"""Which document of a cluster stays: the rules of `keep`, and what they decide."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import column_of, numbers_of
from nearly.documents.corpus import Contenders
from nearly.errors import SettingsError, SourceError
from nearly.frozen import dataclass
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed, Pairs, join_pairs
from nearly.stages.cluster import Clusters

__all__ = ["Keep", "Removed", "by_best_copy", "column_preference", "rank", "survivors"]

#: How near the documents of some packed pairs are, whatever the threshold.
Compare = Callable[[Packed], Nearness]

PLAIN = ("first", "last", "longest", "shortest", "largest")
BY_COLUMN = ("newest", "oldest", "max", "min")


@dataclass(frozen=True, kw_only=True)
class Keep:
    """A rule, and the column it looks at, if any."""

    rule: str
    column: str | None = None

    @classmethod
    def parse(cls, given: str) -> "Keep":
        """`first`, or `newest:date`."""
        rule, _, column = given.partition(":")
        if rule in PLAIN and not column:
            return cls(rule=rule)
        if rule in BY_COLUMN and column:
            return cls(rule=rule, column=column)
        raise SettingsError(
            f"keep is {given!r}; choose one of {', '.join(PLAIN)}, "
            f"or {', '.join(f'{name}:COLUMN' for name in BY_COLUMN)}"
        )


@dataclass(frozen=True, kw_only=True)
class Removed:
    """Documents that go, in ascending order, with the survivor of each."""

    documents: Documents
    survivors: Documents
    nearness: Nearness
    clusters: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.documents)

    def below(self, threshold: Fraction) -> int:
        """How many are not as near to their survivor as that: others link them, in a chain."""
        return int((self.nearness < float(threshold)).sum())


def rank(corpus: Contenders, near: Pairs, keep: Keep) -> Documents:
    """All documents, those that should rather survive first; of equals the earlier one.

    Old documents survive whatever the rule says of new ones.
    """
    order = _ranked(corpus, near, keep)
    if not corpus.old:
        return order
    return np.concatenate([np.sort(order[order < corpus.old]), order[order >= corpus.old]])


def _ranked(corpus: Contenders, near: Pairs, keep: Keep) -> Documents:
    """The same by the rule alone, wherever documents stand."""
    everyone = np.arange(len(corpus), dtype=np.uint32)
    if keep.rule == "first":
        return everyone
    if keep.rule == "last":
        return everyone[::-1].copy()
    is_involved = np.zeros(len(corpus), bool)
    is_involved[corpus.copies] = is_involved[corpus.originals] = True
    for part in near.parts():
        is_involved[part.first] = is_involved[part.second] = True
    involved = everyone[is_involved]
    preference = _preference(corpus, involved, keep)
    ranked = involved[np.lexsort((involved, preference))]
    return np.concatenate([ranked, everyone[~is_involved]])


def by_best_copy(order: Documents, corpus: Contenders) -> Documents:
    """The same order, where a representative stands as high as the best of its copies.

    So the leader of a cluster has the text of the document that will survive.
    """
    place = _places(order)
    np.minimum.at(place, corpus.originals, place[corpus.copies])
    return np.argsort(place, kind="stable").astype(np.uint32)


def _places(order: Documents) -> Documents:
    place = np.empty(len(order), np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    return place


def _preference(corpus: Contenders, documents: Documents, keep: Keep) -> npt.NDArray[np.int64]:
    """Lower is better."""
    if keep.rule == "largest":
        return -corpus.sizes_of(documents).astype(np.int64)
    if keep.rule in ("longest", "shortest"):
        lengths = corpus.characters(documents)
        return -lengths if keep.rule == "longest" else lengths
    values = pa.chunked_array(corpus.rule_column).take(column_of(documents))
    return column_preference(values, keep)


def column_preference(values: pa.ChunkedArray, keep: Keep) -> npt.NDArray[np.int64]:
    """Lower is better, by the values of the rule's column."""
    import pyarrow.compute as pc

    if keep.rule in ("newest", "oldest") and _is_text(values.type):
        try:
            values = values.cast(pa.timestamp("us"))
        except pa.ArrowInvalid as error:
            raise SourceError(
                f"column {keep.column!r} is text that does not read as dates ({error}); "
                "write dates as 2024-12-31 or 2024-12-31 23:59:59, or cast the column in a query"
            ) from error
    direction = "descending" if keep.rule in ("newest", "max") else "ascending"
    try:
        ranks = pc.rank(values, sort_keys=direction, tiebreaker="min")  # nulls come last
    except pa.ArrowNotImplementedError as error:
        raise SourceError(
            f"column {keep.column!r} holds {values.type}, which has no order; "
            f"name a column of numbers, dates or text for keep={keep.rule}:COLUMN"
        ) from error
    return numbers_of(ranks).astype(np.int64)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def survivors(
    corpus: Contenders,
    clusters: Clusters,
    order: Documents,
    near: Pairs,
    compare: Compare,
    same: float,
) -> Removed:
    """The best-ranked member of each cluster stays; all others go, unless they are old.

    A document that has pairs with old ones of its cluster names the nearest of these.
    """
    place = _places(order)
    best = np.full(clusters.count, len(order), np.int64)
    np.minimum.at(best, clusters.numbers, place[clusters.members])
    stays = order[best][clusters.numbers]
    goes = stays != clusters.members
    if corpus.old:
        stays = _nearest_old(corpus, clusters, near, stays)
        goes &= clusters.members >= corpus.old
    ascending = np.argsort(clusters.members[goes])
    documents = clusters.members[goes][ascending]
    survivors = stays[goes][ascending]
    return Removed(
        documents=documents,
        survivors=survivors,
        nearness=_exact(corpus, documents, survivors, compare, same),
        clusters=clusters.numbers[goes][ascending],
    )


def _nearest_old(
    corpus: Contenders, clusters: Clusters, near: Pairs, stays: Documents
) -> Documents:
    """For each member of a cluster the nearest old document that it has a pair with there, of
    equals the first; else what stays for all of them."""
    cluster_of = np.full(len(corpus), -1, np.int64)
    cluster_of[clusters.members] = clusters.numbers
    text_of = _texts(corpus)
    best = np.full(len(corpus), -np.inf)
    named = np.zeros(len(corpus), np.uint32)
    for part in near.parts():
        is_inside = cluster_of[part.first] == cluster_of[part.second]
        chosen = np.flatnonzero((part.first < corpus.old) & (part.second >= corpus.old) & is_inside)
        old, new, nearness = part.first[chosen], part.second[chosen], part.nearness[chosen]
        order = np.lexsort((old, -nearness, new))
        firsts = order[np.append(True, new[order][1:] != new[order][:-1])[: len(order)]]
        better = firsts[nearness[firsts] > best[new[firsts]]]
        best[new[better]], named[new[better]] = nearness[better], old[better]
    texts = text_of[clusters.members]
    found = np.where(np.isfinite(best[texts]), named[texts], stays)
    return np.where(texts < corpus.old, texts, found).astype(np.uint32)


def _texts(corpus: Contenders) -> Documents:
    """The first document of each one's text."""
    text_of = np.arange(len(corpus), dtype=np.uint32)
    text_of[corpus.copies] = corpus.originals
    return text_of


def _exact(
    corpus: Contenders, first: Documents, second: Documents, compare: Compare, same: float
) -> Nearness:
    """Nearness of any two documents, below the threshold too; copies cost nothing."""
    text_of = _texts(corpus)
    packed = join_pairs(text_of[first], text_of[second])
    differ = text_of[first] != text_of[second]
    sought, which = np.unique(packed[differ], return_inverse=True)
    nearness = np.full(len(packed), same)
    nearness[differ] = compare(sought)[which]
    return nearness
