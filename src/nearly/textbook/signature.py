"""The signature of nearly, bit by bit, in plain Python.

The executable twin of docs/signatures.md, and the oracle of the kernels: whatever computes
signatures anywhere, in whatever language, must give these numbers. Texts are taken as they
stand, already normalised.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from nearly.settings import Unit
from nearly.textbook.paper import words

__all__ = [
    "band_key",
    "drawn_keys",
    "hash_bytes",
    "independent_signature",
    "mix",
    "one_permutation_signature",
    "race_signature",
    "shingle_hashes",
    "sketch",
    "waiting_time",
]

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
WORD_BASE = 0xD6E8FEB86659FD93
HALF = 2**32
OPEN = HALF - 1
ROUNDS = 3


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
    halves = {(x >> 32, x % HALF) for x in hashes}
    key = mix(seed ^ GOLDEN)
    minima = dict.fromkeys(range(positions), OPEN)
    for turn in range(ROUNDS):
        a, b = (1, 1) if turn == 0 else _odd_halves(mix((key + turn) % WORD))
        placed: dict[int, int] = {}
        for upper, lower in halves:
            group = upper * a % HALF * positions >> 32
            placed[group] = min(lower * b % HALF, placed.get(group, OPEN))
        minima |= {i: least for i, least in placed.items() if minima[i] == OPEN}
    for i in range(positions):
        if minima[i] == OPEN:
            factor, term = divmod(mix(key ^ mix(i + 1)), HALF)
            minima[i] = min((lower * (factor | 1) + term) % HALF for _, lower in halves)
    return [_scrambled(minima[i]) for i in range(positions)]


def _odd_halves(x: int) -> tuple[int, int]:
    return x >> 32 | 1, x % HALF | 1


def _scrambled(x: int) -> int:
    x = x * 0x9E3779B1 % HALF
    return x ^ (x >> 15)


def race_signature(weights: Mapping[int, int], positions: int, seed: int) -> list[int]:
    """Position i: the first point that arrives there. A member with hash x sends points at random
    moments, as many in a unit of time as it weighs, each to a random position."""
    first: dict[int, tuple[float, int]] = {}
    end = positions / sum(weights.values())
    while len(first) < positions:
        end *= 2
        first = {}
        for x, weight in sorted(weights.items()):
            for moment, drawn in _points(mix(x ^ start_hash(seed, 0)), weight, end):
                position = (drawn % 2**32 * positions) >> 32
                if moment < first.get(position, (end, 0))[0]:
                    first[position] = moment, drawn
    return [mix(first[i][1]) % 2**32 for i in range(positions)]


def _points(member: int, weight: int, end: float) -> Iterator[tuple[float, int]]:
    """The points of a member up to some moment: when, and 64 random bits."""
    now = 0.0
    while True:
        drawn = mix(member)
        now += waiting_time(drawn) * (1.0 / weight)
        if now >= end:
            return
        yield now, drawn
        member = (member + GOLDEN) % WORD


def waiting_time(bits: int) -> float:
    """-ln of the upper 32 bits and a half, as a share of 2^32: a sum of the series of the inverse
    hyperbolic tangent, which is the same in every floating-point unit."""
    number, power = math.frexp((bits >> 32) + 0.5)
    number, power = number * 2, power - 1
    if number > 1.4142135623730951:
        number, power = number * 0.5, power + 1
    s = (number - 1) / (number + 1)
    square = s * s
    series = 1 + square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9))))
    return (32 - power) * 0.6931471805599453 - 2 * s * series


def band_key(rows: Sequence[int]) -> int:
    """32 bits that say in which bucket of its band a document lies."""
    total = sum((row + 1) * GOLDEN * pow(WORD_BASE, j, WORD) for j, row in enumerate(rows))
    return mix(total % WORD) >> 32


def drawn_keys(hashes: Iterable[int], count: int, seed: int) -> list[int]:
    """Members drawn at random: 32 bits of the least hashes under a seed, least first."""
    start = start_hash(seed, 0)
    return [seeded % 2**32 for seeded in sorted(mix(h ^ start) for h in hashes)[:count]]


def sketch(signature: Sequence[int]) -> list[int]:
    """Two bits of each position, thirty-two positions a word, the first ones lowest."""
    pieces = [signature[i : i + 32] for i in range(0, len(signature), 32)]
    return [sum((p & 3) << (2 * i) for i, p in enumerate(piece)) for piece in pieces]
