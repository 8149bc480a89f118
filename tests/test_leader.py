"""Greedy leaders are those of the textbook, in any order and from pairs that come in pieces."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import _kernels, textbook
from nearly.documents.budget import Budget
from nearly.documents.pair_store import PairStore
from nearly.measures import pair
from nearly.measures.pair import Nearness, Packed, Pairs, in_order
from nearly.stages.cluster import cluster

DOCUMENTS = 12
NOBODY = np.empty(0, np.uint32)
ENDS = st.tuples(st.integers(0, DOCUMENTS - 1), st.integers(0, DOCUMENTS - 1))
EDGES = st.dictionaries(
    ENDS.filter(lambda ends: ends[0] < ends[1]), st.sampled_from([0.5, 0.75, 1.0]), max_size=40
)


def near_of(edges: dict[tuple[int, int], float]) -> Pairs:
    ends = np.array(sorted(edges), np.uint32).reshape(-1, 2)
    nearness = np.array([edges[a, b] for a, b in ends.tolist()])
    return Pairs(first=ends[:, 0].copy(), second=ends[:, 1].copy(), nearness=nearness)


def spilled(folder: Path, parts: Iterable[tuple[Packed, Nearness]]) -> Pairs:
    budget = Budget(0)
    store = PairStore(budget, folder)
    for part in parts:
        store.add(*part)
        budget.check()
    return store.pairs()


@given(EDGES, st.permutations(range(DOCUMENTS)), st.integers(1, 5))
def test_leaders_are_those_of_the_textbook(
    tmp_path_factory: pytest.TempPathFactory, edges, order, part: int
) -> None:
    folder = tmp_path_factory.mktemp("pairs", numbered=True)
    expected = textbook.leaders(order, edges)
    ranks = np.array(order, np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair, "PART", part)
        for way in (in_order, lambda parts: spilled(folder, parts)):
            found = cluster(near_of(edges), NOBODY, NOBODY, ranks, "leader", way)
            leaders = dict(zip(found.members.tolist(), found.labels.tolist(), strict=True))
            assert leaders == {
                document: leader
                for document, leader in expected.items()
                if list(expected.values()).count(leader) > 1
            }


@pytest.mark.parametrize(
    ("later", "earlier", "message"),
    [([5], [1], "reaches past"), ([1], [2], "later document"), ([3, 2], [0, 0], "descend")],
)
def test_impossible_pairs_are_refused(later, earlier, message) -> None:
    leaders = _kernels.Leaders(5)
    with pytest.raises(ValueError, match=message):
        leaders.add(np.array(later, np.uint32), np.array(earlier, np.uint32), np.ones(len(later)))
