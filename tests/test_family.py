"""AND, OR and their compositions: exact values, laws, and small chances kept small."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.errors import SettingsError
from nearly.tuning.family import And, AtLeast, Cascade, MinHash, Or, Sketch

ONE = MinHash()
SIMILARITIES = st.floats(0, 1)
TIMES = st.integers(1, 40)
FAMILIES = st.recursive(
    st.sampled_from([ONE, Sketch(1), Sketch(2)]),
    lambda inner: (
        st.builds(And, inner, st.integers(1, 8))
        | st.builds(Or, inner, st.integers(1, 8))
        | st.builds(AtLeast, inner, st.integers(0, 6), st.just(5))
        | st.builds(lambda a, b: a.then(b), inner, inner)
    ),
    max_leaves=4,
)


def exactly_at_least(cutoff, times, p):
    """The binomial tail and its complement, term by term in exact arithmetic."""
    terms = [comb(times, i) * p**i * (1 - p) ** (times - i) for i in range(times + 1)]
    return sum(terms[max(0, cutoff) :]), sum(terms[: max(0, cutoff)])


@given(family=FAMILIES, similarity=SIMILARITIES)
def test_found_and_missed_are_probabilities_that_add_up_to_one(family, similarity):
    found, missed = family.chance(similarity)
    assert 0 <= found <= 1 + 1e-12
    assert 0 <= missed <= 1 + 1e-12
    assert found + missed == pytest.approx(1, abs=1e-12)


@given(family=FAMILIES, a=SIMILARITIES, b=SIMILARITIES)
def test_every_construction_rises_with_similarity(family, a, b):
    low, high = sorted((a, b))
    assert family.probability(low) <= family.probability(high) + 1e-12


@given(family=FAMILIES, similarity=SIMILARITIES, times=TIMES)
def test_and_lowers_and_or_raises(family, similarity, times):
    p = family.probability(similarity)
    assert family.and_(times).probability(similarity) <= p + 1e-12
    assert family.or_(times).probability(similarity) >= p - 1e-12


@given(similarity=SIMILARITIES, a=TIMES, b=TIMES)
def test_constructions_of_one_kind_multiply(similarity, a, b):
    for twice, once in [
        (ONE.and_(a).and_(b), ONE.and_(a * b)),
        (ONE.or_(a).or_(b), ONE.or_(a * b)),
        (Cascade((ONE,) * a), ONE.and_(a)),
    ]:
        assert twice.chance(similarity) == pytest.approx(once.chance(similarity), abs=1e-12)


@given(similarity=SIMILARITIES, rows=TIMES, bands=TIMES)
def test_or_then_and_mirrors_and_then_or(similarity, rows, bands):
    """De Morgan: what one finds at s, the other misses at 1 - s."""
    banded = ONE.and_(rows).or_(bands).chance(similarity)
    mirrored = ONE.or_(rows).and_(bands).chance(1 - similarity)
    assert banded.found == pytest.approx(mirrored.missed, abs=1e-12)
    assert banded.missed == pytest.approx(mirrored.found, abs=1e-12)


@given(similarity=SIMILARITIES, times=TIMES)
def test_and_is_all_of_n_and_or_is_one_of_n(similarity, times):
    every = ONE.at_least(times, times).chance(similarity)
    some = ONE.at_least(1, times).chance(similarity)
    assert every == pytest.approx(ONE.and_(times).chance(similarity), abs=1e-12)
    assert some == pytest.approx(ONE.or_(times).chance(similarity), abs=1e-12)


@given(tenths=st.integers(0, 10), times=st.integers(1, 60), cutoff=st.integers(-1, 61))
def test_at_least_is_the_binomial_tail(tenths, times, cutoff):
    found, missed = ONE.at_least(cutoff, times).chance(tenths / 10)
    exact = exactly_at_least(cutoff, times, Fraction(tenths, 10))
    assert (found, missed) == pytest.approx(tuple(map(float, exact)), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("similarity", ["0.1", "0.5", "0.8", "0.99"])
@pytest.mark.parametrize("cutoff", [1100, 2500, 3400, 4090])
def test_at_least_is_stable_for_long_signatures(similarity, cutoff):
    """n = 4096: both tails to nine digits, wherever a float can hold them."""
    with localcontext() as context:
        context.prec = 60
        p = Decimal(similarity) + (1 - Decimal(similarity)) / 4
        terms = [(1 - p) ** 4096]
        for i in range(4096):
            terms.append(terms[-1] * (4096 - i) / (i + 1) * p / (1 - p))
        exact = sum(terms[cutoff:]), sum(terms[:cutoff])
    chance = Sketch(2).at_least(cutoff, 4096).chance(float(similarity))
    assert tuple(chance) == pytest.approx(tuple(map(float, exact)), rel=1e-9, abs=1e-300)


def test_bits_of_a_sketch_agree_by_chance():
    assert Sketch(2).chance(0.8) == pytest.approx((0.85, 0.15))
    assert Sketch(64).chance(0.8) == pytest.approx(ONE.chance(0.8))


def test_small_chances_survive():
    assert ONE.and_(30).or_(500).probability(0.1) == pytest.approx(500e-30, rel=1e-12)
    missed = ONE.and_(5).or_(1000).chance(0.8).missed
    with localcontext() as context:
        context.prec = 60
        exact = (1 - Decimal("0.8") ** 5) ** 1000
    assert missed == pytest.approx(float(exact), rel=1e-12)


def test_a_cascade_has_to_be_passed_twice():
    both = ONE.and_(2).then(ONE.or_(2))
    assert both.chance(0.5) == pytest.approx((0.25 * 0.75, 1 - 0.25 * 0.75))


def test_sensitivity_of_the_constructions():
    """A (0.2, 0.6, 0.8, 0.4)-sensitive family, four functions by four."""
    assert ONE.sensitivity(0.2, 0.6) == pytest.approx((0.2, 0.6, 0.8, 0.4))
    and_or = ONE.and_(4).or_(4).sensitivity(0.2, 0.6)
    or_and = ONE.or_(4).and_(4).sensitivity(0.2, 0.6)
    assert and_or == pytest.approx((0.2, 0.6, 0.8785, 0.0985), abs=5e-5)
    assert or_and == pytest.approx((0.2, 0.6, 0.9936, 0.5740), abs=5e-5)


@pytest.mark.parametrize(("d1", "d2"), [(0.6, 0.2), (0.5, 0.5), (-0.1, 0.5), (0.5, 1.1)])
def test_distances_in_the_wrong_order_are_refused(d1, d2):
    with pytest.raises(SettingsError, match=f"d1 is {d1} and d2 is {d2}"):
        ONE.sensitivity(d1, d2)


@pytest.mark.parametrize("build", [ONE.and_, ONE.or_, lambda n: ONE.at_least(0, n)])
def test_a_construction_needs_a_function(build):
    with pytest.raises(SettingsError, match="0 functions; give at least 1"):
        build(0)
