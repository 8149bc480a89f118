"""The audit: its numbers by hand, and its interval by a hundred runs."""

import numpy as np
import pytest

import nearly
from nearly.stages.audit import interval

VOCABULARY = [f"w{i}" for i in range(3_000)]


def corpus(seed=3, clusters=400):
    """Clusters of several sizes whose members are 0.7 to 1 similar."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(clusters):
        words = random.choice(VOCABULARY, 40, replace=False)
        for _ in range(random.integers(2, 6)):
            changed = words.copy()
            places = random.choice(40, random.integers(0, 6), replace=False)
            changed[places] = random.choice(VOCABULARY, len(places))
            texts.append(" ".join(changed))
    return texts


OPTIONS = {"unit": "word", "k": 1, "threshold": 0.7}


def found_with(seed, texts, audit, **options):
    found = nearly.find(texts, seed=seed, audit=audit, **OPTIONS, **options)
    return found.statistics.audit, found


def test_searching_everything_gives_the_true_recall():
    texts = corpus(clusters=60)
    exact = nearly.find(texts, method="exact", **OPTIONS)
    audit, found = found_with(1, texts, 10_000, bands=2, rows=6)
    copies = exact.statistics.copies
    truth = (len(found) - copies) / (len(exact) - copies)
    assert audit.recall == audit.low == audit.high == pytest.approx(truth)
    assert truth < 0.95
    assert audit.precision == 1
    assert audit.pairs == 2 * (len(exact) - copies)


def test_the_interval_covers_the_true_recall():
    """At least 93 of 100 runs, each with other hash functions and another sample."""
    texts = corpus()
    exact = nearly.find(texts, method="exact", **OPTIONS)
    copies = exact.statistics.copies
    truth = len(exact) - copies
    covered = 0
    for seed in range(100):
        audit, found = found_with(seed, texts, 150, bands=3, rows=6)
        covered += audit.low <= (len(found) - copies) / truth <= audit.high
    assert covered >= 93


def test_the_interval_of_nothing_is_everything():
    none = np.zeros(3, np.int64)
    assert interval(none, none, share=0.5) == (0.0, 1.0)


def test_one_document_with_many_pairs_counts_as_one():
    many, one = np.array([1000]), np.array([1])
    assert interval(many, many, share=0.0) == interval(one, one, share=0.0)


@pytest.mark.parametrize("audit", [-1, 0.5, "all"])
def test_a_wrong_number_is_refused(audit):
    with pytest.raises(nearly.SettingsError, match="audit is"):
        nearly.find(["a", "b"], audit=audit)
