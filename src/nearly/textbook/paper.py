"""The source papers' algorithms, as plainly as Python can say them.

For learners, and the oracle of the tests: nothing here is fast, and everything is exact.
Texts are taken as they stand, already normalised. The sources, by the names used below:

azgomi    Azgomi and Mahjur, A Solution for Calculating the False Positive and False
          Negative in LSH Method to Find Similar Documents, 2013
chauhan   Chauhan, Similarity Search Using Locality Sensitive Hashing and Bloom Filter, 2014
kth       Vlassov, Finding Similar Items: Locality Sensitive Hashing (slides of KTH ID2222)
manfredi  Manfredi, Finding Similar Items, 2022
upc       Vilaseca, Lacasa and Martín, Detection of Similarity between Documents with
          Hashing (UPC)
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import combinations
from typing import TypeVar, get_args

from nearly.errors import SettingsError
from nearly.settings import Unit

__all__ = [
    "WHITE_SPACE",
    "agreement",
    "bag",
    "bag_jaccard",
    "best_bloom_hashes",
    "bloom_false_positive_rate",
    "buckets",
    "candidates",
    "components",
    "containment",
    "cosine_distance",
    "document_frequency",
    "edit_distance",
    "hamming_distance",
    "inverse_document_frequency",
    "jaccard",
    "jaccard_distance",
    "leaders",
    "minhash",
    "norm_distance",
    "shingles",
    "signature_by_permutations",
    "signature_steps",
    "signatures_by_hash_functions",
    "similar_pairs",
    "too_common",
    "weighted_jaccard",
    "words",
]

Shingle = str | tuple[str, ...]
Element = TypeVar("Element", bound=Hashable)
Document = TypeVar("Document", bound=Hashable)

#: The Unicode property White_Space. `str.split` also splits at U+001C to U+001F, which lack it.
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


# From text to sets


def words(text: str) -> list[str]:
    """What white space separates."""
    spaced = "".join(" " if character in WHITE_SPACE else character for character in text)
    return [word for word in spaced.split(" ") if word]


def shingles(text: str, unit: Unit, k: int) -> set[Shingle]:
    """Every run of k characters or k words, once (azgomi 3.1, chauhan 1.2.1, upc 6.1.1).

    A document shorter than k is one shingle, the whole of it; an empty one has none.
    """
    return set(_runs(text, unit, k))


def bag(text: str, unit: Unit, k: int) -> Counter[Shingle]:
    """Every run of k characters or k words, with how often it occurs (kth, shingles as a bag)."""
    return Counter(_runs(text, unit, k))


def _runs(text: str, unit: Unit, k: int) -> list[Shingle]:
    if unit not in get_args(Unit):
        raise SettingsError(f"unit is {unit!r}; choose one of {', '.join(get_args(Unit))}")
    if k < 1:
        raise SettingsError(f"k is {k!r}; a shingle has at least 1 {unit}")
    units: Sequence[str] = text if unit == "char" else tuple(words(text))
    if not units:
        return []
    runs = [units[i : i + k] for i in range(max(1, len(units) - k + 1))]
    return [run if isinstance(run, str) else tuple(run) for run in runs]


def document_frequency(documents: Iterable[Set[Element]]) -> Counter[Element]:
    """In how many documents each element is, however often it occurs in one of them."""
    return Counter(element for members in documents for element in members)


def too_common(documents: Sequence[Set[Element]], share: Fraction) -> set[Element]:
    """The elements that are in more than this share of the documents.

    Taken out of every set, they leave what tells documents apart.
    """
    most = share * len(documents)
    return {element for element, count in document_frequency(documents).items() if count > most}


# Similarity of sets


def jaccard(a: Set[Element], b: Set[Element]) -> Fraction:
    """Size of the intersection over size of the union (azgomi, equation 1; chauhan 5.2).

    An empty set is similar to nothing, not even to another empty set.
    """
    union = len(a | b)
    return Fraction(len(a & b), union) if union else Fraction(0)


def containment(a: Set[Element], b: Set[Element]) -> Fraction:
    """The share of `a` that is also in `b`; an empty set is contained in nothing."""
    return Fraction(len(a & b), len(a)) if a else Fraction(0)


def bag_jaccard(a: Counter[Element], b: Counter[Element]) -> Fraction:
    """The same of bags, in which it counts how often an element occurs (kth, shingles as a bag).

    The lesser of both counts, summed over all elements, over the greater of both, summed.
    """
    union = (a | b).total()
    return Fraction((a & b).total(), union) if union else Fraction(0)


def weighted_jaccard(
    a: Counter[Element], b: Counter[Element], weights: Mapping[Element, Fraction]
) -> Fraction:
    """The same, each element with its weight; sets are bags that hold everything once.

    What weighs nothing is as if it were not there.
    """

    def weight(bag: Counter[Element]) -> Fraction:
        return sum((weights[element] * count for element, count in bag.items()), Fraction(0))

    union = weight(a | b)
    return weight(a & b) / union if union else Fraction(0)


def inverse_document_frequency(documents: Sequence[Set[Element]]) -> dict[Element, float]:
    """ln((1 + n) / (1 + count)) + 1: the fewer of n documents have an element, the more it
    weighs (as scikit-learn has it by default)."""
    n = len(documents)
    counts = document_frequency(documents)
    return {element: math.log((1 + n) / (1 + count)) + 1 for element, count in counts.items()}


# Signatures


def minhash(members: Set[Element], order: Sequence[Element]) -> Element:
    """The first member in a permuted order of all elements (azgomi 3.2, upc 4.2)."""
    return next(element for element in order if element in members)


def signature_by_permutations(
    members: Set[Element], permutations: Iterable[Mapping[Element, int]]
) -> list[int]:
    """For each permutation, given as the place of every element, the least place of a member.

    (kth, slides 33-36.) Two sets agree at a place of their signatures with a probability
    that is their Jaccard similarity (upc 4.2.1).
    """
    return [min(place[member] for member in members) for place in permutations]


def signatures_by_hash_functions(
    columns: Mapping[Document, Set[int]], functions: Sequence[Callable[[int], int]]
) -> dict[Document, list[float]]:
    """Hash functions of the row number in place of permutations, row by row.

    (azgomi figure 3, chauhan 5.8, upc 4.2.2.) An empty column keeps its infinities.
    """
    *_, (_, signatures) = signature_steps(columns, functions)
    return signatures


def signature_steps(
    columns: Mapping[Document, Set[int]], functions: Sequence[Callable[[int], int]]
) -> Iterator[tuple[int | None, dict[Document, list[float]]]]:
    """The signature matrix as it fills: all infinity, then after each row that has a 1."""
    signatures = {name: [math.inf] * len(functions) for name in columns}
    yield None, dict(signatures)
    for row in sorted(set().union(*columns.values())):
        hashes = [function(row) for function in functions]
        for name, rows in columns.items():
            if row in rows:
                signatures[name] = [
                    min(pair) for pair in zip(signatures[name], hashes, strict=True)
                ]
        yield row, dict(signatures)


def agreement(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """The share of places where two signatures agree, infinities apart (upc 6.1.2, kth)."""
    equal = sum(x == y != math.inf for x, y in zip(a, b, strict=True))
    return Fraction(equal, len(a))


# Bands, buckets, candidates


def buckets(
    signatures: Mapping[Document, Sequence[float]], bands: int, rows: int
) -> dict[tuple[int, tuple[float, ...]], list[Document]]:
    """Documents by band and by their values in it (azgomi 3.3, chauhan 5.10, upc 5.1).

    An empty document has no values, and goes to no bucket.
    """
    found: defaultdict[tuple[int, tuple[float, ...]], list[Document]] = defaultdict(list)
    for name, signature in signatures.items():
        if len(signature) < bands * rows:
            raise SettingsError(
                f"the signature of {name!r} has {len(signature)} positions, and {bands} bands of "
                f"{rows} rows need {bands * rows}; make it longer, or take fewer bands or rows"
            )
        for band in range(bands):
            values = tuple(signature[band * rows : (band + 1) * rows])
            if math.inf not in values:
                found[band, values].append(name)
    return dict(found)


def candidates(buckets: Iterable[Sequence[Document]]) -> set[tuple[Document, Document]]:
    """Every pair that shares a bucket at least once, in the order of the bucket (upc 6.2)."""
    return {pair for members in buckets for pair in combinations(members, 2)}


# Pairs and clusters


def similar_pairs(
    documents: Sequence[str], threshold: float | Fraction, unit: Unit, k: int
) -> dict[tuple[int, int], Fraction]:
    """Every pair at least as similar as the threshold, by comparing all with all.

    (upc 4.1.1, and manfredi 2.7, which does the same for candidates only.)

    A float stands for the decimal number that it prints as: 0.8 is 4/5, so that a
    similarity of exactly 4/5 is not lost to rounding.
    """
    least = threshold if isinstance(threshold, Fraction) else Fraction(str(threshold))
    sets = [shingles(text, unit, k) for text in documents]
    every = {(i, j): jaccard(sets[i], sets[j]) for i, j in combinations(range(len(sets)), 2)}
    return {pair: similarity for pair, similarity in every.items() if similarity >= least}


def components(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The connected components of a graph of pairs: each sorted, the lowest first."""
    component: dict[int, set[int]] = {}
    for a, b in pairs:
        merged = component.get(a, {a}) | component.get(b, {b})
        component.update(dict.fromkeys(merged, merged))
    return sorted({min(members): sorted(members) for members in component.values()}.values())


