"""What shares enough members with a question: where documents do not meet in buckets."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.index.live import Live
from nearly.index.posting import Poster, overlaps
from nearly.measures.base import Measure, Signed
from nearly.measures.pair import Packed
from nearly.measures.work import Workers

__all__ = ["near_within", "sharing", "sharing_most", "sharing_pairs"]

U32 = npt.NDArray[np.uint32]


def sharing(live: Live, keys: U32, size: int, threshold: Fraction | None) -> tuple[U32, Any]:
    """Contents that may reach the threshold, and the share of the smaller one of both, at most."""
    contents, shared = overlaps(*live.segment.postings(), keys, live.segment.contents)
    smaller = np.minimum(live.segment.take("sizes", contents).astype(np.int64), size)
    ratio = threshold or Fraction(0)
    enough = shared.astype(np.int64) * ratio.denominator >= smaller * ratio.numerator
    stays = np.flatnonzero(enough & ~live.contents.has(contents))
    return contents[stays], shared[stays] / np.maximum(smaller[stays], 1)


def sharing_most(lives: Sequence[Live], keys: U32, size: int, tried: int) -> list[tuple[Live, U32]]:
    """The contents that share most with a question, about as many as are to be tried."""
    found = [(live, *sharing(live, keys, size, None)) for live in lives]
    shares = np.sort(np.concatenate([np.empty(0), *(share for _, _, share in found)]))[::-1]
    least = shares[min(tried, len(shares)) - 1] if len(shares) else 0.0
    return [(live, contents[share >= least]) for live, contents, share in found]


def sharing_pairs(
    poster: Poster,
    live: Live,
    signed: Signed,
    contents: pa.Array,
    threshold: Fraction,
    workers: Workers,
) -> Packed:
    """Questions, and the contents of a segment that may reach the threshold with them."""
    sizes = signed.sizes.tolist()

    def of_one(asked: tuple[int, U32]) -> Packed:
        place, keys = asked
        theirs = sharing(live, keys, sizes[place], threshold)[0]
        return np.uint64(place << 32) | theirs.astype(np.uint64)

    found = workers.map(of_one, enumerate(poster.questions(contents)))
    return np.concatenate([np.empty(0, np.uint64), *found])


def near_within(
    measure: Measure, contents: pa.Array, threshold: Fraction
) -> tuple[U32, U32, npt.NDArray[np.float64]]:
    """Pairs of these contents: the earlier one, the later one, and how near they are."""
    numbers = np.arange(len(contents), dtype=np.uint32)
    first, second, nearness = measure.index(numbers, contents, threshold).search(numbers, contents)
    is_pair = (first < second) & ~np.isnan(nearness)
    return first[is_pair], second[is_pair], nearness[is_pair]
