"""The straight line: everything that happens between documents and answers, top to bottom.

source → documents → (exact copies collapsed) → signatures → bands → candidates
       → verified pairs → clusters → results
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from typing import Any

from nearly.engines.base import Corpus, Engine
from nearly.results import Deduplicated, Found
from nearly.settings import Settings
from nearly.sources import Skipped, Source
from nearly.stages.candidate import HUBS
from nearly.stages.survivor import Keep
from nearly.stages.verification import exact_ratio
from nearly.tuning.banding import Banding, background, explicit, for_recall

__all__ = ["dedup", "find"]


def find(
    source: Source, settings: Settings, engine: Engine, skipped: Skipped, *, audited: int = 0
) -> Found:
    """Every pair at least as similar as the threshold, and the clusters they form.

    `audited` documents are searched exactly afterwards, to prove how much was found.
    """
    clock = Clock()
    banding = choose_banding(settings)
    with clock("read and sign"):
        corpus = engine.load(source, settings, banding, skipped, keep=None)
    near = near_pairs(corpus, banding, engine, clock, hubs=0)
    with clock("cluster"):
        pairs = engine.give_back_copies(corpus, near)
        clusters = engine.cluster(corpus, near, keep=None)
    with clock("tables"):
        pair_rows = engine.pair_table(corpus, pairs)
        cluster_rows = engine.cluster_table(corpus, near, clusters)
        read_top = engine.top(corpus, near, pairs)
    proof = prove(corpus, near, audited, engine, clock)
    return Found(
        pairs=pair_rows,
        clusters=cluster_rows,
        skipped=skipped.table(),
        settings=corpus.settings,
        statistics=statistics(corpus, skipped, banding, engine, clock)
        | {"pairs": len(pairs), "clusters": clusters.count, "source": source.facts()}
        | proof,
        read_top=read_top,
    )


def dedup(
    source: Source, settings: Settings, engine: Engine, skipped: Skipped, keep: Keep
) -> Deduplicated:
    """One survivor of each cluster; every removed document is compared with its survivor."""
    clock = Clock()
    banding = choose_banding(settings)
    with clock("read and sign"):
        corpus = engine.load(source, settings, banding, skipped, keep=keep)
    near = near_pairs(corpus, banding, engine, clock, hubs=HUBS)
    with clock("cluster"):
        clusters = engine.cluster(corpus, near, keep)
        removed = engine.remove(corpus, near, clusters, keep)
    with clock("tables"):
        removed_rows = engine.removed_table(corpus, removed)
        cluster_rows = engine.cluster_table(corpus, near, clusters)
        read_kept = engine.kept(corpus, removed)
    return Deduplicated(
        removed=removed_rows,
        clusters=cluster_rows,
        skipped=skipped.table(),
        settings=corpus.settings,
        statistics=statistics(corpus, skipped, banding, engine, clock)
        | {"removed": len(removed), "clusters": clusters.count, "hubs": HUBS}
        | {"source": source.facts()},
        schema=source.schema,
        read_kept=read_kept,
    )


@cache
def choose_banding(settings: Settings) -> Banding:
    """Bands and rows as they were given, or as the recall at the threshold asks for them."""
    if settings.method == "exact":
        return Banding(1, 1)  # will not be used
    threshold, recall = settings.threshold, settings.recall
    if settings.bands is not None and settings.rows is not None:
        return explicit(settings.bands, settings.rows, threshold, recall)
    similarities = background(settings.text.unit)
    return for_recall(threshold, recall, settings.permutations, similarities=similarities)


def near_pairs(
    corpus: Corpus, banding: Banding, engine: Engine, clock: "Clock", *, hubs: int
) -> Any:
    """Verified pairs of representatives: joined exactly, or found by hashing and verified."""
    threshold = exact_ratio(corpus.settings.threshold)
    if corpus.choice.method == "exact":
        with clock("join"):
            return engine.join(corpus, threshold)
    with clock("candidates"):
        candidates = engine.candidates(corpus, banding, hubs=hubs)
    with clock("verify"):
        return engine.verify(corpus, candidates, threshold)


def prove(
    corpus: Corpus, near: Any, audited: int, engine: Engine, clock: "Clock"
) -> dict[str, Any]:
    """What an exact search of some documents says of the run; nothing where none was asked for."""
    if audited == 0:
        return {}
    with clock("audit"):
        return {"audit": asdict(engine.audit(corpus, near, audited))}


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[stage] = round(time.perf_counter() - start, 6)


def statistics(
    corpus: Corpus, skipped: Skipped, banding: Banding, engine: Engine, clock: Clock
) -> dict[str, Any]:
    """What a run did, in numbers."""
    return {
        "documents": corpus.counts.documents,
        "skipped": len(skipped),
        "empty": corpus.counts.empty,
        "copies": corpus.counts.copies,
        "k": corpus.settings.text.whole_k,
        "method": corpus.choice.method,
        "why": corpus.choice.why,
        **(asdict(banding) if corpus.choice.method == "lsh" else {}),
        "compared": engine.compared,
        "candidates": engine.verified,
        "seconds": clock.seconds,
    }
