"""Small corpora with known clusters, and how they are loaded, for tests."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nearly import call, pipeline
from nearly.arguments import Running
from nearly.documents.local import LocalCorpus
from nearly.engines.local import LocalEngine
from nearly.measures.jaccard import Jaccard
from nearly.settings import Settings
from nearly.tuning.banding import Banding

WORDS = [f"{a}{b}{c}" for a in "bcdfglm" for b in "aeiou" for c in "nrst"]


def clustered(clusters: int = 6, size: int = 15, lonely: int = 150, seed: int = 5) -> list[str]:
    """Texts of which some are edited from each other, and some have little in common."""
    source = random.Random(seed)
    documents = [" ".join(source.choices(WORDS, k=25)) for _ in range(lonely)]
    for _ in range(clusters):
        words = source.choices(WORDS, k=25)
        for _ in range(size):
            edited = list(words)
            for _ in range(source.randrange(1, 3)):
                edited[source.randrange(25)] = source.choice(WORDS)
            documents.append(" ".join(edited))
    return sorted(set(documents))


@contextmanager
def loaded(
    documents: list[str], banding: Banding | None = None, **options: Any
) -> Iterator[tuple[LocalCorpus, LocalEngine]]:
    """The corpus as a run holds it, and the engine that does."""
    settings = Settings.of(**{"method": "lsh", **options})
    with call._run(documents, settings, Running()) as (source, engine, skipped):
        measure = Jaccard.of(settings)
        banding = banding or pipeline.choose_banding(measure, settings)
        yield engine.load(source, measure, settings, banding, skipped, keep=None), engine
