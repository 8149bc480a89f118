"""The exact join finds what comparing all with all finds: no pair more, no pair less."""

import itertools
import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import _kernels
from nearly.measures.pair import Joined, Pairs, order_of, split_pairs
from nearly.measures.set_join import SetBlock, join, memory_of
from nearly.measures.work import ONE_THREAD, Workers

THRESHOLDS = [Fraction(f"0.{i}") for i in range(30, 100, 5)] + [
    Fraction(1, 3),
    Fraction(2, 3),
    Fraction("0.7999999999999999"),
    Fraction(1),
]


def gather(parts: Iterable[Joined]) -> Pairs:
    """All parts of a join as one table, in the order of documents."""
    held = list(parts)
    packed = np.concatenate([np.empty(0, np.uint64), *(part.pairs for part in held)])
    nearness = np.concatenate([np.empty(0), *(part.nearness for part in held)])
    order = order_of(packed)
    first, second = split_pairs(packed[order])
    return Pairs(first=first, second=second, nearness=nearness[order])


def block_of(sets, documents=None):
    numbers = range(len(sets)) if documents is None else documents
    return SetBlock(
        documents=np.array(numbers, np.uint32),
        offsets=np.cumsum([0, *map(len, sets)], dtype=np.int64),
        hashes=np.array([hash_ for each in sets for hash_ in sorted(each)], np.uint64),
    )


def found(sets, threshold, workers=ONE_THREAD):
    return as_dict(gather(join([lambda: block_of(sets)], threshold, workers)))


def as_dict(pairs):
    keys = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    as_found = dict(zip(keys, pairs.nearness.tolist(), strict=True))
    assert len(as_found) == len(pairs), "a pair was found twice"
    return as_found


def brute_force(sets, threshold):
    expected = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2):
        shared, together = len(a & b), len(a | b)
        if shared and Fraction(shared, together) >= threshold:
            expected[i, j] = shared / together
    return expected


def spread(number):
    """A hash with well-mixed bits, as shingles have."""
    number = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    return number ^ number >> 31


def in_one_cell(number):
    return number


