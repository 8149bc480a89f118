"""Every worked example of the source papers, and the laws that have no example."""

import json
import math
import re
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import textbook
from nearly.errors import SettingsError

EXAMPLES = json.loads((Path(__file__).parent / "data" / "examples.json").read_text("utf-8"))
SETS = st.frozensets(st.integers(0, 12))
TEXTS = st.text(alphabet="ab \u3000\x1c\n", max_size=12)


def named_by_source(examples):
    return [pytest.param(example, id=example["source"]) for example in examples]


def as_shingle(text, unit):
    return text if unit == "char" else tuple(text.split(" "))


def hash_function(formula):
    """'(3x+1) mod 5' as a function."""
    factor, term, modulus = re.fullmatch(r"\((\d*)x\+(\d+)\) mod (\d+)", formula).groups()
    return lambda x: (int(factor or 1) * x + int(term)) % int(modulus)


# Worked examples


@pytest.mark.parametrize("example", named_by_source(EXAMPLES["shingles"]))
def test_shingles_of_the_papers(example):
    unit, k = example["unit"], example["k"]
    found = textbook.shingles(example["text"], unit, k)
    if "expect" in example:
        assert found == {as_shingle(text, unit) for text in example["expect"]}
    if "expect_bag" in example:
        assert textbook.bag(example["text"], unit, k) == example["expect_bag"]
    if "expect_only_in_text" in example:
        other = textbook.shingles(example["other"], unit, k)
        assert found - other == set(example["expect_only_in_text"])


@pytest.mark.parametrize("example", named_by_source(EXAMPLES["jaccard"]))
def test_jaccard_of_the_papers(example):
    if "set_a" in example:
        a, b = set(example["set_a"]), set(example["set_b"])
    else:
        a, b = (textbook.shingles(example[x], example["unit"], example["k"]) for x in "ab")
    assert [len(a & b), len(a | b)] == example["expect"]
    assert textbook.jaccard(a, b) == Fraction(*example["expect"])
    assert textbook.jaccard_distance(a, b) == 1 - Fraction(*example["expect"])


@pytest.mark.parametrize("example", named_by_source(EXAMPLES["minhash_by_hash_functions"]))
def test_signatures_by_hash_functions_of_the_papers(example):
    columns = {name: set(rows) for name, rows in example["sets"].items()}
    functions = [hash_function(formula) for formula in example["functions"]]
    assert textbook.signatures_by_hash_functions(columns, functions) == example["expect"]


ORDERS = [e for e in EXAMPLES["minhash_by_permutations"] if "order" in e]
PLACES = [e for e in EXAMPLES["minhash_by_permutations"] if "row_positions" in e]


@pytest.mark.parametrize("example", named_by_source(ORDERS))
def test_minhash_of_the_papers(example):
    assert sorted(example["order"]) == sorted(example["universe"])
    sets = {name: set(members) for name, members in example["sets"].items()}
    found = {name: textbook.minhash(members, example["order"]) for name, members in sets.items()}
    assert found == example["expect"]


@pytest.mark.parametrize("example", named_by_source(PLACES))
def test_signatures_by_permutations_of_the_papers(example):
    columns = {name: set(rows) for name, rows in example["columns"].items()}
    places = [dict(enumerate(positions, start=1)) for positions in example["row_positions"]]
    signatures = {
        name: textbook.signature_by_permutations(rows, places) for name, rows in columns.items()
    }
    by_permutation = [list(values) for values in zip(*signatures.values(), strict=True)]
    assert by_permutation == example["expect"]
    for pair, expect in example["similarities"].items():
        a, b = pair.split(",")
        of_columns = textbook.jaccard(columns[a], columns[b])
        of_signatures = textbook.agreement(signatures[a], signatures[b])
        assert float(of_columns) == pytest.approx(expect["columns"], abs=5e-5)
        assert float(of_signatures) == pytest.approx(expect["signatures"], abs=5e-5)


def test_every_example_of_permutations_is_used():
    assert len(ORDERS) + len(PLACES) == len(EXAMPLES["minhash_by_permutations"])


def test_bloom_filter_of_the_papers():
    """The formulae as printed, and what they come to for ten bits an item."""
    assert EXAMPLES["bloom"]["best_hashes"] == "k = (m/n) ln 2"
    assert EXAMPLES["bloom"]["false_positive_rate"] == "(1 - e^(-kn/m))^k"
    assert textbook.best_bloom_hashes(bits=1000, items=100) == pytest.approx(6.931472)
    assert textbook.bloom_false_positive_rate(1000, 100, 7) == pytest.approx(0.008193722)


