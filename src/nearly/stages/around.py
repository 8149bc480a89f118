"""The pairs next to the threshold: the least similar that were found, and the near misses.

Near misses are no pairs of the result, so they have to be looked for: some documents, drawn by
seed, are compared exactly with all others, as for an audit. They are those of the sample alone.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.corpus import Corpus
from nearly.frozen import dataclass
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Pairs
from nearly.progress import Progress
from nearly.stages.search import map_blocks

__all__ = ["Around", "near_misses", "nearest_below"]

#: Documents by number, however many there may be.
Numbers = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Around:
    """Pairs on both sides of the threshold, the nearest to it first; tables like `Found.top`."""

    above: pa.Table  # found, and no exact copies
    below: pa.Table  # near misses of the documents that were searched
    searched: int
    documents: int  # distinct ones with text, from which these were drawn

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "above": self.above.to_pylist(),
            "below": self.below.to_pylist(),
            "searched": self.searched,
            "documents": self.documents,
        }


def near_misses(
    corpus: Corpus, sought: Documents, count: int, *, threads: int, progress: Progress
) -> Pairs:
    """The nearest pairs of a sought representative and any other that miss the threshold."""
    progress.stage("search exactly", len(corpus.representatives))
    measure = corpus.measure
    threshold = measure.threshold(corpus.settings)
    limit = float(threshold)
    index = measure.index(sought, corpus.texts(sought), measure.least_near_miss(threshold))

    def of_block(documents: Documents) -> tuple[Documents, Documents, Nearness]:
        found = index.search(documents, corpus.texts(documents))
        return nearest_below(*_across(found, corpus.old), limit, count)

    found = map_blocks(of_block, corpus, corpus.representatives, threads, progress)
    first, second, nearness = map(np.concatenate, zip(*found, strict=True))
    low, high, nearness = nearest_below(first, second, nearness, limit, count)
    return Pairs(first=low, second=high, nearness=nearness)


def _across(
    found: tuple[Documents, Documents, Nearness], old: int
) -> tuple[Documents, Documents, Nearness]:
    """Pairs across a border, if there is one."""
    first, second, nearness = found
    if not old:
        return found
    met = (first < old) != (second < old)
    return first[met], second[met], nearness[met]


def nearest_below(
    first: Numbers, second: Numbers, nearness: Nearness, limit: float, count: int
) -> tuple[Numbers, Numbers, Nearness]:
    """The nearest pairs below a limit, each once, the nearest first, of equals the first.

    A pair of two sought documents is met from both its ends, so it may be given twice.
    """
    chosen = np.flatnonzero(nearness < limit)
    if len(chosen) > 2 * count:
        least = np.partition(nearness[chosen], -2 * count)[-2 * count]
        chosen = chosen[nearness[chosen] >= least]
    low = np.minimum(first[chosen], second[chosen])
    high = np.maximum(first[chosen], second[chosen])
    order = np.lexsort((high, low, -nearness[chosen]))
    low, high, near = low[order], high[order], nearness[chosen][order]
    is_new = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))[: len(low)]
    return low[is_new][:count], high[is_new][:count], near[is_new][:count]
