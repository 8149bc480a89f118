"""Pairs come back in order, however they were cut, and a few take little more than their bytes."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.documents import pair_store
from nearly.documents.budget import Budget
from nearly.documents.pair_store import PairStore

PACKED = st.lists(st.integers(0, 2**40), unique=True, max_size=60)


def filled(store: PairStore, packed: list[int], lengths: list[int], budget: Budget) -> None:
    start = 0
    for length in [*lengths, len(packed)]:
        part = np.array(packed[start : start + length], np.uint64)
        store.add(part, part / 2)
        budget.check()
        start += length


@pytest.mark.parametrize("memory", [0, 10**9], ids=["spilled", "held"])
@given(PACKED, st.lists(st.integers(0, 5), max_size=40))
def test_pairs_come_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, memory: int, packed: list[int], lengths: list[int]
) -> None:
    folder: Path = tmp_path_factory.mktemp("pairs", numbered=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_store, "SMALL", 4)
        patch.setattr(pair_store, "MANY", 3)
        budget = Budget(memory)
        store = PairStore(budget, folder)
        filled(store, packed, lengths, budget)
        pairs = store.pairs()
    found = pairs.first.astype(np.uint64) << np.uint64(32) | pairs.second
    assert found.tolist() == sorted(packed)
    assert pairs.nearness.tolist() == [each / 2 for each in sorted(packed)]


def test_many_parts_of_a_few_pairs_take_little(tmp_path: Path) -> None:
    """An exact join in blocks gives 60,000 parts, of which most have a pair or none."""
    store = PairStore(Budget(10**9), tmp_path)
    tracemalloc.start()
    try:
        for place in range(20_000):
            store.add(np.full(1, place, np.uint64), np.ones(1))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 20_000 * 40, "bytes, of which 16 are a pair"
    assert len(store.pairs()) == 20_000
