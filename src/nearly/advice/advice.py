"""From a goal, and perhaps a corpus, to the best few settings and what each of them would do."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.advice.bucket import band_keys, fill_buckets
from nearly.advice.sample import CLOSENESSES, Estimate, Sample, Vector, draw_sample
from nearly.documents.corpus import Corpus
from nearly.engines.local.engine import LocalEngine
from nearly.errors import SettingsError
from nearly.measures.base import Measure
from nearly.pipeline import choose_banding
from nearly.progress import Progress
from nearly.settings import Settings
from nearly.sources import Skipped, Source
from nearly.stages.rehearsal import settled
from nearly.stages.search import BINS
from nearly.tabular import Tabular
from nearly.tuning import cost as costs
from nearly.tuning.banding import (
    Banding,
    approximate_threshold,
    areas,
    expected_candidates,
    expected_meetings,
    expected_recall,
    expected_seconds,
    explicit,
    half_point,
    least_weighted_area,
    meeting_recall,
    nearest_threshold,
    steepest_point,
)
from nearly.tuning.family import Family
from nearly.tuning.hashing import Closenesses
from nearly.tuning.method import Choice as MethodChoice
from nearly.tuning.method import choose_method
from nearly.tuning.valley import BARS, Valley, find_valley
from nearly.wording import count

__all__ = ["Advice", "Choice", "Chooser", "advise", "choose", "explain", "points", "survey"]

Chooser = Literal["goal", "area", "nearest"]

#: How many settings are worked out and shown.
FEW: Final = 5
#: More documents than this are not signed for each setting: this many stand for all.
MOST_SIGNED: Final = 100_000
CURVE_POINTS: Final = 101


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One setting, and what a run with it is expected to do."""

    banding: Banding
    threshold: float
    recall: Estimate  # over the pairs that exist
    meetings: float  # of pairs in buckets: a pair that shares three bands meets three times
    candidates: Estimate  # pairs that meet, each counted once
    wasted: float  # candidates below the threshold
    seconds: float
    memory: int | None  # bytes; not known without a corpus

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: the mathematics first, then what is expected."""
        return explain(self.banding, self.threshold) | {
            "recall": self.recall._asdict(),
            "meetings": round(self.meetings),
            "candidates": self.candidates._asdict(),
            "candidates_in_vain": round(self.wasted),
            "seconds": self.seconds,
            "memory": self.memory,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice(Tabular):
    """The best few settings, the best one first, and what they were judged by."""

    choices: tuple[Choice, ...]
    threshold: float
    documents: int  # distinct ones
    similarities: Closenesses  # shares of all pairs
    sampled: int | None  # documents that were searched; none without a corpus
    pairs: Estimate | None  # that reach the threshold
    bars: tuple[float, ...] | None  # pairs by similarity in equal steps; none without a corpus
    valley: Valley | None  # between near-copies and strangers, where there is one
    usual: Banding  # what `find` takes for the same settings
    settings: Settings
    skipped: pa.Table  # record, reason
    statistics: dict[str, Any]

    def __repr__(self) -> str:
        banding = self.best.banding
        bands, rows = count(banding.bands, "band"), count(banding.rows, "row")
        return f"Advice: {bands} of {rows} for {count(self.documents, 'document')}"

    def to_arrow(self) -> pa.Table:
        """One row per setting, the best one first, without the curves."""
        rows = [choice.to_dict() for choice in self.choices]
        return pa.Table.from_pylist([{k: v for k, v in r.items() if k != "curve"} for r in rows])

    @property
    def best(self) -> Choice:
        """What a run should take."""
        return self.choices[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: the best setting, and all of them under `choices`."""
        return self.best.to_dict() | {
            "documents": self.documents,
            "sampled": self.sampled,
            "pairs": self.pairs and self.pairs._asdict(),
            "bars": self.bars and list(self.bars),
            "valley": self.valley and asdict(self.valley),
            "find": {"bands": self.usual.bands, "rows": self.usual.rows},
            "similarities": [[s, share] for s, share in self.similarities if share > 0],
            "choices": [choice.to_dict() for choice in self.choices],
            "settings": self.settings.to_dict(),
            "statistics": self.statistics,
        }


