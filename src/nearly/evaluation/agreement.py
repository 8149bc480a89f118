"""How well what was found agrees with a labelled truth: by pair, by cluster, by similarity.

Both sides are a `Linkage`: groups of documents, and pairs of groups. Everything is counted
from the sizes of groups and of their common parts, so a cluster of a million documents costs
a million steps and not half a billion pairs.

Adjusted Rand index: Hubert and Arabie, Comparing partitions, 1985. B-cubed: Bagga and Baldwin,
Entity-based cross-document coreferencing using the vector space model, 1998.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.tabular import Tabular

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Bar",
    "ClusterScores",
    "Cut",
    "Evaluation",
    "Fraction",
    "Linkage",
    "PairCounts",
    "RecallBar",
    "Whole",
    "evaluate",
    "sweep",
]

Whole: TypeAlias = npt.NDArray[np.int64]
Fraction: TypeAlias = npt.NDArray[np.float64]

#: Bars of the charts are this wide: 1/20.
BARS = 20


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """What belongs together, of documents numbered from zero.

    `groups` gives each document its group: all documents of a group belong together. Besides,
    `first` and `second` are pairs of groups, each pair once: all documents of the one belong
    to all of the other. `similarity` is that of these pairs, where it is known.

    Documents of similarity 1 have the same shingles, and so the same similarity to all others.
    They are one group: copies that were linked once to their representative count in full.
    """

    groups: Whole
    first: Whole
    second: Whole
    similarity: Fraction | None

    @classmethod
    def of_clusters(cls, members: Whole, clusters: Whole, documents: int) -> Linkage:
        """Documents that share a cluster; any other document is alone."""
        labels = np.arange(documents) + (int(clusters.max()) + 1 if len(clusters) else 0)
        labels[members] = clusters
        nothing = np.empty(0, np.int64)
        return cls(groups=_renumbered(labels), first=nothing, second=nothing, similarity=None)

    @classmethod
    def of_pairs(
        cls, first: Whole, second: Whole, documents: int, similarity: Fraction | None = None
    ) -> Linkage:
        """Pairs of documents; one that is given twice counts once, one with itself not at all."""
        groups = np.arange(documents)
        if similarity is not None:
            same = similarity == 1
            groups = _renumbered(_components(first[same], second[same], documents))
        a, b = groups[first], groups[second]
        low, high = np.minimum(a, b), np.maximum(a, b)
        proper = np.flatnonzero(low < high)
        _, once = np.unique(_packed(low[proper], high[proper]), return_index=True)
        kept = proper[once]
        return cls(
            groups=groups,
            first=low[kept],
            second=high[kept],
            similarity=None if similarity is None else similarity[kept],
        )

    def clusters(self) -> Whole:
        """The connected component of every document."""
        documents_of = _components(self.first, self.second, self.group_count)
        return _renumbered(documents_of)[self.groups]

    @property
    def group_count(self) -> int:
        """How many groups there are, those of one document included."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    @property
    def weights(self) -> Whole:
        """How many pairs of documents each part is: groups first, then pairs of groups."""
        sizes = np.bincount(self.groups, minlength=self.group_count)
        return np.concatenate([_pairs_in(sizes), sizes[self.first] * sizes[self.second]])

    @property
    def similarities(self) -> Fraction:
        """The similarity of each part, as `weights` has them; groups are copies."""
        near = np.empty(0) if self.similarity is None else self.similarity
        return np.concatenate([np.ones(self.group_count), near])


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Pairs of documents that were found, that are in the truth, and that are both."""

    found: int
    gold: int
    true: int

    @property
    def precision(self) -> float | None:
        """Of what was found, the share that is true."""
        return _share(self.true, self.found)

    @property
    def recall(self) -> float | None:
        """Of what is true, the share that was found."""
        return _share(self.true, self.gold)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.true, self.found + self.gold)


@dataclass(frozen=True, kw_only=True)
class ClusterScores:
    """Agreement of two clusterings of the same documents."""

    found: int
    gold: int
    adjusted_rand: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of B-cubed precision and recall."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Found pairs whose similarity is at least `low` and below `high` (1 belongs to the last)."""

    low: float
    high: float
    true: int
    false: int


