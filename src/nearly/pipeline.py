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

import numpy as np

from nearly.auditing import audit
from nearly.engines.base import AnyCorpus, Engine, Reading
from nearly.errors import UnreadableError
from nearly.results import Deduplicated, Found
from nearly.settings import Settings
from nearly.sources import Skipped, Source
from nearly.stages.candidates import HUBS
from nearly.stages.cluster import cluster
from nearly.stages.copies import link_copies, spell_out_copies
from nearly.stages.pairs import Pairs
from nearly.stages.verify import exact_ratio
from nearly.survivors import Keep, by_best_copy, rank, survivors
from nearly.tables import cluster_table, pair_table, removed_table, top_table, without_rows
from nearly.tuning import Banding, background, explicit, for_recall

__all__ = ["dedup", "find"]


def find(
    source: Source,
    settings: Settings,
    engine: Engine[AnyCorpus],
    skipped: Skipped,
    *,
    audited: int = 0,
) -> Found:
    """Every pair at least as similar as the threshold, and the clusters they form.

    `audited` documents are searched exactly afterwards, to prove how much was found.
    """
    clock = Clock()
    banding = choose_banding(settings)
    with clock("read and sign"):
        corpus = load(source, settings, banding, engine, skipped)
    near = near_pairs(corpus, banding, engine, clock, hubs=0)
    with clock("cluster"):
        give_back = spell_out_copies if settings.all_pairs else link_copies
        pairs = give_back(near, corpus.copies, corpus.originals)
        order = np.arange(len(corpus), dtype=np.uint32)
        clusters = cluster(near, corpus.copies, corpus.originals, order, settings.cluster)
    with clock("tables"):
        pair_rows = pair_table(corpus, pairs, source.id_type)
        cluster_rows = cluster_table(corpus, clusters, near, source.id_type)
        top = top_table(corpus, near if len(near) else pairs, source.id_type)
    proof = prove(corpus, near, audited, engine, clock)
    return Found(
        pairs=pair_rows,
        clusters=cluster_rows,
        skipped=skipped.table(),
        top=top,
        settings=corpus.settings,
        statistics=statistics(corpus, skipped, banding, engine, clock)
        | {"pairs": len(pairs), "clusters": clusters.count}
        | proof,
    )


def dedup(
    source: Source, settings: Settings, engine: Engine[AnyCorpus], skipped: Skipped, keep: Keep
) -> Deduplicated:
    """One survivor of each cluster; every removed document is compared with its survivor."""
    clock = Clock()
    banding = choose_banding(settings)
    with clock("read and sign"):
        corpus = load(source, settings, banding, engine, skipped, keep=keep)
    near = near_pairs(corpus, banding, engine, clock, hubs=HUBS)
    with clock("cluster"):
        order = rank(corpus, near, keep)
        leading = by_best_copy(order, corpus)
        clusters = cluster(near, corpus.copies, corpus.originals, leading, settings.cluster)
        removed = survivors(corpus, clusters, order, engine)
    with clock("tables"):
        removed_rows = removed_table(corpus, removed, source.id_type)
        cluster_rows = cluster_table(corpus, clusters, near, source.id_type)
        row_numbers = corpus.rows(removed.documents)
    return Deduplicated(
        removed=removed_rows,
        clusters=cluster_rows,
        skipped=skipped.table(),
        settings=corpus.settings,
        statistics=statistics(corpus, skipped, banding, engine, clock)
        | {"removed": len(removed.documents), "clusters": clusters.count, "hubs": HUBS},
        schema=source.schema,
        read_kept=lambda: without_rows(source.rows(), row_numbers),
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
    corpus: AnyCorpus, banding: Banding, engine: Engine[AnyCorpus], clock: "Clock", *, hubs: int
) -> Pairs:
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
    corpus: AnyCorpus, near: Pairs, audited: int, engine: Engine[AnyCorpus], clock: "Clock"
) -> dict[str, Any]:
    """What an exact search of some documents says of the run; nothing where none was asked for."""
    if audited == 0:
        return {}
    with clock("audit"):
        seed, threads, progress = corpus.settings.seed, engine.threads, engine.progress
        proof = audit(corpus, near, audited, seed=seed, threads=threads, progress=progress)
    return {"audit": asdict(proof)}


def load(
    source: Source,
    settings: Settings,
    banding: Banding,
    engine: Engine[AnyCorpus],
    skipped: Skipped,
    keep: Keep | None = None,
) -> AnyCorpus:
    """The documents of a source; those whose id came before are skipped, and listed."""
    reading = Reading(
        batches=source.documents(skipped, keep.column if keep else None),
        id_type=source.id_type,
        ids_are_unique=source.ids_are_unique,
    )
    corpus = engine.load(reading, settings, banding, clusters_only=keep is not None)
    for name in corpus.ids(corpus.repeated):
        skipped.add(f"id {name}", "the id came before: ids must be unique")
    if len(corpus) == 0:
        raise UnreadableError(
            f"{source.name}: no document could be read ({len(skipped)} skipped); "
            "there is nothing to compare"
        )
    return corpus


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
    corpus: AnyCorpus, skipped: Skipped, banding: Banding, engine: Engine[AnyCorpus], clock: Clock
) -> dict[str, Any]:
    """What a run did, in numbers."""
    return {
        "documents": len(corpus) - len(corpus.repeated),
        "skipped": len(skipped),
        "empty": len(corpus.empty),
        "copies": len(corpus.copies),
        "k": corpus.settings.text.whole_k,
        "method": corpus.choice.method,
        "why": corpus.choice.why,
        **(asdict(banding) if corpus.choice.method == "lsh" else {}),
        "compared": engine.compared,
        "candidates": engine.verified,
        "seconds": clock.seconds,
    }
