"""The exact join finds what comparing all with all finds: no pair more, no pair less."""

import itertools
import random
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import _kernels
from nearly.documents.spool import TemporaryColumn
from nearly.measures.pair import Joined, Pairs, split_pairs
from nearly.measures.set_join import Least, SetBlock, join, memory_of
from nearly.measures.work import ONE_THREAD, Workers
from nearly.stages.copy import give_back_copies

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
    order = np.argsort(packed)
    first, second = split_pairs(packed[order])
    return Pairs(first=first, second=second, nearness=nearness[order])


def block_of(sets, documents=None):
    numbers = range(len(sets)) if documents is None else documents
    return SetBlock(
        documents=np.array(numbers, np.uint32),
        offsets=np.cumsum([0, *map(len, sets)], dtype=np.int64),
        hashes=np.array([hash_ for each in sets for hash_ in sorted(each)], np.uint64),
    )


def least(threshold, *, of_smaller=False):
    return Least(share=threshold, of_smaller=of_smaller)


def found(sets, threshold, workers=ONE_THREAD, *, of_smaller=False):
    least_share = least(threshold, of_smaller=of_smaller)
    return as_dict(gather(join([lambda: block_of(sets)], least_share, workers)))


def as_dict(pairs):
    keys = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    as_found = dict(zip(keys, pairs.nearness.tolist(), strict=True))
    assert len(as_found) == len(pairs), "a pair was found twice"
    return as_found


def brute_force(sets, threshold, *, of_smaller=False):
    expected = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2):
        shared, whole = len(a & b), min(len(a), len(b)) if of_smaller else len(a | b)
        if shared and Fraction(shared, whole) >= threshold:
            expected[i, j] = shared / whole
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


@given(collections_of_sets(), st.sampled_from(THRESHOLDS), st.booleans())
def test_finds_what_brute_force_finds(sets, threshold, of_smaller):
    expected = brute_force(sets, threshold, of_smaller=of_smaller)
    assert found(sets, threshold, of_smaller=of_smaller) == expected


@given(collections_of_sets(), st.sampled_from(THRESHOLDS), st.integers(1, 5))
def test_any_number_of_threads_finds_the_same(sets, threshold, threads):
    with ThreadPoolExecutor(threads) as pool:
        assert found(sets, threshold, Workers(pool.map, threads)) == found(sets, threshold)


@given(
    collections_of_sets(), st.sampled_from(THRESHOLDS), st.booleans(), st.integers(1, 9), st.data()
)
def test_blocks_find_the_same(sets, threshold, of_smaller, blocks, data):
    """One block, some that are indexed together, and more than that."""
    place = st.integers(0, blocks - 1)
    places = data.draw(st.lists(place, min_size=len(sets), max_size=len(sets)))
    loads = []
    for place in range(blocks):
        documents = [i for i in range(len(sets)) if places[i] == place]
        block = block_of([sets[i] for i in documents], documents)
        loads.append(lambda block=block: block)
    least_share = least(threshold, of_smaller=of_smaller)
    in_blocks = as_dict(gather(join(loads, least_share, ONE_THREAD)))
    assert in_blocks == brute_force(sets, threshold, of_smaller=of_smaller)


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
    for of_smaller in (False, True):
        expected = brute_force([*parts, huge], threshold, of_smaller=of_smaller)
        assert found([*parts, huge], threshold, of_smaller=of_smaller) == expected


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
    pairs = gather(join([lambda: block], least(threshold), Workers(map, 3)))
    assert len(pairs) > 100
    np.testing.assert_array_equal(pairs.first, first[kept])
    np.testing.assert_array_equal(pairs.second, second[kept])
    np.testing.assert_array_equal(pairs.nearness, similarities[kept])


