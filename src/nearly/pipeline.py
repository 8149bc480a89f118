"""The straight line: everything that happens between documents and answers, top to bottom.

source → documents → (exact copies collapsed) → signatures → bands → candidates
       → verified pairs → clusters → results
"""

from functools import cache
from typing import Any

from nearly.documents.readable import Readable
from nearly.engines.base import Corpus, Engine, HeldCorpus, HeldPairs, NearPairs
from nearly.measures.base import Measure
from nearly.results import Deduplicated, Found, Statistics
from nearly.settings import Settings
from nearly.sources import Skipped
from nearly.stages.candidate import HUBS
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding, explicit, for_recall

__all__ = ["choose_banding", "dedup", "find"]


def find(
    source: Readable,
    measure: Measure,
    settings: Settings,
    engine: Engine[HeldCorpus, HeldPairs],
    skipped: Skipped,
    *,
    audited: int = 0,
    unique_ids: bool = False,
    top: int = 20,
    around: int = 0,
) -> Found:
    """Every pair at least as near as the threshold, and the clusters they form.

    `audited` documents are searched exactly afterwards, to prove how much was found; and `around`,
    to show what nearly was. `top` pairs are shown with their texts. `unique_ids`: an id that
    repeats is an error.
    """
    banding = choose_banding(measure, settings)
    corpus = engine.load(source, measure, settings, banding, skipped, keep=None)
    check_ids(corpus, unique=unique_ids)
    near = engine.near_pairs(corpus, banding, hubs=0)
    found = engine.found(corpus, near, top=top)
    audit = engine.audit(corpus, near, audited) if audited else None
    return Found(
        pairs=found.pairs,
        clusters=found.clusters,
        skipped=skipped.table(),
        settings=corpus.settings,
        statistics=Statistics(
            **statistics(corpus, near, skipped, banding),
            seconds=engine.progress.seconds(),
            near=len(near),
            pairs=found.pair_count,
            clusters=found.cluster_count,
            audit=audit,
            source=source.facts(),
        ),
        read_top=found.read_top,
        read_difference=found.read_difference,
        around=engine.around(corpus, near, around, top=top) if around else None,
        read_texts=engine.text_reader(corpus),
    )


def dedup(
    source: Readable,
    measure: Measure,
    settings: Settings,
    engine: Engine[HeldCorpus, HeldPairs],
    skipped: Skipped,
    keep: Keep,
    *,
    unique_ids: bool = False,
) -> Deduplicated:
    """One survivor of each cluster; every removed document is compared with its survivor."""
    banding = choose_banding(measure, settings)
    corpus = engine.load(source, measure, settings, banding, skipped, keep=keep)
    check_ids(corpus, unique=unique_ids)
    near = engine.near_pairs(corpus, banding, hubs=HUBS)
    cleaned = engine.cleaned(corpus, near, keep)
    return Deduplicated(
        removed=cleaned.removed,
        clusters=cleaned.clusters,
        skipped=skipped.table(),
        settings=corpus.settings,
        statistics=Statistics(
            **statistics(corpus, near, skipped, banding),
            seconds=engine.progress.seconds(),
            removed=cleaned.removed_count,
            below=cleaned.below,
            clusters=cleaned.cluster_count,
            hubs=HUBS,
            source=source.facts(),
        ),
        schema=source.schema,
        read_kept=cleaned.read_kept,
        read_texts=engine.text_reader(corpus),
    )


def check_ids(corpus: Corpus, *, unique: bool) -> None:
    """Refuse ids that repeat, if they have to be unique."""
    if unique and corpus.counts.repeated_ids:
        raise corpus.first_repeat().error()


@cache
def choose_banding(measure: Measure, settings: Settings) -> Banding:
    """Bands and rows as they were given, or as the recall at the threshold asks for them."""
    threshold = measure.threshold(settings)
    is_open = settings.method == "auto" and settings.bands is None
    if settings.method == "exact" or (is_open and measure.hashing is None):
        return Banding(1, 1)  # will not be used
    hashing, closeness = measure.hash_functions(), float(measure.closeness(threshold))
    if settings.bands is not None and settings.rows is not None:
        given = settings.bands, settings.rows
        return explicit(*given, closeness, settings.recall, hashing)
    most = settings.permutations * hashing.rows_a_permutation
    return for_recall(closeness, settings.recall, most, hashing=hashing)


def statistics(
    corpus: Corpus, near: NearPairs, skipped: Skipped, banding: Banding
) -> dict[str, Any]:
    """What a run did, in numbers."""
    hashed = {} if near.choice.method == "exact" else _hashed(corpus, banding)
    return {
        **corpus.counts.told(corpus.measure),
        "skipped": len(skipped),
        "repeated_ids": corpus.counts.repeated_ids or None,
        "sharing_ids": corpus.counts.sharing_ids or None,
        "measure": corpus.measure.name,
        "compared": corpus.measure.compared,
        "k": corpus.settings.text.k,
        "method": near.choice.method,
        "why": near.choice.why,
        **hashed,
        "largest_bucket": near.largest_bucket,
        "meetings": near.meetings,
        "verified": near.verified,
    }


def _hashed(corpus: Corpus, banding: Banding) -> dict[str, Any]:
    """How documents were hashed, and what that promises."""
    is_drawn = banding.hashing.least_drawn > 0
    bands = {"bands": banding.bands, "rows": banding.rows}
    closeness = corpus.measure.closeness(corpus.measure.threshold(corpus.settings))
    return {
        **({"drawn": banding.bands} if is_drawn else bands),
        "agreement": banding.agreement,
        "promised": banding.recall(float(closeness)),
    }
