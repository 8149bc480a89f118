"""A result at a glance: counts, similarities, sizes of clusters, who shares most, alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.documents.place import keys
from nearly.view.alarm import alarms
from nearly.view.label import Labels
from nearly.view.result import Result, same_value, value_of

__all__ = ["Bar", "Overview", "Sharer", "bars_of", "overview", "sharers"]

#: Bars to a whole similarity of 1, and bars of distances.
BARS: Final = 50
BARS_OF_DISTANCES: Final = 20
#: Documents that are named as sharing most.
MOST_SHARERS: Final = 10


class Bar(NamedTuple):
    """How many lie from `low` up to, and without, `high`; the last bar has both ends."""

    low: float
    high: float
    total: int


class Sharer(NamedTuple):
    """A document with many pairs."""

    name: str
    pairs: int


@dataclass(frozen=True, kw_only=True)
class Overview:
    """The numbers of a result, and what stands out in them."""

    documents: int
    pairs: int
    clusters: int
    clustered: int  # documents in clusters
    same: int  # pairs that are the same when they are compared
    copies: int
    empty: int
    skipped: int
    value: str  # similarity or distance
    values: tuple[Bar, ...]
    sizes: tuple[Bar, ...]  # of clusters
    sharers: tuple[Sharer, ...]
    alarms: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        for name in ("values", "sizes", "sharers"):
            plain[name] = [each._asdict() for each in plain[name]]
        return plain


def overview(result: Result, labels: Labels) -> Overview:
    """What there is to see of a result."""
    pairs, statistics = result.pairs, result.statistics
    value = value_of(pairs)
    values = pairs[value].to_numpy()
    sizes = np.unique(result.clusters["cluster"].to_numpy(), return_counts=True)[1]
    return Overview(
        documents=statistics.documents,
        pairs=pairs.num_rows,
        clusters=len(sizes),
        clustered=result.clusters.num_rows,
        same=int(np.count_nonzero(values == same_value(result))),
        copies=statistics.copies,
        empty=statistics.empty,
        skipped=statistics.skipped,
        value=value,
        values=bars_of(values, _least(result), is_distance=value == "distance"),
        sizes=tuple(_size_bars(sizes)),
        sharers=tuple(sharers(pairs, labels, MOST_SHARERS)),
        alarms=tuple(alarms(result, sizes)),
    )


def _least(result: Result) -> float:
    return 0.0 if result.settings.within is not None else result.settings.threshold


def bars_of(
    values: npt.NDArray[np.float64], least: float, *, is_distance: bool = False
) -> tuple[Bar, ...]:
    """A histogram: of similarities in fiftieths from the threshold up to 1."""
    if is_distance:
        most = float(values.max(initial=0.0)) or 1.0
        edges = np.linspace(0, most, BARS_OF_DISTANCES + 1)
    else:
        edges = np.arange(min(math.floor(least * BARS), BARS - 1), BARS + 1) / BARS
    counts = np.histogram(values, edges)[0]
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return tuple(Bar(*each) for each in ends)


def _size_bars(sizes: npt.NDArray[np.int64]) -> Iterator[Bar]:
    """One bar for each small size; then 5 to 9, 10 to 19, 20 to 49, 50 to 99 and so on."""
    low = 2
    for high in _size_edges():
        if low > sizes.max(initial=0):
            return
        yield Bar(low, high, int(np.count_nonzero((sizes >= low) & (sizes < high))))
        low = high


def _size_edges() -> Iterator[int]:
    yield from (3, 4, 5)
    step = 10
    while True:
        yield from (step, 2 * step, 5 * step)
        step *= 10


def sharers(pairs: pa.Table, labels: Labels, most: int) -> Iterator[Sharer]:
    """The documents that are in the most pairs, two at least; of equals, those that come first."""
    ends = [keys(pairs, column) for column in ("id_a", "id_b")]
    both = pa.chunked_array([chunk for column in ends for chunk in column.chunks], ends[0].type)
    counted = pc.value_counts(both)
    counts = counted.field("counts").to_numpy()
    values = counted.field("values")
    several = np.flatnonzero(counts > 1)
    for place in several[np.argsort(-counts[several], kind="stable")][:most].tolist():
        row = pc.index(both, values[place]).as_py()
        column = "id_a" if row < pairs.num_rows else "id_b"
        (name,) = labels.of(pairs.slice(row % pairs.num_rows, 1), column)
        yield Sharer(name, int(counts[place]))