@pytest.mark.parametrize("make_hash", HASHES[::2])
def test_sets_with_a_common_header(make_hash):
    """Near the threshold on both sides; what hardly shares more than the header is not verified."""
    draw = random.Random(3)
    sets = []
    for _ in range(300):
        own = draw.choice(sets) if sets and draw.random() < 0.3 else frozenset()
        own = {number for number in own if draw.random() < 0.8}
        sets.append(frozenset(own | set(draw.sample(range(3_000), draw.randint(0, 30)))))
    with_header = [{make_hash(n) for n in each | set(range(3_000, 3_080))} for each in sets]
    threshold = Fraction("0.8")
    expected = brute_force(with_header, threshold)
    assert 100 < len(expected) < 20_000
    assert sum(similarity < 0.82 for similarity in expected.values()) > 20
    parts = list(join([lambda: block_of(with_header)], least(threshold), ONE_THREAD))
    assert as_dict(gather(parts)) == expected
    wasted = sum(part.verified for part in parts) - len(expected)
    assert wasted < len(expected) / 2


def test_a_header_that_a_few_shingles_more_would_reach():
    """Prefixes end before the header here, if only just: nobody meets everybody there."""
    draw = random.Random(4)
    header = {spread(n) for n in range(40)}
    sets = [
        header | {spread(n) for n in draw.sample(range(40, 5_000), draw.randint(6, 20))}
        for _ in range(400)
    ]
    sets += [each - {max(each - header)} for each in sets[::20]]
    expected = brute_force(sets, Fraction("0.8"))
    assert len(expected) >= 20
    parts = list(join([lambda: block_of(sets)], least(Fraction("0.8")), ONE_THREAD))
    assert as_dict(gather(parts)) == expected
    assert sum(part.meetings for part in parts) < 5_000


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
    parts = list(join([lambda: block_of(far + near)], least(Fraction("0.3")), ONE_THREAD))
    assert sum(part.meetings for part in parts) >= 2
    assert sum(part.verified for part in parts) == sum(len(part.pairs) for part in parts) == 2


