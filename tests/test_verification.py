"""Pairs are compared as Python compares sets, in any order, and whatever is held for them."""

from fractions import Fraction
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_join import HASHES, THRESHOLDS, edited_texts

import nearly
from nearly import _kernels
from nearly.engines.local import verification
from nearly.measures.set_measure import SetMeasure

#: From sets of the same few shingles to some that fill a sketch.
NUMBERS = st.one_of(
    st.sets(st.integers(0, 12), max_size=12),
    st.sets(st.integers(0, 200), max_size=150),
    st.builds(
        lambda size, gone: set(range(size)) - gone,
        st.integers(0, 400),
        st.sets(st.integers(0, 400)),
    ),
)


@given(
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.sampled_from(HASHES),
    st.sampled_from([Fraction(0), *THRESHOLDS]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_similarities_are_those_of_sets(sets, make_hash, threshold, of_smaller, draw):
    """Of pairs in any order, of a set and itself, and of empty sets."""
    hashed = [list(dict.fromkeys(map(make_hash, numbers))) for numbers in sets]
    pairs = [(a, b) for a in range(len(sets)) for b in range(len(sets))]
    draw.shuffle(pairs)
    first, second = np.array(pairs, np.uint32).T.copy()
    similarities = _kernels.similarities(
        np.cumsum([0, *map(len, hashed)]),
        np.array([hash_ for each in hashed for hash_ in each], np.uint64),
        first,
        second,
        threshold.numerator,
        threshold.denominator,
        of_smaller,
    )
    for (a, b), similarity in zip(pairs, similarities.tolist(), strict=True):
        one, other = set(hashed[a]), set(hashed[b])
        shared = len(one & other)
        whole = min(len(one), len(other)) if of_smaller else len(one | other)
        is_near = one and other and Fraction(shared, whole) >= threshold
        assert similarity == (shared / whole if is_near else -1)


@pytest.mark.parametrize(
    "settings",
    [{"unit": "char", "k": 4}, {"unit": "word", "k": 1}, {"bag": True}, {"measure": "containment"}],
    ids=str,
)
def test_what_is_held_changes_nothing(settings):
    """Sets that are made once for all pairs, and block by block."""
    texts = edited_texts(Random(3), 300)
    asked = {"threshold": 0.5, "method": "lsh", "all_pairs": True, **settings}
    made = []

    def comparer(*given):
        made.append(given)
        return SET_COMPARER(*given)

    found = []
    for many in (0, len(texts)):
        made.clear()
        with (
            patch.object(verification, "MANY", many),
            patch.object(SetMeasure, "comparer", comparer),
        ):
            found.append(nearly.find(texts, **asked))
        assert bool(made) == (many == 0)
    assert found[0].pairs.num_rows > 300
    assert found[0].pairs == found[1].pairs


SET_COMPARER = SetMeasure.comparer
