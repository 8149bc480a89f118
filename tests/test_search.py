"""Exact search of some documents among all, against brute force."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearly import pipeline
from nearly.arguments import Running
from nearly.documents.local import LocalCorpus
from nearly.measures.jaccard import Jaccard
from nearly.progress import Silence
from nearly.run import opened
from nearly.settings import Settings
from nearly.sources import Skipped
from nearly.stages import search
from nearly.stages.around import near_misses
from nearly.textbook import jaccard

K = 2
texts = st.lists(st.text("abc", max_size=12), min_size=1, max_size=12).filter(any)


@contextmanager
def loaded(documents: list[str]) -> Iterator[LocalCorpus]:
    settings = Settings.of(k=K, raw=True)
    with opened(documents, Running()) as (source, engine):
        skipped = Skipped()
        measure = Jaccard.of(settings)
        banding = pipeline.choose_banding(measure, settings)
        yield engine.load(source, measure, settings, banding, skipped, keep=None)


def shingles(text: str) -> set[str]:
    return {text[i : i + K] for i in range(max(1, len(text) - K + 1))} if text else set()


def brute_force(
    documents: list[str], sought: list[int], others: list[int]
) -> dict[tuple, Fraction]:
    found = {}
    for i in sought:
        for j in others:
            a, b = shingles(documents[i]), shingles(documents[j])
            if i != j and a & b:
                found[min(i, j), max(i, j)] = Fraction(len(a & b), len(a | b))
    return found


@given(texts, st.data())
def test_search_finds_what_brute_force_finds(documents: list[str], data: st.DataObject) -> None:
    threshold = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)]))
    with loaded(documents) as corpus:
        distinct = corpus.representatives.tolist()
        sought = sorted(data.draw(st.sets(st.sampled_from(distinct), min_size=1)))
        found = search.search_exactly(
            corpus, np.array(sought, np.uint32), threshold, threads=2, progress=Silence()
        )
    expected = {
        pair: similarity
        for pair, similarity in brute_force(documents, sought, distinct).items()
        if similarity >= threshold
    }
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == sorted(expected)
    assert found.nearness.tolist() == [float(expected[pair]) for pair in sorted(expected)]


@given(texts)
def test_counts_are_those_of_brute_force(documents: list[str]) -> None:
    with loaded(documents) as corpus:
        distinct = corpus.representatives
        counts = search.count_by_closeness(corpus, distinct, threads=1, progress=Silence())
    for row, document in zip(counts, distinct.tolist(), strict=True):
        bins = [
            int(similarity * search.BINS)
            for similarity in brute_force(documents, [document], distinct.tolist()).values()
        ]
        assert row.tolist() == np.bincount(bins, minlength=search.BINS + 1).tolist()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [f"a common beginning and number {n * n}" for n in range(50)]
    with loaded(documents) as corpus:
        sought = corpus.representatives[::7]
        whole = search.count_by_closeness(corpus, sought, threads=2, progress=Silence())
        monkeypatch.setattr(search, "BLOCK", 100)
        parts = search.count_by_closeness(corpus, sought, threads=2, progress=Silence())
    assert (whole == parts).all()
    assert whole.sum() == len(sought) * 49


def test_similarity_is_the_textbooks() -> None:
    documents = ["nearly the same text", "nearly the same test"]
    with loaded(documents) as corpus:
        found = search.search_exactly(
            corpus, corpus.representatives[:1], Fraction(1, 2), threads=1, progress=Silence()
        )
    assert found.nearness.tolist() == [float(jaccard(*map(shingles, documents)))]


@given(texts, st.data())
def test_near_misses_are_those_of_brute_force(documents: list[str], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 4))
    with loaded(documents) as corpus:
        threshold = corpus.measure.threshold(corpus.settings)
        distinct = corpus.representatives.tolist()
        sought = sorted(data.draw(st.sets(st.sampled_from(distinct), min_size=1)))
        found = near_misses(
            corpus, np.array(sought, np.uint32), count, threads=2, progress=Silence()
        )
    missed = {
        pair: similarity
        for pair, similarity in brute_force(documents, sought, distinct).items()
        if threshold / 2 <= similarity < threshold
    }
    nearest = sorted(missed, key=lambda pair: (-missed[pair], pair))[:count]
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == nearest
    assert found.nearness.tolist() == [float(missed[pair]) for pair in nearest]


def test_a_near_miss_that_is_met_from_both_sides_is_one() -> None:
    documents = ["abcdef", "abcdxy", "abcdpq", "lonely"]
    with loaded(documents) as corpus:
        found = near_misses(corpus, corpus.representatives, 9, threads=1, progress=Silence())
    assert list(zip(found.first, found.second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
