"""Bloom filters, said plainly: their size by the thesis's four steps, and nearly's own bit by bit.

After chauhan 4.4. `PlainBloomFilter` is the oracle of the kernel: the same bits for the same keys.
"""

import math
from collections.abc import Iterator

from nearly.textbook.paper import best_bloom_hashes, bloom_false_positive_rate
from nearly.textbook.signature import GOLDEN, WORD, mix

__all__ = ["PlainBloomFilter", "bloom_steps", "number_key"]

#: Bits of a block: all bits of a key lie in one, so that a look-up reads one line of the cache.
BLOCK = 512


def bloom_steps(items: int, error: float) -> Iterator[tuple[int, int, float]]:
    """The four steps to a size (chauhan 4.4): every m that is tried, with its k and its rate.

    1. For a number of items n, 2. a number of bits m is selected, beginning with the least that
    could do; 3. k = (m/n) ln 2, as a whole number; 4. the rate of m and k is calculated, and if it
    is not acceptable, m grows and step 2 is taken again. The last one is acceptable.
    """
    bits = math.ceil(items * -math.log(error) / math.log(2) ** 2)
    while True:
        hashes = max(1, round(best_bloom_hashes(bits, items)))
        rate = bloom_false_positive_rate(bits, items, hashes)
        yield bits, hashes, rate
        if rate <= error:
            return
        bits += max(1, bits // 1000)


def number_key(number: int, seed: int) -> int:
    """The 64 bits that stand for a whole number; other numbers have other keys."""
    return mix(number % WORD ^ mix((seed + GOLDEN) % WORD))


class PlainBloomFilter:
    """A filter of blocks, each a whole number of 512 bits."""

    def __init__(self, blocks: int, hashes: int) -> None:
        self.blocks = [0] * blocks
        self.hashes = hashes

    def add(self, key: int) -> bool:
        """Set the bits of a key; whether it was new."""
        is_new = key not in self
        block, bits = self._bits(key)
        self.blocks[block] |= bits
        return is_new

    def __contains__(self, key: int) -> bool:
        block, bits = self._bits(key)
        return self.blocks[block] & bits == bits

    def _bits(self, key: int) -> tuple[int, int]:
        """Which block, by the upper bits of the key; and its bits there, nine bits a number."""
        block = key * len(self.blocks) >> 64
        bits = 0
        for i in range(self.hashes):
            if i % 7 == 0:
                key = mix((key + GOLDEN) % WORD)
            bits |= 1 << (key >> 9 * (i % 7)) % BLOCK
        return block, bits
