"""Small corpora with known clusters, and how they are loaded, for tests."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from nearly import pipeline
from nearly.arguments import Running
from nearly.documents.local import LocalCorpus
from nearly.engines.local.engine import LocalEngine
from nearly.measures.jaccard import Jaccard
from nearly.run import opened
from nearly.settings import Settings
from nearly.sources import Skipped
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


def templated(count: int, seed: int = 1) -> pa.Table:
    """Texts with a common header, 0.5 to 0.79 similar to each other; some are near-copies."""
    source = random.Random(seed)

    def words(many: int) -> str:
        return " ".join("".join(source.choices("etaoinshrdlcum", k=6)) for _ in range(many))

    header = words(40)
    texts = [f"{header} {words(source.randrange(6, 21))}" for _ in range(count)]
    for copy in range(50, count, 50):
        texts[copy] = texts[source.randrange(copy)][:-1]
    return pa.table({"id": range(count), "text": texts})


@contextmanager
def loaded(
    documents: list[str], banding: Banding | None = None, **options: Any
) -> Iterator[tuple[LocalCorpus, LocalEngine]]:
    """The corpus as a run holds it, and the engine that does."""
    settings = Settings.of(**{"method": "lsh", **options})
    with opened(documents, Running()) as (source, engine):
        skipped = Skipped()
        measure = Jaccard.of(settings)
        banding = banding or pipeline.choose_banding(measure, settings)
        yield engine.load(source, measure, settings, banding, skipped, keep=None), engine