def explain(banding: Banding, threshold: float) -> dict[str, Any]:
    """What the mathematics says of one setting at a threshold, as plain values."""
    bands, rows = banding.bands, banding.rows
    beside = areas(banding.family, threshold)
    row = banding.hashing.sensitivity(threshold)
    grid = [i / (CURVE_POINTS - 1) for i in range(CURVE_POINTS)]
    return {
        "bands": bands,
        "rows": rows,
        "permutations": banding.permutations,
        "agreement": banding.agreement,
        "threshold": threshold,
        "row_sensitivity": list(row),
        "approximate_threshold": approximate_threshold(banding),
        "half_point": half_point(banding),
        "steepest_point": steepest_point(banding),
        "recall_at_threshold": banding.recall(threshold),
        "false_positive_area": beside.false_positive,
        "false_negative_area": beside.false_negative,
        "curve": [[s, banding.family.probability(s)] for s in grid],
    }


def points(banding: Banding, similarities: Sequence[float]) -> list[dict[str, float]]:
    """What becomes of a pair of each of these similarities, and what it costs."""
    return [
        {
            "similarity": s,
            "distance": banding.hashing.distance(s),
            "candidate": banding.family.probability(s),
            "meetings": banding.bands * banding.band.probability(s),
            "verified": min(banding.family.probability(s), banding.filter.probability(s)),
            "recall": banding.recall(s),
        }
        for s in similarities
    ]


def advise(measure: Measure, settings: Settings, chooser: Chooser, documents: int) -> Advice:
    """From the mathematics alone, for documents of which nothing but their number is known."""
    if documents < 2:
        raise SettingsError(f"documents is {documents!r}; pairs need at least 2")
    similarities = measure.hash_functions().pairs
    closeness = float(measure.closeness(measure.threshold(settings)))
    bandings = choose(
        measure, settings, chooser, lambda banding: expected_seconds(banding, documents)
    )
    return Advice(
        choices=tuple(_by_mathematics(b, closeness, documents, similarities) for b in bandings),
        threshold=closeness,
        documents=documents,
        similarities=similarities,
        sampled=None,
        pairs=None,
        bars=None,
        valley=None,
        usual=choose_banding(measure, settings),
        settings=settings,
        skipped=Skipped(strict=False).table(),
        statistics={"documents": documents, "skipped": 0, "empty": 0, "copies": 0},
    )


def choose(
    measure: Measure, settings: Settings, chooser: Chooser, cost: Callable[[Banding], float]
) -> list[Banding]:
    """The settings worth a closer look; of those that meet a goal the cheapest ones."""
    closeness = float(measure.closeness(measure.threshold(settings)))
    recall, hashing = settings.recall, measure.hash_functions()
    most = settings.permutations * hashing.rows_a_permutation
    if settings.bands is not None and settings.rows is not None:
        found = [Banding(settings.bands, settings.rows, hashing=hashing)]
    elif chooser == "nearest":
        found = [nearest_threshold(most, closeness, hashing)]
    elif chooser == "area":
        found = [least_weighted_area(most, closeness, hashing=hashing)]
    else:
        found = meeting_recall(closeness, recall, most, hashing)
    complete = [explicit(one.bands, one.rows, closeness, recall, hashing) for one in found]
    return sorted(complete, key=cost)[:FEW]


def _by_mathematics(
    banding: Banding, threshold: float, documents: int, similarities: Closenesses
) -> Choice:
    recall = expected_recall(banding, threshold, similarities)
    candidates = expected_candidates(banding, documents, similarities)
    pairs = documents * (documents - 1) / 2
    return Choice(
        banding=banding,
        threshold=threshold,
        recall=Estimate(recall, recall, recall),
        meetings=expected_meetings(banding, documents, similarities),
        candidates=Estimate(candidates, candidates, candidates),
        wasted=pairs * areas(banding.family, threshold, similarities).false_positive,
        seconds=expected_seconds(banding, documents, similarities),
        memory=None,
    )