def leaders(
    order: Sequence[Document], pairs: Mapping[tuple[Document, Document], Fraction]
) -> dict[Document, Document]:
    """Each document's leader, chosen greedily in the given order.

    A document joins the leader that it is most similar to among those it makes a pair
    with, the earliest where several are; without one it becomes a leader itself.
    """
    similarity = {frozenset(pair): value for pair, value in pairs.items()}
    leader: dict[Document, Document] = {}
    chosen: list[Document] = []
    for document in order:
        near = [head for head in chosen if frozenset((head, document)) in similarity]
        if not near:
            chosen.append(document)
        # max keeps the first of equals: the earliest leader.
        leader[document] = max(
            near, key=lambda head: similarity[frozenset((head, document))], default=document
        )
    return leader


# Bloom filters


def best_bloom_hashes(bits: int, items: int) -> float:
    """k = (m/n) ln 2, the number of hashes that errs least (chauhan 4.4, equation 3)."""
    return bits / items * math.log(2)


def bloom_false_positive_rate(bits: int, items: int, hashes: float) -> float:
    """(1 - e^(-kn/m))^k, the chance that a stranger is taken for a member (chauhan 4.4)."""
    return float((1 - math.exp(-hashes * items / bits)) ** hashes)


# Distances


def jaccard_distance(a: Set[Element], b: Set[Element]) -> Fraction:
    """1 - similarity (chauhan 1.5.1, kth)."""
    return 1 - jaccard(a, b)