@given(bits=st.integers(1, 10_000), items=st.integers(1, 1000), other=st.floats(0.1, 50))
def test_no_other_number_of_hashes_errs_less(bits, items, other):
    best = textbook.best_bloom_hashes(bits, items)
    least = textbook.bloom_false_positive_rate(bits, items, best)
    assert least <= textbook.bloom_false_positive_rate(bits, items, other) * (1 + 1e-9)


DISTANCES = {
    "L_r norm": [
        (textbook.norm_distance, ([0, 0], [3, 4]), 5.0),
        (textbook.norm_distance, ([0, 0], [3, 4], 1), 7.0),
        (textbook.norm_distance, ([1, 1, 1], [2, 2, 2], 3), 3 ** (1 / 3)),
    ],
    "cosine": [
        (textbook.cosine_distance, ([1, 0], [0, 5]), 90.0),
        (textbook.cosine_distance, ([1, 2, -1], [2, 1, 1]), 60.0),
        (textbook.cosine_distance, ([1, 1], [-2, -2]), 180.0),
        (textbook.cosine_distance, ([0.1, 0.2, 0.3], [0.2, 0.4, 0.6]), 0.0),
    ],
    "edit": [
        (textbook.edit_distance, ("abcde", "bcduve"), 3),
        (textbook.edit_distance, ("abc", ""), 3),
        (textbook.edit_distance, ("same", "same"), 0),
        (textbook.edit_distance, ("ab", "ba"), 2),
    ],
    "hamming": [
        (textbook.hamming_distance, ([1, 0, 1, 0, 1], [1, 1, 1, 1, 0]), 3),
        (textbook.hamming_distance, ([], []), 0),
    ],
}


@pytest.mark.parametrize("name", [example["name"] for example in EXAMPLES["distances"]])
def test_distances_of_the_papers(name):
    for distance, arguments, expect in DISTANCES[name]:
        assert distance(*arguments) == pytest.approx(expect, abs=1e-5)


# Text


def test_words_end_at_the_white_space_of_unicode_and_nowhere_else():
    assert textbook.words(" a\u3000b\u2028c\x85 d\n") == ["a", "b", "c", "d"]
    assert textbook.words("a\x1cb\x1fc\u200bd") == ["a\x1cb\x1fc\u200bd"]


def test_a_short_document_is_one_shingle_and_an_empty_one_has_none():
    assert textbook.shingles("ab", "char", 5) == {"ab"}
    assert textbook.shingles("to be", "word", 3) == {("to", "be")}
    assert textbook.shingles("", "char", 5) == set()
    assert textbook.shingles(" \n", "word", 1) == set()


@given(text=TEXTS, unit=st.sampled_from(["char", "word"]), k=st.integers(1, 6))
def test_a_bag_counts_every_run_of_k(text, unit, k):
    length = len(text) if unit == "char" else len(textbook.words(text))
    counted = textbook.bag(text, unit, k)
    assert counted.total() == (max(1, length - k + 1) if length else 0)
    assert set(counted) == textbook.shingles(text, unit, k)


# Sets and signatures


@given(a=SETS, b=SETS)
def test_jaccard_and_containment_agree(a, b):
    similarity = textbook.jaccard(a, b)
    assert similarity == textbook.jaccard(b, a)
    assert 0 <= similarity <= 1
    assert (similarity == 1) == (a == b and bool(a))
    assert textbook.containment(a, b) * len(a) == similarity * len(a | b)


def test_an_empty_set_is_similar_to_nothing():
    assert textbook.jaccard(set(), set()) == 0
    assert textbook.containment(set(), {1}) == 0


def test_over_all_permutations_agreement_is_jaccard():
    """upc 4.2.1, not as an estimate: every order of five elements, each once."""
    a, b = {0, 1, 2}, {1, 2, 4}
    places = [dict(enumerate(order)) for order in permutations(range(5))]
    signatures = [textbook.signature_by_permutations(x, places) for x in (a, b)]
    assert textbook.agreement(*signatures) == textbook.jaccard(a, b) == Fraction(2, 4)


@given(st.dictionaries(st.sampled_from("abcd"), SETS, min_size=1))
def test_row_wise_signatures_are_the_least_hash_of_each_column(columns):
    functions = [hash_function("(x+1) mod 13"), hash_function("(3x+5) mod 13")]
    found = textbook.signatures_by_hash_functions(columns, functions)
    for name, rows in columns.items():
        assert found[name] == [min(map(f, rows), default=math.inf) for f in functions]


def test_infinities_do_not_agree():
    assert textbook.agreement([math.inf, 1, 2], [math.inf, 1, 3]) == Fraction(1, 3)


