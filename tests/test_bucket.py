"""What buckets hold, against the engine that fills them."""

import numpy as np
import pytest
from corpora import clustered, loaded

from nearly.advice.bucket import band_keys, crowding, fill_buckets
from nearly.engines.local.near_pair import met_candidates
from nearly.measures.pair import split_pairs
from nearly.progress import Silence
from nearly.tuning.banding import Banding

EVERYTHING = Banding(12, 2, agreement=0)


def test_meetings_are_those_that_the_engine_counts() -> None:
    with loaded(clustered(), EVERYTHING) as (corpus, engine):
        _, meetings = met_candidates(engine.shop, corpus, EVERYTHING, hubs=0)
        buckets = fill_buckets(
            corpus, corpus.representatives, EVERYTHING, threads=2, progress=Silence()
        )
    assert buckets.meetings == meetings > 0


def test_others_are_counted_once_and_meetings_as_often_as_they_are() -> None:
    with loaded(clustered(), EVERYTHING) as (corpus, engine):
        everyone = corpus.representatives
        met, _ = met_candidates(engine.shop, corpus, EVERYTHING, hubs=0)
        pairs = np.concatenate(split_pairs(met))
        buckets = fill_buckets(corpus, everyone, EVERYTHING, threads=1, progress=Silence())
        keys = band_keys(corpus, everyone, EVERYTHING, threads=1, progress=Silence())
    others = buckets.others(np.arange(len(everyone)))
    assert others.tolist() == np.bincount(pairs, minlength=len(corpus))[everyone].tolist()
    assert buckets.met.tolist() == crowding(keys).tolist()
    share, error = buckets.candidates_a_meeting(300, seed=1)
    assert abs(share - len(pairs) / 2 / buckets.meetings) < 4 * error


def test_uncertainty_is_what_other_draws_would_give() -> None:
    with loaded(clustered(clusters=20, size=15), EVERYTHING) as (corpus, _):
        everyone = corpus.representatives
        whole, *parts = (
            fill_buckets(corpus, documents, EVERYTHING, threads=1, progress=Silence())
            for documents in (everyone, *(draw(everyone, seed) for seed in range(60)))
        )
    meetings = np.array([part.meetings for part in parts])
    expected = np.mean([part.uncertainty(len(everyone)) for part in parts])
    assert whole.uncertainty(len(everyone)) == 0
    assert meetings.mean() * 4 == pytest.approx(whole.meetings, rel=0.05)
    # What pairs add to the projection is left out, so a little less than what is seen.
    assert 0.5 < expected / (meetings.std() / meetings.mean()) < 1.5


def draw(everyone: np.ndarray, seed: int) -> np.ndarray:
    half = np.random.default_rng(seed).choice(everyone, len(everyone) // 2, replace=False)
    return np.sort(half)
