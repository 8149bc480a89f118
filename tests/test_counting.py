"""What buckets hold, against the engine that fills them."""

import numpy as np
from corpora import clustered, loaded

from nearly.api import Silence
from nearly.counting import band_keys, crowding, fill_buckets
from nearly.stages.pairs import split_pairs
from nearly.tuning import Banding

EVERYTHING = Banding(12, 2, agreement=0)


def test_meetings_are_those_that_the_engine_counts() -> None:
    with loaded(clustered(), EVERYTHING) as (corpus, engine):
        engine.candidates(corpus, EVERYTHING, hubs=0)
        buckets = fill_buckets(
            corpus, corpus.representatives, EVERYTHING, threads=2, progress=Silence()
        )
    assert buckets.meetings == engine.compared > 0


def test_company_is_counted_once_and_as_often_as_it_meets() -> None:
    with loaded(clustered(), EVERYTHING) as (corpus, engine):
        everyone = corpus.representatives
        pairs = np.concatenate(split_pairs(engine.candidates(corpus, EVERYTHING, hubs=0)))
        buckets = fill_buckets(corpus, everyone, EVERYTHING, threads=1, progress=Silence())
        keys = band_keys(corpus, everyone, EVERYTHING, threads=1, progress=Silence())
        met, partners = buckets.company(everyone, keys)
    assert partners.tolist() == np.bincount(pairs, minlength=len(corpus))[everyone].tolist()
    assert met.tolist() == crowding(keys).tolist()
    assert met.sum() == 2 * buckets.meetings
