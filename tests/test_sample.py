"""Samples of a corpus: unbiased, reproducible, and honest about what they do not know."""

import numpy as np
import pytest
from corpora import clustered, loaded

from nearly.advice.sample import CLOSENESSES, Sample, draw_sample
from nearly.documents.local import LocalCorpus
from nearly.errors import SettingsError, SourceError
from nearly.progress import Silence
from nearly.stages.search import BINS, count_by_closeness
from nearly.tuning.banding import Banding

ABOVE = BINS // 2
SCOUT = Banding(8, 3)


def draw(corpus: LocalCorpus, size: int, seed: int = 1) -> Sample:
    return draw_sample(corpus, SCOUT, size, seed=seed, threads=1, progress=Silence())


def partners(sample: Sample) -> np.ndarray:
    return sample.counts[:, ABOVE:].sum(axis=1) / 2


def test_a_sample_of_everyone_is_the_truth() -> None:
    with loaded(clustered()) as (corpus, _):
        everyone = corpus.representatives
        counts = count_by_closeness(corpus, everyone, threads=1, progress=Silence())
        sample = draw(corpus, 10**6)
    assert sample.is_whole
    assert sample.histogram == pytest.approx(counts.sum(axis=0) / 2)
    assert sample.estimate(partners(sample)) == pytest.approx((counts[:, ABOVE:].sum() / 2,) * 3)


def test_estimates_are_unbiased_and_their_intervals_cover() -> None:
    with loaded(clustered()) as (corpus, _):
        whole = draw(corpus, 10**6)
        truth = whole.estimate(partners(whole)).value
        samples = [draw(corpus, 60, seed) for seed in range(100)]
    estimates = [sample.estimate(partners(sample)) for sample in samples]
    values = np.array([estimate.value for estimate in estimates])
    # The mean of a hundred lies within three standard errors but once in 400 runs of other seeds.
    assert abs(values.mean() - truth) < 3 * values.std() / 10
    assert sum(estimate.low <= truth <= estimate.high for estimate in estimates) >= 88


def test_crowded_documents_are_drawn_more_often_and_so_less_is_left_to_chance() -> None:
    with loaded(clustered(clusters=1, size=20, lonely=400)) as (corpus, _):
        samples = [draw(corpus, 50, seed) for seed in range(30)]
        even = [
            Sample(
                population=len(corpus.representatives),
                documents=chosen,
                draws=np.arange(50),
                chances=np.full(50, 1 / len(corpus.representatives)),
                counts=count_by_closeness(corpus, chosen, threads=1, progress=Silence()),
            )
            for chosen in (
                np.sort(np.random.default_rng(i).choice(corpus.representatives, 50, replace=False))
                for i in range(30)
            )
        ]
    ours, theirs = (
        np.std([sample.total(partners(sample)) for sample in group]) for group in (samples, even)
    )
    assert ours < theirs / 2


def test_the_same_seed_draws_the_same_documents() -> None:
    with loaded(clustered()) as (corpus, _):
        first, again, other = (draw(corpus, 30, seed) for seed in (1, 1, 2))
    assert (first.documents == again.documents).all()
    assert (first.counts == again.counts).all()
    assert first.documents.tolist() != other.documents.tolist()


def test_similarities_are_shares_of_all_pairs() -> None:
    with loaded(clustered()) as (corpus, _):
        sample = draw(corpus, 10**6)
    shares = sample.similarities()
    assert sum(share for _, share in shares) == pytest.approx(1)
    assert [s for s, _ in shares] == [0.0, *CLOSENESSES]


@pytest.mark.parametrize("size", [0, -3])
def test_an_empty_sample_is_refused(size: int) -> None:
    needed = pytest.raises(SettingsError, match=f"sample is {size}; draw at least 1")
    with loaded(["one text", "another text"]) as (corpus, _), needed:
        draw(corpus, size)


@pytest.mark.parametrize(
    ("documents", "given"),
    [
        (["only one"], "1 distinct document "),
        (["the same", "the same"], "1 distinct document "),
        (["", ""], "0 distinct documents "),
    ],
)
def test_a_corpus_without_pairs_is_refused(documents: list[str], given: str) -> None:
    needed = pytest.raises(SourceError, match=f"the corpus has {given}with text")
    with loaded(documents) as (corpus, _), needed:
        draw(corpus, 5)
