"""Near-duplicates by plain map and reduce over RDDs, after Manfredi (2022).

Our own code for the pipeline of "Finding Similar Items" (S. Manfredi, July 2022, sections 2 to
4): exact copies are dropped, every shingle becomes a record, shingles fall into as many groups
as there are bands, one group's least values under a few functions are that band, bands are
joined with themselves by the hash of their values written out, and candidates are checked by
Jaccard on their texts. Text is taken as it stands, so that all contenders have the same truth.
"""

import random
from itertools import count
from math import isqrt

from pyspark import RDD

FUNCTIONS = 100
#: Of all bands and rows with 100 functions, the threshold 0.8 lies nearest to (1/b)^(1/r) here.
BANDS = 10
ROWS = FUNCTIONS // BANDS
BASE = 31
MODULUS = 10**9 + 7
SEED = 42

Document = tuple[str, str]  # id, text
Pair = tuple[str, str]  # two ids
Band = tuple[tuple[str, int], list[int]]  # of a document and group: its least values
Permutation = tuple[int, int, int]


def near_pairs(documents: "RDD[Document]", k: int, threshold: float) -> list[Pair]:
    """Pairs of ids, of one document a text, whose sets reach the threshold."""
    texts = drop_copies(documents).cache()
    shingles = texts.flatMapValues(lambda text: {rolling_hash(s) for s in cut(text, k)}).cache()
    permutations = draw_permutations(shingles.values().distinct().count())
    pairs = candidates(hash_bands(sign(shingles, permutations)))
    try:
        return check(pairs, texts, k, threshold).collect()
    finally:
        shingles.unpersist()
        texts.unpersist()


def drop_copies(documents: "RDD[Document]") -> "RDD[Document]":
    """One document of each text, by the hash of the whole."""
    by_hash = documents.map(lambda document: (rolling_hash(document[1]), document))
    return by_hash.reduceByKey(min).values()


def cut(text: str, k: int) -> set[str]:
    """The text's shingles; a shorter text is one."""
    return {text[i : i + k] for i in range(max(len(text) - k + 1, 1))}


def rolling_hash(text: str) -> int:
    """Characters as digits of a number, the first the least, by Horner's rule."""
    value = 0
    for character in reversed(text):
        value = (value * BASE + ord(character)) % MODULUS
    return value


def draw_permutations(distinct: int) -> list[Permutation]:
    """One function a row, `(a * x + b) mod p`, over the first prime past the distinct shingles."""
    draw = random.Random(SEED)
    prime = next(n for n in count(max(distinct, 2)) if is_prime(n))
    return [(draw.randrange(1, prime), draw.randrange(prime), prime) for _ in range(ROWS)]


def is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, isqrt(number) + 1))


def sign(shingles: "RDD[tuple[str, int]]", permutations: list[Permutation]) -> "RDD[Band]":
    """The least value of every function, by document and group of shingles."""
    values = shingles.map(
        lambda pair: (
            (pair[0], pair[1] % BANDS),
            [(a * pair[1] + b) % prime for a, b, prime in permutations],
        )
    )
    return values.reduceByKey(lambda left, right: list(map(min, left, right)))


def hash_bands(
    signatures: "RDD[Band]",
) -> "RDD[tuple[tuple[int, int], str]]":
    """Bands as keys: the values are written out in a row, and the string is hashed."""
    return signatures.map(
        lambda band: ((band[0][1], rolling_hash("".join(map(str, band[1])))), band[0][0])
    )


def candidates(bands: "RDD[tuple[tuple[int, int], str]]") -> "RDD[Pair]":
    """The bands joined with themselves, one triangle of it, each pair once."""
    met = bands.join(bands).values().filter(lambda pair: pair[0] < pair[1])
    return met.map(lambda pair: (pair, None)).reduceByKey(lambda left, _: left).keys()


def check(pairs: "RDD[Pair]", texts: "RDD[Document]", k: int, threshold: float) -> "RDD[Pair]":
    """The candidates that are pairs: both texts are fetched by a join, and compared."""
    with_first = pairs.join(texts).map(lambda met: (met[1][0], (met[0], met[1][1])))
    with_both = with_first.join(texts).map(
        lambda met: ((met[1][0][0], met[0]), (met[1][0][1], met[1][1]))
    )
    return with_both.filter(lambda met: jaccard(*met[1], k) >= threshold).keys()


def jaccard(a: str, b: str, k: int) -> float:
    """What the two sets of shingles share, out of what they have together."""
    left, right = cut(a, k), cut(b, k)
    return len(left & right) / len(left | right)
