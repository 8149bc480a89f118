"""Measures against labelled truth, held to what their definitions say of every pair."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly.evaluation.agreement import Linkage, evaluate, sweep

DOCUMENTS = 9

numbers = st.integers(0, DOCUMENTS - 1)
pairs = st.lists(st.tuples(numbers, numbers), max_size=14)
#: The similarity of two documents hangs on their sets alone: here, on the number of their set.
sets = st.lists(st.integers(0, 4), min_size=DOCUMENTS, max_size=DOCUMENTS)
similarities = st.lists(
    st.sampled_from([0.05, 0.3, 0.35, 0.5, 0.7, 0.95]), min_size=25, max_size=25
)
clusters = st.lists(st.integers(0, 3), min_size=DOCUMENTS, max_size=DOCUMENTS)


def whole(values):
    return np.array(list(values), np.int64)


def linkage_of_pairs(pairs, similarity=None):
    return Linkage.of_pairs(
        whole(a for a, _ in pairs),
        whole(b for _, b in pairs),
        DOCUMENTS,
        None if similarity is None else np.array(similarity, float),
    )


def linkage_of_clusters(clusters):
    return Linkage.of_clusters(np.arange(DOCUMENTS), whole(clusters), DOCUMENTS)


def unordered(pairs):
    return {(min(p), max(p)) for p in pairs if p[0] != p[1]}


def pairs_of(clusters):
    return {(i, j) for i, j in combinations(range(len(clusters)), 2) if clusters[i] == clusters[j]}


def components(pairs):
    """Cluster labels, by joining until nothing changes."""
    label = list(range(DOCUMENTS))
    for _ in range(DOCUMENTS):
        for a, b in pairs:
            label[a] = label[b] = min(label[a], label[b])
    return label


class World:
    """Documents with sets; what `find` would report of them, and what that stands for."""

    def __init__(self, sets, table, threshold, found):
        def similarity(i, j):
            a, b = sorted((sets[i], sets[j]))
            return 1.0 if a == b else table[5 * a + b]

        first = {s: sets.index(s) for s in sets}
        kept = {
            (i, j): similarity(i, j)
            for i, j in combinations(range(DOCUMENTS), 2)
            if similarity(i, j) >= threshold and (sets[i] == sets[j] or (sets[i], sets[j]) in found)
        }
        #: Every pair of documents.
        self.spelled_out = kept
        #: Copies linked once, to the first; near pairs between the first ones.
        self.linked = {
            (i, j): s
            for (i, j), s in kept.items()
            if i == first[sets[i]] and (s == 1 or j == first[sets[j]])
        }

    def linkage(self):
        return linkage_of_pairs(list(self.linked), list(self.linked.values()))


worlds = st.builds(
    World,
    sets,
    similarities,
    st.just(0.1),
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=20).map(
        lambda chosen: chosen | {(b, a) for a, b in chosen}
    ),
)


@given(pairs, pairs)
def test_pairs_against_pairs(found, gold):
    counts = evaluate(linkage_of_pairs(found), linkage_of_pairs(gold)).pairs
    ours, theirs = unordered(found), unordered(gold)
    assert (counts.found, counts.gold, counts.true) == (len(ours), len(theirs), len(ours & theirs))


@given(pairs, clusters)
def test_pairs_against_clusters_and_clusters_against_pairs(found, gold):
    ours, theirs = unordered(found), pairs_of(gold)
    counts = evaluate(linkage_of_pairs(found), linkage_of_clusters(gold)).pairs
    assert (counts.found, counts.gold, counts.true) == (len(ours), len(theirs), len(ours & theirs))
    counts = evaluate(linkage_of_clusters(gold), linkage_of_pairs(found)).pairs
    assert (counts.found, counts.gold, counts.true) == (len(theirs), len(ours), len(ours & theirs))


@given(worlds, worlds)
def test_copies_that_were_linked_once_count_in_full(found, gold):
    measured = evaluate(found.linkage(), gold.linkage())
    ours, theirs = set(found.spelled_out), set(gold.spelled_out)
    counts = measured.pairs
    assert (counts.found, counts.gold, counts.true) == (len(ours), len(theirs), len(ours & theirs))
    for bar in measured.bars:
        inside = {p for p in ours if bar.low <= found.spelled_out[p] < bar.high + (bar.high == 1)}
        assert (bar.true, bar.false) == (len(inside & theirs), len(inside - theirs))
    for bar in measured.recall_bars:
        inside = {p for p in theirs if bar.low <= gold.spelled_out[p] < bar.high + (bar.high == 1)}
        assert (bar.gold, bar.found) == (len(inside), len(inside & ours))
    assert sum(bar.true + bar.false for bar in measured.bars) == len(ours)
    assert sum(bar.gold for bar in measured.recall_bars) == len(theirs)


@given(worlds, clusters, st.lists(st.sampled_from([0.05, 0.3, 0.35, 0.6, 0.7, 1.0]), max_size=4))
def test_a_sweep_is_a_run_for_each_threshold(found, gold, thresholds):
    theirs = pairs_of(gold)
    cuts = sweep(found.linkage(), linkage_of_clusters(gold), thresholds)
    assert [cut.threshold for cut in cuts] == thresholds
    for cut in cuts:
        ours = {pair for pair, s in found.spelled_out.items() if s >= cut.threshold}
        assert cut.pairs.found == len(ours)
        assert cut.pairs.true == len(ours & theirs)
        assert cut.pairs.gold == len(theirs)


def adjusted_rand(found, gold):
    """By counting pairs that both, one or no side puts together."""
    ours, theirs = pairs_of(found), pairs_of(gold)
    every = DOCUMENTS * (DOCUMENTS - 1) // 2
    both = len(ours & theirs)
    expected = len(ours) * len(theirs) / every
    highest = (len(ours) + len(theirs)) / 2
    return 1.0 if highest == expected else (both - expected) / (highest - expected)


def b_cubed(found, gold):
    """Precision; recall is the same with the sides exchanged."""
    shares = []
    for i in range(DOCUMENTS):
        cluster = [j for j in range(DOCUMENTS) if found[j] == found[i]]
        shares.append(sum(gold[j] == gold[i] for j in cluster) / len(cluster))
    return sum(shares) / DOCUMENTS


@given(clusters, clusters)
def test_cluster_measures_are_their_definitions(found, gold):
    scores = evaluate(linkage_of_clusters(found), linkage_of_clusters(gold)).clusters
    assert scores.adjusted_rand == pytest.approx(adjusted_rand(found, gold), abs=1e-12)
    assert scores.precision == pytest.approx(b_cubed(found, gold))
    assert scores.recall == pytest.approx(b_cubed(gold, found))
    assert scores.found == sum(found.count(label) > 1 for label in set(found))


@given(pairs, clusters)
def test_pairs_are_clustered_by_their_components(found, gold):
    by_pairs = evaluate(linkage_of_pairs(found), linkage_of_clusters(gold)).clusters
    by_clusters = evaluate(linkage_of_clusters(components(found)), linkage_of_clusters(gold))
    assert by_pairs == by_clusters.clusters


def test_known_answers():
    # {a,b,c}{d,e,f} against {a,b}{c,d,e}{f}: of 15 pairs, 6 are found, 4 are true, 2 are both.
    found = Linkage.of_clusters(np.arange(6), whole([0, 0, 0, 1, 1, 1]), 6)
    gold = Linkage.of_clusters(np.arange(6), whole([0, 0, 1, 1, 1, 2]), 6)
    scores = evaluate(found, gold).clusters
    assert scores.adjusted_rand == pytest.approx(2 / 17)
    assert (scores.precision, scores.recall) == pytest.approx((5 / 9, 7 / 9))
    assert scores.f1 == pytest.approx(35 / 54)


def test_shares_of_nothing_are_none():
    counts = evaluate(linkage_of_pairs([]), linkage_of_pairs([])).pairs
    assert (counts.precision, counts.recall, counts.f1) == (None, None, None)
    counts = evaluate(linkage_of_pairs([]), linkage_of_pairs([(0, 1)])).pairs
    assert (counts.precision, counts.recall, counts.f1) == (None, 0, 0)


def test_a_similarity_on_an_edge_begins_its_bar():
    found = linkage_of_pairs([(0, 1), (2, 3)], [0.7, 0.15])
    bars = evaluate(found, linkage_of_pairs([(0, 1)])).bars
    assert bars[0].low == 0.15
    assert [(bar.low, bar.true, bar.false) for bar in bars if bar.true or bar.false] == [
        (0.15, 0, 1),
        (0.7, 1, 0),
    ]


def test_one_giant_cluster_is_counted_and_not_spelled_out():
    documents = 200_000
    together = Linkage.of_clusters(np.arange(documents), np.zeros(documents, np.int64), documents)
    counts = evaluate(together, together).pairs
    assert counts.true == documents * (documents - 1) // 2
