"""Places drawn by lot are those that NumPy draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.stages.lot import drawn


@given(
    everyone=st.one_of(st.integers(1, 300), st.integers(9_900, 30_000), st.integers(1, 2**32 - 1)),
    count=st.integers(0, 600),
    seed=st.one_of(st.integers(0, 3), st.integers(0, 2**200)),
)
def test_places_are_those_of_numpy(everyone: int, count: int, seed: int) -> None:
    count = min(count, everyone)
    by_numpy = np.random.default_rng(seed).choice(everyone, count, replace=False)
    assert drawn(everyone, count, seed) == np.sort(by_numpy).tolist()


@pytest.mark.parametrize("everyone", [1, 50, 9_999, 10_000, 10_001, 12_345])
def test_all_can_be_drawn(everyone: int) -> None:
    assert drawn(everyone, everyone, 1) == list(range(everyone))
