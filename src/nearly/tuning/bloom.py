"""The mathematics of Bloom filters in blocks: how many bits hold an error, and the reverse.

The number of bits that a value sets comes from the four steps of chauhan 4.4. A filter whose bits
lie in blocks of 512 needs more of them than the thesis says, because some blocks get more values
than others: 4% more for an error of 1%, 38% more for one in a million. No data is touched.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

from nearly.errors import SettingsError
from nearly.textbook.bloom import BLOCK, bloom_steps

__all__ = ["BLOCK_BYTES", "BloomSize", "blocked_rate", "error_of_each"]

BLOCK_BYTES: Final = BLOCK // 8
#: Below this, blocks of 512 bits take more than twice the bits of a plain filter.
LEAST_ERROR: Final = 1e-9
MOST_ITEMS: Final = 10**15


@dataclass(frozen=True, kw_only=True)
class BloomSize:
    """How large a filter is: `hashes` bits for each of `items` values, in `blocks` of 512."""

    items: int
    error: float
    blocks: int
    hashes: int

    @classmethod
    def of(cls, items: int, error: float) -> Self:
        """The smallest filter that takes this many values with at most this error."""
        check_items(items)
        check_error(error)
        load, hashes = _load(error)
        return cls(items=items, error=error, blocks=math.ceil(items / load), hashes=hashes)

    @classmethod
    def filling(cls, memory: int, error: float) -> Self:
        """The filter of this many bytes that takes the most values with at most this error."""
        check_error(error)
        load, hashes = _load(error)
        blocks = memory // BLOCK_BYTES
        items = math.floor(blocks * load)
        if items < 1:
            raise SettingsError(
                f"{memory:,} bytes hold not one value with an error of {error:g}; give more memory"
            )
        return cls(items=items, error=error, blocks=blocks, hashes=hashes)

    @classmethod
    def within(cls, memory: int, items: int) -> Self:
        """The filter of at most this many bytes that errs least with this many values."""
        check_items(items)
        blocks = max(1, memory // BLOCK_BYTES)
        load = items / blocks
        most = max(1, min(round(BLOCK / load * math.log(2)), 40))
        error, hashes = min((blocked_rate(load, k), k) for k in range(1, most + 1))
        return cls(items=items, error=max(error, 1e-300), blocks=blocks, hashes=hashes)

    @property
    def bits(self) -> int:
        """The thesis's m."""
        return self.blocks * BLOCK

    @property
    def bytes(self) -> int:
        """Memory."""
        return self.blocks * BLOCK_BYTES

    def rate(self, items: int) -> float:
        """The error once this many values are in."""
        return blocked_rate(items / self.blocks, self.hashes)


def error_of_each(error: float, filters: int) -> float:
    """The error that each of several filters may have, if all together may have `error`."""
    return -math.expm1(math.log1p(-error) / filters)


def blocked_rate(load: float, hashes: int) -> float:
    """The chance that a stranger is taken for a member, with `load` values a block on average.

    How many values a block has is Poisson's; what a block with i of them says of a stranger, the
    thesis's formula with one block's bits for m, but with the variance of its bits that are set.
    """
    if load == 0:
        return 0.0
    spread = 12 * math.sqrt(load) + 30
    first, last = max(1, math.floor(load - spread)), math.ceil(load + spread)
    chances = (_poisson(i, load) * _rate_of_block(i * hashes, hashes) for i in range(first, last))
    return min(math.fsum(chances), 1 - 1e-12)  # below 1, for whoever takes its logarithm


def _poisson(i: int, mean: float) -> float:
    return math.exp(i * math.log(mean) - mean - math.lgamma(i + 1))


def _rate_of_block(throws: int, hashes: int) -> float:
    clear = (1 - 1 / BLOCK) ** throws  # the chance that a bit is still 0
    both_clear = (1 - 2 / BLOCK) ** throws
    set_share = 1 - clear
    variance = max(0.0, both_clear * (1 - 1 / BLOCK) + clear / BLOCK - clear**2)
    spread = hashes * (hashes - 1) / 2 * variance / set_share**2
    return min(1.0, math.exp(hashes * math.log(set_share) + spread))


@lru_cache(maxsize=64)
def _load(error: float) -> tuple[float, int]:
    """The most values a block that hold the error, and the hashes of the thesis's four steps."""
    *_, (_, hashes, _) = bloom_steps(10**6, error)
    low, high = 0.0, float(BLOCK)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if blocked_rate(middle, hashes) <= error:
            low = middle
        else:
            high = middle
    return low, hashes


def check_items(items: object) -> None:
    """Refuse a number of values that no filter is for."""
    if isinstance(items, bool) or not isinstance(items, int) or not 1 <= items <= MOST_ITEMS:
        raise SettingsError(
            f"the number of values is {items!r}; give a whole number from 1 to {MOST_ITEMS:,}"
        )


def check_error(error: object) -> None:
    """Refuse an error that no filter can hold."""
    if not isinstance(error, float) or not LEAST_ERROR <= error < 1:
        raise SettingsError(
            f"error is {error!r}; give a chance from {LEAST_ERROR:g} to below 1, for example 0.01"
        )