def survey(
    source: Source,
    measure: Measure,
    settings: Settings,
    engine: LocalEngine,
    skipped: Skipped,
    *,
    chooser: Chooser,
    sample: int,
    progress: Progress,
) -> Advice:
    """From the corpus itself: some of its documents are searched exactly against all."""
    # What is impossible is said before anything is read.
    scout = choose(
        measure, settings, chooser, lambda banding: expected_seconds(banding, MOST_SIGNED)
    )[0]
    start = time.perf_counter()
    # No signature is needed of these documents, as for an exact run.
    unsigned = replace(settings, method="exact")
    corpus = engine.load(source, measure, unsigned, Banding(1, 1), skipped, keep=None)
    size = costs.Corpus(
        documents=len(corpus),
        text=int(corpus.lengths().sum()),
        reading=time.perf_counter() - start,
        threads=engine.threads,
    )
    drawn = draw_sample(
        corpus, scout, sample, seed=settings.seed, threads=engine.threads, progress=progress
    )
    surveyed = _Surveyed(corpus, size, drawn, progress)
    bandings = choose(measure, settings, chooser, surveyed.cost)
    usual = choose_banding(measure, settings)
    method = _method(corpus, settings, size, usual)
    partners = drawn.counts[:, surveyed.first_bin :].sum(axis=1)
    bars = _in_bars(drawn.histogram)
    return Advice(
        choices=tuple(surveyed.predict(banding) for banding in bandings),
        threshold=surveyed.closeness,
        documents=drawn.population,
        similarities=drawn.similarities(),
        sampled=len(drawn.documents),
        pairs=drawn.estimate(partners / 2),
        bars=tuple(bars),
        valley=find_valley(bars, _in_bars(drawn.counts.sum(axis=0))),
        usual=usual,
        settings=corpus.measure.decided(settings),
        skipped=skipped.table(),
        statistics={
            **corpus.counts.told(corpus.measure),
            "skipped": len(skipped),
            "method": method.method,
            "why": method.why,
        },
    )


def _method(
    corpus: Corpus, settings: Settings, size: costs.Corpus, banding: Banding
) -> MethodChoice:
    """What a run would choose."""
    measure, documents = corpus.measure, corpus.representatives
    chosen = choose_method(
        settings, size.documents, size.text, measure, clusters_only=False, is_sided=False
    )
    if not chosen.is_tentative:
        return chosen

    def read(drawn: npt.NDArray[np.int64]) -> pa.Array:
        return corpus.texts(documents[drawn])

    return settled(chosen, measure, settings, banding, len(documents), size.text, read)