def test_candidates_share_a_band():
    """azgomi figure 6: equal in one band is enough, equal across bands is not."""
    signatures = {
        "a": [0, 2, 1, 9, 9, 9],
        "b": [0, 2, 1, 8, 8, 8],
        "c": [9, 9, 9, 0, 2, 1],
        "empty": [math.inf] * 6,
        "void": [math.inf] * 6,
    }
    found = textbook.buckets(signatures, bands=2, rows=3)
    assert found[0, (0, 2, 1)] == ["a", "b"]
    assert textbook.candidates(found.values()) == {("a", "b")}


# Pairs and clusters


def test_a_similarity_exactly_on_the_threshold_is_a_pair():
    documents = ["abcd", "abcde", "", ""]
    assert textbook.similar_pairs(documents, 0.8, "char", 1) == {(0, 1): Fraction(4, 5)}
    assert textbook.similar_pairs(documents, Fraction(4, 5), "char", 1).keys() == {(0, 1)}
    assert textbook.similar_pairs(documents, 0.81, "char", 1) == {}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(9, 16)), max_size=12))
def test_components_are_closed_and_connected(pairs):
    found = textbook.components(pairs)
    members = [member for component in found for member in component]
    assert sorted(members) == sorted({end for pair in pairs for end in pair})
    assert found == sorted(sorted(component) for component in found)
    home = {member: i for i, component in enumerate(found) for member in component}
    assert all(home[a] == home[b] for a, b in pairs)
    for component in found:
        reached = {component[0]}
        for _ in component:
            reached |= {end for pair in pairs if reached & set(pair) for end in pair}
        assert reached == set(component)


def test_a_chain_is_one_component_but_not_one_leader():
    pairs = {(0, 1): Fraction(9, 10), (1, 2): Fraction(9, 10)}
    assert textbook.components(pairs) == [[0, 1, 2]]
    assert textbook.leaders([0, 1, 2], pairs) == {0: 0, 1: 0, 2: 2}
    assert textbook.leaders([1, 0, 2], pairs) == {1: 1, 0: 1, 2: 1}


def test_the_most_similar_leader_wins_and_then_the_earliest():
    pairs = {(0, 2): Fraction(8, 10), (1, 2): Fraction(9, 10), (0, 3): Fraction(8, 10)}
    pairs[1, 3] = Fraction(8, 10)
    assert textbook.leaders([0, 1, 2, 3], pairs) == {0: 0, 1: 1, 2: 1, 3: 0}
    assert textbook.leaders([1, 0, 2, 3], pairs) == {0: 0, 1: 1, 2: 1, 3: 1}


@given(st.sets(st.sampled_from(list(combinations(range(7), 2)))), st.permutations(range(7)))
def test_members_are_verified_against_their_leader_and_leaders_are_strangers(edges, order):
    pairs = dict.fromkeys(edges, Fraction(1, 2))
    leader = textbook.leaders(order, pairs)
    heads = {head for document, head in leader.items() if document == head}
    assert set(leader) == set(range(7))
    assert all(tuple(sorted(item)) in pairs for item in leader.items() if item[0] != item[1])
    assert not any(pair in pairs for pair in combinations(sorted(heads), 2))


# Distances


def test_a_vector_without_direction_is_refused():
    with pytest.raises(ValueError, match="no direction"):
        textbook.cosine_distance([0, 0], [1, 2])


@pytest.mark.parametrize(
    "distance", [textbook.norm_distance, textbook.cosine_distance, textbook.hamming_distance]
)
def test_vectors_of_different_lengths_are_refused(distance):
    with pytest.raises(ValueError, match="zip"):
        distance([1, 2], [1, 2, 3])


@given(*[st.text(alphabet="abc", max_size=7)] * 3)
def test_edit_distance_is_a_distance(x, y, z):
    between = textbook.edit_distance
    assert (between(x, y) == 0) == (x == y)
    assert between(x, y) == between(y, x)
    assert between(x, z) <= between(x, y) + between(y, z)
    assert between(x, y) == textbook.edit_distance(x + z, y + z)


def test_impossible_shingles_are_refused():
    with pytest.raises(SettingsError, match="unit is 'chars'; choose one of char, word"):
        textbook.shingles("a text", "chars", 3)
    with pytest.raises(SettingsError, match="k is 0"):
        textbook.bag("a text", "char", 0)


def test_a_signature_that_is_too_short_for_its_bands_is_refused():
    with pytest.raises(SettingsError, match="'a' has 5 positions, and 2 bands of 3 rows need 6"):
        textbook.buckets({"a": [1, 2, 3, 4, 5]}, 2, 3)