def blocks_of(sets, count):
    """Blocks that may be loaded once."""
    cuts = [len(sets) * i // count for i in range(count + 1)]
    for start, stop in itertools.pairwise(cuts):
        once = iter([block_of(sets[start:stop], range(start, stop))])
        yield lambda once=once: next(once)


def test_sets_of_several_blocks_are_made_once_and_put_aside(tmp_path):
    draw = random.Random(6)
    sets = [{spread(n) for n in draw.sample(range(100), 40)} for _ in range(60)]
    expected = brute_force(sets, Fraction("0.3"))
    assert len(expected) > 20
    columns = []

    def column():
        columns.append(TemporaryColumn(tmp_path, np.uint64))
        return columns[-1]

    for room in (sys.maxsize, 1):
        workers = Workers(map, 2, room, column)
        parts = join(list(blocks_of(sets, 11)), least(Fraction("0.3")), workers)
        assert as_dict(gather(parts)) == expected
        assert columns.pop().shown().tolist() == [n for each in sets for n in sorted(each)]
        assert not columns


def test_blocks_too_different_in_size_are_not_compared(monkeypatch):
    monkeypatch.setattr("nearly.measures.set_join.INDEXED", 1)
    sets = [set(range(10)), set(range(1, 11)), set(range(100)), set(range(1, 101))]
    parts = list(join(list(blocks_of(sets, 2)), least(Fraction("0.8")), Workers(map, 1)))
    assert list(as_dict(gather(parts))) == [(0, 1), (2, 3)]
    assert len(parts) == 4, "each block with itself, in two parts"


def test_memory_grows_with_all_that_is_held():
    usual = memory_of(1000, 100_000, least(Fraction("0.8")), 1)
    assert usual > 8 * 100_000
    for more in [(9000, 100_000, "0.8", 1), (1000, 10**7, "0.8", 1), (1000, 100_000, "0.3", 1)]:
        documents, shingles, threshold, threads = more
        assert memory_of(documents, shingles, least(Fraction(threshold)), threads) > usual
    whole = memory_of(1000, 100_000, least(Fraction("0.8"), of_smaller=True), 1)
    assert whole > usual, "of containment, a whole set is looked up"


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


def built(sets, *, within, parts=1):
    index = _kernels.JoinIndex(sets, within, parts)
    for step in (index.sort, index.write):
        for part in range(parts):
            step(part)
    return index


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
        _kernels.JoinIndex(kernel_sets(prepare=False), True, 1)
    with pytest.raises(ValueError, match="past the documents"):
        sets.prepare(0, 2)
    with pytest.raises(ValueError, match="past the documents"):
        built(sets, within=True).probe(sets, 1, 2)
    with pytest.raises(ValueError, match="own sets or others"):
        built(sets, within=True).probe(kernel_sets(), 0, 1)
    with pytest.raises(ValueError, match="same cells and threshold"):
        built(sets, within=False).probe(kernel_sets(numerator=3), 0, 1)
    with pytest.raises(ValueError, match="one part at least"):
        _kernels.JoinIndex(sets, True, 0)
    index = _kernels.JoinIndex(sets, True, 2)
    with pytest.raises(ValueError, match="no such part"):
        index.sort(2)
    index.sort(0)
    with pytest.raises(ValueError, match="sort all parts"):
        index.write(0)
    index.sort(1)
    index.write(1)
    with pytest.raises(ValueError, match="write all parts"):
        index.probe(sets, 0, 1)
    with pytest.raises(ValueError, match="1 to 32"):
        _kernels.count_cells(np.array([1], np.uint64), 0)


@given(st.sets(st.tuples(st.integers(0, 2**32 - 2), st.integers(1, 9)), max_size=40), st.booleans())
def test_pairs_are_put_in_order_with_their_values(
    drawn: set[tuple[int, int]], is_small: bool
) -> None:
    """With numbers of few bits, and of all."""
    pairs = {(a % 99 if is_small else a, b) for a, b in drawn}
    first = np.array([a for a, _ in pairs], np.uint64)
    second = np.array([min(a + b, 2**32 - 1) for a, b in pairs], np.uint64)
    packed = np.random.default_rng(1).permutation(np.unique(first << np.uint64(32) | second))
    in_order, values = _kernels.sort_pairs(packed, np.arange(len(packed), dtype=float))
    assert in_order.tolist() == sorted(packed.tolist())
    assert packed[values.astype(int)].tolist() == in_order.tolist()


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=2), min_size=1, max_size=12), st.integers(1, 60)
)
def test_copies_get_the_pairs_of_their_originals(drawn: list[list[int]], cut: int) -> None:
    """Of any groups, in pieces of any size, against a plain product of both groups."""
    members: list[list[int]] = []
    count = len(drawn)
    for i, sizes in enumerate(drawn):
        members.append([i, *range(count, count + sum(sizes))])
        count += sum(sizes)
    copies = [(copy, group[0]) for group in members for copy in group[1:]]
    near = {
        (a, b): 0.5 + a / 100 for a, b in itertools.combinations(range(len(drawn)), 2) if a + b < 9
    }
    expected = {
        (min(x, y), max(x, y)): value
        for (a, b), value in near.items()
        for x, y in itertools.product(members[a], members[b])
    }
    for group in members:
        expected |= dict.fromkeys(itertools.combinations(group, 2), 1.0)
    pairs = Pairs(
        first=np.array([a for a, _ in near], np.uint32),
        second=np.array([b for _, b in near], np.uint32),
        nearness=np.array(list(near.values()), float),
    )
    columns = (np.array([pair[side] for pair in copies], np.uint32) for side in (0, 1))
    with patch("nearly.stages.copy.PART", cut):
        found = give_back_copies(pairs, *columns, 1.0, all_pairs=True)
    ends = zip(found.first.tolist(), found.second.tolist(), strict=True)
    assert list(ends) == sorted(expected)
    assert dict(zip(sorted(expected), found.nearness.tolist(), strict=True)) == expected
