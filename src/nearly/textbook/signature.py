"""The signature of nearly, bit by bit, in plain Python.

The executable twin of docs/signatures.md, and the oracle of the kernels: whatever computes
signatures anywhere, in whatever language, must give these numbers. Texts are taken as they
stand, already normalised.
"""

from collections.abc import Iterable, Sequence, Set

from nearly.settings import Unit
from nearly.textbook.paper import words

__all__ = [
    "band_key",
    "hash_bytes",
    "independent_signature",
    "mix",
    "one_permutation_signature",
    "shingle_hashes",
    "sketch",
]

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
WORD_BASE = 0xD6E8FEB86659FD93
ROUNDS = 3
RANK_BITS = 61


def mix(x: int) -> int:
    """The finaliser of SplitMix64, a bijection on 64 bits."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % WORD
    return x ^ (x >> 31)


def start_hash(seed: int, length: int) -> int:
    """What a hash of something of this length starts from."""
    return mix((seed + GOLDEN) % WORD) ^ (length * WORD_BASE) % WORD


def hash_bytes(seed: int, data: bytes) -> int:
    """Eight bytes at a time, little-endian, the last ones filled up with zeros."""
    value = start_hash(seed, len(data))
    for start in range(0, max(len(data), 1), 8):
        value = mix(value ^ int.from_bytes(data[start : start + 8], "little"))
    return value


def shingle_hashes(text: str, unit: Unit, k: int, seed: int) -> list[int]:
    """The hash of every shingle, in the order of the text; repeats included."""
    if unit == "word":
        return _word_shingle_hashes([hash_bytes(seed, w.encode()) for w in words(text)], k, seed)
    k = min(k, len(text))
    runs = [text[i : i + k] for i in range(len(text) - k + 1)] if text else []
    return [hash_bytes(seed, run.encode()) for run in runs]


def _word_shingle_hashes(hashes: Sequence[int], k: int, seed: int) -> list[int]:
    k = min(k, len(hashes))
    if k == 0:
        return []
    sums = [
        sum(h * pow(WORD_BASE, k - 1 - j, WORD) for j, h in enumerate(hashes[i : i + k])) % WORD
        for i in range(len(hashes) - k + 1)
    ]
    return [mix(start_hash(seed, k) ^ value) for value in sums]


def independent_signature(hashes: Iterable[int], positions: int, seed: int) -> list[int]:
    """Position i: the least a·x + b over all shingle hashes x, mixed, and its low 32 bits."""
    hashes = set(hashes)
    return [_least_of_all(hashes, i, seed) % 2**32 for i in range(positions)]


def _least_of_all(hashes: Set[int], i: int, seed: int) -> int:
    a = mix(seed ^ mix(2 * i + 1)) | 1
    b = mix(seed ^ mix(2 * i + 2))
    return mix(min((a * x + b) % WORD for x in hashes))


def one_permutation_signature(hashes: Iterable[int], positions: int, seed: int) -> list[int]:
    """Position i: the least of those shingles that fall into group i, in the first round in
    which any does; after the last round, the least of all."""
    hashes = set(hashes)
    key = mix(seed ^ GOLDEN)
    minima: dict[int, int] = {}
    for turn in range(ROUNDS):
        placed: dict[int, int] = {}
        for x in hashes:
            y = x if turn == 0 else mix(x ^ mix((key + turn) % WORD))
            group = ((y >> 32) * positions) >> 32
            value = turn << RANK_BITS | y >> (64 - RANK_BITS)
            placed[group] = min(value, placed.get(group, value))
        minima = placed | minima
    for i in range(positions):
        if i not in minima:
            minima[i] = _least_of_all(hashes, i, key)
    return [minima[i] % 2**32 for i in range(positions)]


def band_key(rows: Sequence[int]) -> int:
    """32 bits that say in which bucket of its band a document lies."""
    total = sum((row + 1) * GOLDEN * pow(WORD_BASE, j, WORD) for j, row in enumerate(rows))
    return mix(total % WORD) >> 32


def sketch(signature: Sequence[int]) -> list[int]:
    """Two bits of each position, thirty-two positions a word, the first ones lowest."""
    pieces = [signature[i : i + 32] for i in range(0, len(signature), 32)]
    return [sum((p & 3) << (2 * i) for i, p in enumerate(piece)) for piece in pieces]