def three_in_a_cell(number):
    return (number // 3) << 48 | number


HASHES = [spread, in_one_cell, three_in_a_cell]


@st.composite
def collections_of_sets(draw, most=14):
    """Sets that are often near or equal to each other, among them empty ones."""
    make_hash = draw(st.sampled_from(HASHES))
    numbers = st.integers(0, draw(st.integers(1, 40)))
    sets = draw(st.lists(st.frozensets(numbers, max_size=40), max_size=most))
    for source in draw(st.lists(st.integers(0, most), max_size=most)):
        if source < len(sets):
            changed = draw(st.frozensets(numbers, max_size=3))
            sets.append(sets[source] ^ changed)
    return [{make_hash(number) for number in each} for each in sets]


@given(collections_of_sets(), st.sampled_from(THRESHOLDS))
def test_finds_what_brute_force_finds(sets, threshold):
    assert found(sets, threshold) == brute_force(sets, threshold)


@given(collections_of_sets(), st.sampled_from(THRESHOLDS), st.integers(1, 5))
def test_any_number_of_threads_finds_the_same(sets, threshold, threads):
    with ThreadPoolExecutor(threads) as pool:
        assert found(sets, threshold, Workers(pool.map, threads)) == found(sets, threshold)


@given(collections_of_sets(), st.sampled_from(THRESHOLDS), st.data())
def test_blocks_find_the_same(sets, threshold, data):
    places = data.draw(st.lists(st.integers(0, 3), min_size=len(sets), max_size=len(sets)))
    loads = []
    for place in range(4):
        documents = [i for i in range(len(sets)) if places[i] == place]
        block = block_of([sets[i] for i in documents], documents)
        loads.append(lambda block=block: block)
    in_blocks = as_dict(gather(join(loads, threshold, ONE_THREAD)))
    assert in_blocks == brute_force(sets, threshold)


@pytest.mark.parametrize("threshold", [t for t in THRESHOLDS if t.denominator <= 20], ids=str)
@pytest.mark.parametrize("make_hash", HASHES)
def test_a_pair_exactly_on_the_threshold_is_found_and_one_below_is_not(threshold, make_hash):
    """All shares of what is not shared between the two sides: from even to all on one."""
    numbers = itertools.count()

    def pair(shared, only_first, only_second):
        common = [next(numbers) for _ in range(shared)]
        first = [next(numbers) for _ in range(only_first)]
        second = [next(numbers) for _ in range(only_second)]
        return [{make_hash(n) for n in (*common, *side)} for side in (first, second)]

    on, below = [], []
    for scale in range(1, 8):
        shared = scale * threshold.numerator
        different = scale * threshold.denominator - shared
        for on_first in {0, different // 3, different // 2, different}:
            on += pair(shared, on_first, different - on_first)
            below += pair(shared, on_first, different - on_first + 1)
    pairs = {(i, i + 1): float(threshold) for i in range(0, len(on), 2)}
    assert found(on + below, threshold) == pairs


@pytest.mark.parametrize("threshold", [Fraction("0.3"), Fraction("0.8"), Fraction(1)])
def test_equal_sets_are_all_pairs(threshold):
    sets = [{spread(i) for i in range(30)}] * 50
    every = dict.fromkeys(itertools.combinations(range(50), 2), 1.0)
    assert found(sets, threshold) == every


@pytest.mark.parametrize("threshold", [Fraction("0.3"), Fraction("0.8"), Fraction(1)])
def test_a_huge_set_among_small_ones(threshold):
    huge = {spread(i) for i in range(20_000)}
    parts = [{spread(i) for i in range(size)} for size in (1, 100, 6_000, 15_999, 16_000, 20_000)]
    assert found([*parts, huge], threshold) == brute_force([*parts, huge], threshold)


def test_sets_of_one_shingle_and_empty_sets():
    sets = [{7}, set(), {7}, {8}, set(), {7}]
    assert found(sets, Fraction("0.3")) == {(0, 2): 1.0, (0, 5): 1.0, (2, 5): 1.0}


@pytest.mark.parametrize("sets", [[], [set()], [set(), set()], [{1}]])
def test_nothing_to_find(sets):
    assert found(sets, Fraction("0.3")) == {}


@pytest.mark.parametrize("threshold", [Fraction(f"0.{i}") for i in (3, 5, 7, 8, 9)])
def test_edited_texts(threshold):
    """Long enough for sketches of several widths, with shingles from common to unique."""
    texts = edited_texts(random.Random(5), 250)
    data = "".join(texts).encode()
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    text_bytes = np.frombuffer(data, np.uint8)
    offsets, hashes = _kernels.shingle_sets(
        ends, text_bytes, unit="char", k=4, seed=1, in_order=True
    )
    block = SetBlock(
        documents=np.arange(len(texts), dtype=np.uint32), offsets=offsets, hashes=hashes
    )
    first, second = np.triu_indices(len(texts), 1)
    first, second = first.astype(np.uint32), second.astype(np.uint32)
    similarities = _kernels.similarities(
        offsets, hashes, first, second, threshold.numerator, threshold.denominator
    )
    kept = similarities >= 0
    pairs = gather(join([lambda: block], threshold, Workers(map, 3)))
    assert len(pairs) > 100
    np.testing.assert_array_equal(pairs.first, first[kept])
    np.testing.assert_array_equal(pairs.second, second[kept])
    np.testing.assert_array_equal(pairs.nearness, similarities[kept])


def edited_texts(generator, count):
    words = ["".join(generator.choices("abcdefgh", k=generator.randint(2, 7))) for _ in range(300)]
    texts = []
    for _ in range(count):
        if texts and generator.random() < 0.6:
            chosen = generator.choice(texts).split()
        else:
            chosen = generator.choices(words, k=int(2 ** generator.uniform(2, 8)))
        for _ in range(generator.randint(0, max(1, len(chosen) // 8))):
            chosen[generator.randrange(len(chosen))] = generator.choice(words)
        texts.append(" ".join(chosen))
    return texts


def test_says_how_many_pairs_met_and_how_many_were_verified():
    far, near = [{1, 2, 3, 4, 5, 6}, {1, 2, 3, 7, 8, 9}], [set(range(20, 40)), set(range(21, 40))]
    parts = list(join([lambda: block_of(far + near)], Fraction("0.3"), ONE_THREAD))
    assert sum(part.meetings for part in parts) >= 2
    assert sum(part.verified for part in parts) == sum(len(part.pairs) for part in parts) == 2


def test_blocks_too_different_in_size_are_not_loaded_again():
    loads = []

    def load(name, sets, documents):
        loads.append(name)
        return block_of(sets, documents)

    small = [set(range(10)), set(range(1, 11))]
    large = [set(range(100)), set(range(1, 101))]
    blocks = [lambda: load("small", small, [0, 1]), lambda: load("large", large, [2, 3])]
    pairs = gather(join(blocks, Fraction("0.8"), ONE_THREAD))
    assert list(as_dict(pairs)) == [(0, 1), (2, 3)]
    assert loads == ["small", "large", "small", "large"]


def test_memory_grows_with_all_that_is_held():
    least = memory_of(1000, 100_000, Fraction("0.8"), 1)
    assert least > 8 * 100_000
    for more in [(9000, 100_000, "0.8", 1), (1000, 10**7, "0.8", 1), (1000, 100_000, "0.3", 1)]:
        documents, shingles, threshold, threads = more
        assert memory_of(documents, shingles, Fraction(threshold), threads) > least


def kernel_sets(
    *, cells=1 << 16, rarity=1, numerator=4, denominator=5, offsets=(0, 2), prepare=True
):
    sets = _kernels.JoinSets(
        np.array(offsets, np.int64),
        np.array([1, 2], np.uint64),
        np.full(cells, rarity, np.uint8),
        numerator,
        denominator,
    )
    if prepare:
        sets.prepare(0, len(sets))
    return sets


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cells": 3}, "power of two"),
        ({"rarity": 64}, "cell_rarities"),
        ({"numerator": 0}, "above 0"),
        ({"numerator": 6}, "at most 1"),
        ({"offsets": ()}, "one entry more"),
        ({"offsets": (0, 3)}, "past the hashes"),
        ({"offsets": (0, 2, 1)}, "not descend"),
    ],
)
def test_impossible_sets_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        kernel_sets(**wrong)


def test_a_wrong_use_is_refused_for_it_would_lose_pairs():
    sets = kernel_sets()
    with pytest.raises(ValueError, match="prepare all"):
        _kernels.JoinIndex(kernel_sets(prepare=False), within=True)
    with pytest.raises(ValueError, match="past the documents"):
        sets.prepare(0, 2)
    with pytest.raises(ValueError, match="past the documents"):
        _kernels.JoinIndex(sets, within=True).probe(sets, 1, 2)
    with pytest.raises(ValueError, match="own sets or others"):
        _kernels.JoinIndex(sets, within=True).probe(kernel_sets(), 0, 1)
    with pytest.raises(ValueError, match="same cells and threshold"):
        _kernels.JoinIndex(sets, within=False).probe(kernel_sets(numerator=3), 0, 1)
    with pytest.raises(ValueError, match="1 to 32"):
        _kernels.count_cells(np.array([1], np.uint64), 0)


@given(st.sets(st.tuples(st.integers(0, 2**32 - 2), st.integers(1, 9)), max_size=40), st.booleans())
def test_pairs_are_put_in_order(drawn: set[tuple[int, int]], is_small: bool) -> None:
    """With numbers that fit in a word with their places, and with others."""
    pairs = {(a % 99 if is_small else a, b) for a, b in drawn}
    first = np.array([a for a, _ in pairs], np.uint64)
    second = np.array([min(a + b, 2**32 - 1) for a, b in pairs], np.uint64)
    packed = np.unique(first << np.uint64(32) | second)[::-1].copy()
    assert (packed[order_of(packed)] == np.sort(packed)).all()