def norm_distance(x: Sequence[float], y: Sequence[float], r: float = 2) -> float:
    """The L_r norm: (sum |x_i - y_i|^r)^(1/r) (chauhan 1.5.2, equation 2; kth)."""
    powers = [abs(a - b) ** r for a, b in zip(x, y, strict=True)]
    return float(math.fsum(powers) ** (1 / r))


def cosine_distance(x: Sequence[float], y: Sequence[float]) -> float:
    """The angle between two vectors, 0 to 180 degrees (chauhan 1.5.3, kth)."""
    product = math.fsum(a * b for a, b in zip(x, y, strict=True))
    lengths = math.hypot(*x) * math.hypot(*y)
    if lengths == 0:
        raise ValueError("a vector of length 0 has no direction, and so makes no angle")
    return math.degrees(math.acos(max(-1.0, min(1.0, product / lengths))))


def hamming_distance(x: Sequence[object], y: Sequence[object]) -> int:
    """The number of components that differ (chauhan 1.5.4, kth)."""
    return sum(a != b for a, b in zip(x, y, strict=True))


def edit_distance(x: str, y: str) -> int:
    """The fewest insertions and deletions that make x into y (chauhan 1.5.5, kth).

    It is len(x) + len(y) - 2 len(LCS), where LCS is their longest common subsequence.
    """
    longest = [0] * (len(y) + 1)
    for a in x:
        above = longest
        longest = [0]
        for j, b in enumerate(y):
            longest.append(above[j] + 1 if a == b else max(above[j + 1], longest[j]))
    return len(x) + len(y) - 2 * longest[-1]