class _Surveyed:
    """A corpus of which a sample is known: what would a setting do with it?"""

    def __init__(self, corpus: Corpus, size: costs.Corpus, sample: Sample, progress: Progress):
        self._corpus, self._size, self._sample, self._progress = corpus, size, sample, progress
        measure = corpus.measure
        threshold = measure.closeness(measure.threshold(corpus.settings))
        self.closeness = float(threshold)
        self.first_bin = math.ceil(threshold * BINS)  # that lies above the threshold, or on it
        self._lengths = corpus.lengths()[sample.documents]
        everyone = corpus.representatives
        if len(everyone) > MOST_SIGNED:
            random = np.random.default_rng(corpus.settings.seed)
            everyone = np.sort(random.choice(everyone, MOST_SIGNED, replace=False))
        self._signed = everyone

    def cost(self, banding: Banding) -> float:
        """Seconds, by the distribution of similarities alone: good for comparing settings."""
        signing = costs.signing_seconds(self._size, banding)
        in_a_band = _probabilities(banding.hashing.row) ** banding.rows
        meetings = banding.bands * float(self._sample.histogram @ in_a_band)
        return costs.seconds(self._size, self._work(banding, signing, meetings))

    def predict(self, banding: Banding) -> Choice:
        """Sign with the run's own hash functions, count the buckets, and calculate."""
        meetings, candidates, signing = self._count(banding)
        above = slice(self.first_bin, None)
        true = float(self._sample.histogram[above] @ _probabilities(banding.family)[above])
        work = self._work(banding, signing, meetings)
        return Choice(
            banding=banding,
            threshold=self.closeness,
            recall=_recall(self._sample, banding, self.closeness, self.first_bin),
            meetings=meetings,
            candidates=candidates,
            wasted=max(0.0, candidates.value - true),
            seconds=costs.seconds(self._size, work),
            memory=costs.memory(self._size, work),
        )

    def _work(self, banding: Banding, signing: float, meetings: float) -> costs.Work:
        goes_on = _probabilities(banding.family) * _probabilities(banding.filter)
        verified = self._sample.counts @ goes_on
        return costs.Work(
            banding=banding,
            signing=signing,
            meetings=meetings,
            verified=self._sample.total(verified) / 2,
            # Each pair is seen from both its ends, and each end brings its own text.
            verified_text=self._sample.total(verified * self._lengths),
        )

    def _count(self, banding: Banding) -> tuple[float, Estimate, float]:
        """Meetings, candidates, and the seconds that signing takes."""
        corpus, sample, progress = self._corpus, self._sample, self._progress
        threads = self._size.threads
        if banding.hashing.least_drawn:
            return self._count_drawn(banding)
        buckets = fill_buckets(corpus, self._signed, banding, threads=threads, progress=progress)
        # Where not all were signed, those who were stand for the others.
        signed, everyone = len(self._signed), sample.population
        meetings = buckets.meetings * (everyone * (everyone - 1)) / (signed * (signed - 1))
        share, error = buckets.candidates_a_meeting(len(sample.draws), corpus.settings.seed)
        doubt = 1.96 * math.hypot(error / share, buckets.uncertainty(everyone))
        value = meetings * share
        candidates = Estimate(value, value * max(0.0, 1 - doubt), value * (1 + doubt))
        return meetings, candidates, buckets.seconds * everyone / signed

    def _count_drawn(self, banding: Banding) -> tuple[float, Estimate, float]:
        """The same where keys are drawn: a pair meets once, by the curve, without a bucket."""
        start = time.perf_counter()
        threads, progress = self._size.threads, self._progress
        band_keys(self._corpus, self._signed, banding, threads=threads, progress=progress)
        signing = (time.perf_counter() - start) * self._sample.population / len(self._signed)
        met = self._sample.estimate(self._sample.counts @ _probabilities(banding.family) / 2)
        return met.value, met, signing


def _in_bars(counts: npt.NDArray[Any]) -> list[Any]:
    """Counts by bin of closeness as a few wide bars; a pair of closeness 1 is in the last."""
    bars = counts[:BINS].reshape(BARS, -1).sum(axis=1)
    bars[-1] += counts[BINS]
    return bars.tolist()  # type: ignore[no-any-return]


def _probabilities(family: Family) -> Vector:
    return np.array([family.probability(s) for s in CLOSENESSES.tolist()])


def _recall(sample: Sample, banding: Banding, threshold: float, first: int) -> Estimate:
    """The share of the pairs from the threshold upwards that a run finds.

    Two things are uncertain: which documents were drawn, and the luck of the run's hash
    functions. The second is taken at its worst, as if a document's pairs were all found or all
    missed together.
    """
    counts = sample.counts[:, first:]
    partners = counts.sum(axis=1)
    pairs = sample.total(partners) / 2
    if pairs == 0:
        return Estimate(1.0, banding.recall(threshold), 1.0)
    found = counts @ np.array([banding.recall(s) for s in CLOSENESSES[first:]])
    estimate = sample.estimate(found, of=partners)
    together = sample.total(partners**2) / sample.total(partners)
    luck = 1.96 * math.sqrt((1 - estimate.value) * together / pairs)
    return Estimate(
        estimate.value,
        max(0.0, estimate.value - math.hypot(estimate.value - estimate.low, luck)),
        min(1.0, estimate.value + math.hypot(estimate.high - estimate.value, luck)),
    )
