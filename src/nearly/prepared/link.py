"""Links inside of a cluster: those that the run found, and members that it did not link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nearly.arrays import string_array
from nearly.measures.choice import choose_measure
from nearly.measures.pair import Nearness
from nearly.prepared.result import Prepared

__all__ = ["NO_PAIR", "Links", "links_among", "near_misses"]

#: Members of one cluster that are all compared with each other.
MOST_COMPARED: Final = 60
#: Characters of all members together that are compared at once.
MOST_TEXT: Final = 2_000_000
#: In place of a pair: a near miss is not in the result.
NO_PAIR: Final = -1

Whole = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Links:
    """Every two members that are known, by their places among those that are drawn: columns.

    A cluster of two hundred has twenty thousand, so they are no objects.
    """

    a: Whole
    b: Whole
    value: npt.NDArray[np.floating]
    pair: Whole  # of the result, or NO_PAIR

    def __len__(self) -> int:
        return len(self.pair)

    def __add__(self, other: Links) -> Links:
        both = zip(vars(self).values(), vars(other).values(), strict=True)
        return Links(*map(np.concatenate, both))

    def __getitem__(self, chosen: Any) -> Links:
        """Some of them, by a mask or in another order."""
        return Links(*(column[chosen] for column in vars(self).values()))

    def rows(self) -> list[dict[str, Any]]:
        """One by one; `pair` is None for a near miss."""
        columns = {name: column.tolist() for name, column in vars(self).items()}
        columns["pair"] = [None if each == NO_PAIR else each for each in columns["pair"]]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def links_among(prepared: Prepared, pairs: npt.NDArray[np.int32], drawn: Whole) -> Links:
    """Those of some pairs that are between documents which are drawn."""
    ends = [prepared.array(name)[pairs] for name in ("first", "second")]
    inside = np.isin(ends[0], drawn) & np.isin(ends[1], drawn)
    a, b = (np.searchsorted(drawn, column[inside]) for column in ends)
    chosen = pairs[inside]
    return Links(a, b, np.array(prepared.values_of(chosen), np.float64), chosen)


def near_misses(prepared: Prepared, drawn: Whole, found: Links) -> Links | None:
    """Members that are not linked, compared exactly; None where that is too much, or unknown."""
    texts = _texts(prepared, drawn)
    if texts is None:
        return None
    is_linked = np.zeros((len(texts), len(texts)), bool)
    is_linked[found.a, found.b] = is_linked[found.b, found.a] = True
    second, first = (each.astype(np.uint32) for each in np.nonzero(np.tril(~is_linked, -1)))
    values = _compared(prepared, texts, first, second) if len(first) else np.zeros(0)
    return Links(first, second, values, np.full(len(first), NO_PAIR))


def _texts(prepared: Prepared, drawn: Whole) -> list[str] | None:
    settings, source = prepared.found.settings, prepared.found.statistics.source or {}
    is_known = not settings.common and not {"items", "vector"} & set(source)
    if prepared.texts is None or not is_known or len(drawn) > MOST_COMPARED:
        return None
    texts = [prepared.texts.of(document) for document in drawn.tolist()]
    whole = [text for text in texts if text is not None]
    is_small = sum(map(len, whole)) <= MOST_TEXT
    return whole if len(whole) == len(texts) and is_small else None


def _compared(
    prepared: Prepared,
    texts: list[str],
    first: npt.NDArray[np.uint32],
    second: npt.NDArray[np.uint32],
) -> Nearness:
    measure = choose_measure(prepared.found.statistics.measure, prepared.found.settings, None)
    nearness = measure.compare(string_array(texts), first, second, None)
    return measure.shown(np.nan_to_num(nearness, nan=0.0))