@dataclass(frozen=True, kw_only=True)
class RecallBar:
    """True pairs of such a similarity, and how many of them were found."""

    low: float
    high: float
    gold: int
    found: int

    @property
    def recall(self) -> float | None:
        """Of the true pairs, the share that was found."""
        return _share(self.found, self.gold)


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What would have been found with a higher threshold."""

    threshold: float
    pairs: PairCounts


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(Tabular):
    """All measures of one run; bars are there where similarities are.

    `cuts`: the same pairs at higher thresholds; `unknown`: ids of the truth that no document has.
    """

    documents: int
    pairs: PairCounts
    clusters: ClusterScores
    bars: Sequence[Bar]
    recall_bars: Sequence[RecallBar]
    cuts: Sequence[Cut] = ()
    unknown: Sequence[str] = ()
    least: float | None = None  # similarity of a found pair

    def __repr__(self) -> str:
        shares = (self.pairs.precision, self.pairs.recall, self.pairs.f1)
        precision, recall, f1 = ("-" if s is None else f"{s:.4f}" for s in shares)
        return f"Evaluation: precision {precision}, recall {recall}, F1 {f1}"

    def to_arrow(self) -> pa.Table:
        """Precision, recall and F1: in one row, and one row more for each threshold of a sweep."""
        import pyarrow as pa

        counted = [(None, self.pairs), *((cut.threshold, cut.pairs) for cut in self.cuts)]
        rows = [{"threshold": threshold, **_plain(pairs)} for threshold, pairs in counted]
        numbers = pa.schema([("threshold", pa.float64())])
        shares = pa.schema([(name, pa.float64()) for name in ("precision", "recall", "f1")])
        counts = pa.schema([(name, pa.int64()) for name in ("found", "gold", "true")])
        return pa.Table.from_pylist(rows, pa.unify_schemas([numbers, counts, shares]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        bars = [asdict(bar) | {"recall": bar.recall} for bar in self.recall_bars]
        return {
            "documents": self.documents,
            "pairs": _plain(self.pairs),
            "clusters": asdict(self.clusters) | {"f1": self.clusters.f1},
            "bars": [asdict(bar) for bar in self.bars],
            "recall_bars": bars,
            "sweep": [{"threshold": cut.threshold, **_plain(cut.pairs)} for cut in self.cuts],
            "unknown_ids": list(self.unknown),
        }


def _plain(pairs: PairCounts) -> dict[str, Any]:
    shares = {"precision": pairs.precision, "recall": pairs.recall, "f1": pairs.f1}
    return asdict(pairs) | shares


def evaluate(found: Linkage, gold: Linkage) -> Evaluation:
    """Compare what was found with the truth about the same documents."""
    true = _common(found, gold)
    counts = PairCounts(
        found=int(found.weights.sum()), gold=int(gold.weights.sum()), true=int(true.sum())
    )
    return Evaluation(
        documents=len(found.groups),
        pairs=counts,
        clusters=_compare_clusters(found.clusters(), gold.clusters()),
        bars=[] if found.similarity is None else _bars(found, true),
        recall_bars=[] if gold.similarity is None else _recall_bars(gold, _common(gold, found)),
    )


def sweep(found: Linkage, gold: Linkage, thresholds: Iterable[float]) -> list[Cut]:
    """What each threshold would have given: pairs were verified once, and are cut again."""
    all_gold = int(gold.weights.sum())
    weights, similarities, true = found.weights, found.similarities, _common(found, gold)
    cuts = []
    for threshold in thresholds:
        kept = similarities >= threshold
        counts = PairCounts(
            found=int(weights[kept].sum()), gold=all_gold, true=int(true[kept].sum())
        )
        cuts.append(Cut(threshold=threshold, pairs=counts))
    return cuts


def _common(one: Linkage, other: Linkage) -> Whole:
    """How many pairs of documents of each part of `one` belong together in `other`."""
    cells = _Cells(one.groups, other.groups)
    inside = _sums(cells.group, _pairs_in(cells.size), one.group_count)
    common = np.concatenate([inside, _shared_by_pairs(one, cells)])
    _add_pairs_of_other(common, one, other, cells)
    return common


class _Cells:
    """The common parts of the groups of two linkages: `group` ∩ `other`, `size` documents."""

    def __init__(self, groups: Whole, others: Whole) -> None:
        packed, self.size = np.unique(_packed(groups, others), return_counts=True)
        self.packed = packed
        self.group, self.other = packed >> 32, packed & 0xFFFFFFFF

    def sizes_of(self, groups: Whole, others: Whole) -> Whole:
        """The size of each asked cell; 0 where nothing is shared."""
        asked = _packed(groups, others)
        if not len(self.packed):
            return np.zeros(len(asked), np.int64)
        place = np.minimum(np.searchsorted(self.packed, asked), len(self.packed) - 1)
        return np.where(self.packed[place] == asked, self.size[place], 0)


def _shared_by_pairs(one: Linkage, cells: _Cells) -> Whole:
    """For each pair of groups: pairs of documents that lie in one group of the other side."""
    pair, cell = _expanded(one.first, cells.group)
    shared = cells.size[cell] * cells.sizes_of(one.second[pair], cells.other[cell])
    return _sums(pair, shared, len(one.first))


def _add_pairs_of_other(common: Whole, one: Linkage, other: Linkage, cells: _Cells) -> None:
    """Count the pairs of groups of the other side, cell by cell, where `one` has them too."""
    by_other = np.argsort(cells.other, kind="stable")
    pair, place = _expanded(other.first, cells.other[by_other])
    left = by_other[place]
    again, place = _expanded(other.second[pair], cells.other[by_other])
    left, right = left[again], by_other[place]
    a, b = cells.group[left], cells.group[right]
    part = np.where(a == b, a, one.group_count + _places(one, np.minimum(a, b), np.maximum(a, b)))
    present = part >= 0
    np.add.at(common, part[present], (cells.size[left] * cells.size[right])[present])


def _places(linkage: Linkage, low: Whole, high: Whole) -> Whole:
    """Where each pair of groups stands among the pairs of a linkage; far below 0 if nowhere."""
    nowhere = np.full(len(low), -(1 << 40))
    if not len(linkage.first):
        return nowhere
    packed, asked = _packed(linkage.first, linkage.second), _packed(low, high)
    place = np.minimum(np.searchsorted(packed, asked), len(packed) - 1)
    return np.where(packed[place] == asked, place, nowhere)


def _expanded(keys: Whole, ordered: Whole) -> tuple[Whole, Whole]:
    """Every match of `keys` in `ordered`: the place of the key, and the place in `ordered`."""
    start, stop = np.searchsorted(ordered, keys, "left"), np.searchsorted(ordered, keys, "right")
    counts = stop - start
    which = np.repeat(np.arange(len(keys)), counts)
    first_of_run = np.repeat(np.cumsum(counts) - counts, counts)
    return which, np.arange(len(which)) - first_of_run + start[which]


def _compare_clusters(found: Whole, gold: Whole) -> ClusterScores:
    cells = _Cells(found, gold)
    found_sizes, gold_sizes = np.bincount(found), np.bincount(gold)
    documents = max(len(found), 1)
    # Each document of a cell shares its cluster with `size` documents of its own kind.
    squares = cells.size.astype(np.float64) ** 2
    return ClusterScores(
        found=int((found_sizes > 1).sum()),
        gold=int((gold_sizes > 1).sum()),
        adjusted_rand=_adjusted_rand(cells.size, found_sizes, gold_sizes),
        precision=float((squares / found_sizes[cells.group]).sum() / documents),
        recall=float((squares / gold_sizes[cells.other]).sum() / documents),
    )


def _adjusted_rand(cells: Whole, found: Whole, gold: Whole) -> float:
    """1 for the same clusters, about 0 for what chance would give."""
    both, ours, theirs = (int(_pairs_in(sizes).sum()) for sizes in (cells, found, gold))
    documents = int(cells.sum())
    every = documents * (documents - 1) // 2
    expected = ours * theirs / every if every else 0.0
    highest = (ours + theirs) / 2
    # Both sides all alone, or both all together: there is no other way to agree.
    return 1.0 if highest == expected else (both - expected) / (highest - expected)


def _bars(found: Linkage, true: Whole) -> list[Bar]:
    return [
        Bar(low=low, high=high, true=part, false=whole - part)
        for low, high, whole, part in _by_similarity(found, true)
    ]


def _recall_bars(gold: Linkage, found: Whole) -> list[RecallBar]:
    return [
        RecallBar(low=low, high=high, gold=whole, found=part)
        for low, high, whole, part in _by_similarity(gold, found)
    ]


def _by_similarity(linkage: Linkage, part: Whole) -> Iterator[tuple[float, float, int, int]]:
    """For each bar from the first that is not empty: its edges, all its pairs, and a part."""
    # The edges are the numbers next to 1/20, 2/20, …, as a threshold is: 0.7 begins a bar.
    edges = np.arange(BARS + 1) / BARS
    bar = np.searchsorted(edges[1:-1], linkage.similarities, "right")
    wholes, parts = _sums(bar, linkage.weights, BARS), _sums(bar, part, BARS)
    used = np.flatnonzero(wholes)
    for i in range(int(used[0]) if len(used) else BARS, BARS):
        yield float(edges[i]), float(edges[i + 1]), int(wholes[i]), int(parts[i])


def _sums(keys: Whole, values: Whole, length: int) -> Whole:
    """Sums by key in whole numbers: `np.bincount` would add floats."""
    sums = np.zeros(length, np.int64)
    np.add.at(sums, keys, values)
    return sums


def _pairs_in(sizes: Whole) -> Whole:
    return sizes * (sizes - 1) // 2


def _packed(a: Whole, b: Whole) -> Whole:
    """Two numbers below 2**31 as one, in their order."""
    return a << 32 | b


def _renumbered(labels: Whole) -> Whole:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _components(first: Whole, second: Whole, count: int) -> Whole:
    a, b = first.astype(np.uint32), second.astype(np.uint32)
    return _kernels.components(np.minimum(a, b), np.maximum(a, b), count).astype(np.int64)


def _share(part: int, whole: int) -> float | None:
    """None where there is nothing to share."""
    return part / whole if whole else None
