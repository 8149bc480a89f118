"""Where the similarities of a corpus lie, from some of its documents searched against all.

Nearly all pairs of a corpus share almost nothing, so pairs drawn at random say nothing about the
few that matter. Documents are drawn instead, and each is compared exactly with every other one.
The pairs that matter gather in clusters, so half of the draws go where it is crowded: the chance
of a document rises with the company that it meets in the buckets of some setting, and each draw is
weighed by the inverse of its chance (Hansen and Hurwitz, 1943). The estimates are unbiased,
whatever the buckets say.

Exact copies are no part of it: they are linked without a search, and all counts here are of
representatives.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.advice.bucket import band_keys, crowding
from nearly.documents.corpus import Corpus
from nearly.errors import SettingsError, SourceError
from nearly.measures.number import Documents
from nearly.progress import Progress
from nearly.stages.search import BINS, count_by_closeness
from nearly.tuning.banding import Banding
from nearly.tuning.hashing import Closenesses

__all__ = ["CLOSENESSES", "Estimate", "Sample", "Vector", "draw_sample"]

Vector = npt.NDArray[np.float64]

#: The middle of each bin of closeness; the last one holds what is 1 exactly.
CLOSENESSES: Vector = np.append((np.arange(BINS) + 0.5) / BINS, 1.0)
RESAMPLES = 1_000


class Estimate(NamedTuple):
    """A number, and the interval that covers it with 95% confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Documents that were drawn, some of them more than once, and all their similarities."""

    population: int
    documents: Documents  # each once, ascending
    draws: npt.NDArray[np.intp]  # of each draw: its place among the documents
    chances: Vector  # of each draw: the chance that it had
    counts: npt.NDArray[np.int64]  # of each document: others by similarity

    @property
    def is_whole(self) -> bool:
        """Whether every document is in it: then nothing is left to chance."""
        return len(self.documents) == self.population

    def total(self, values: npt.NDArray[np.float64 | np.int64]) -> float:
        """The sum over the population of something that is known of each drawn document."""
        return float((values[self.draws] / self.chances).mean())

    @cached_property
    def histogram(self) -> Vector:
        """The number of pairs of the corpus by similarity, but for those that share nothing."""
        return self._weights @ self.counts / 2

    def similarities(self) -> Closenesses:
        """Shares of all pairs by similarity, as `nearly.tuning.banding` takes them."""
        apart = self._weights @ (self.population - 1 - self.counts.sum(axis=1)) / 2
        pairs = np.append(apart, self.histogram)
        shares = pairs / pairs.sum()
        return list(zip([0.0, *CLOSENESSES.tolist()], shares.tolist(), strict=True))

    @property
    def _weights(self) -> Vector:
        """How many documents of the population each drawn one stands for."""
        return np.bincount(self.draws, 1 / self.chances, len(self.documents)) / len(self.draws)

    def estimate(
        self,
        values: npt.NDArray[np.float64 | np.int64],
        of: npt.NDArray[np.float64 | np.int64] | None = None,
    ) -> Estimate:
        """The total of some values of documents, or its ratio to that of others.

        The interval is that of the bootstrap: the draws are drawn again, many times.
        """
        value = self.total(values) / (1 if of is None else self.total(of))
        if self.is_whole:
            return Estimate(value, value, value)
        random = np.random.default_rng(len(self.draws))
        size = len(self.draws)
        again = random.multinomial(size, np.full(size, 1 / size), RESAMPLES) / size
        totals = again @ (values[self.draws] / self.chances)
        if of is not None:
            parts = again @ (of[self.draws] / self.chances)
            totals = np.divide(totals, parts, out=np.full(RESAMPLES, value), where=parts > 0)
        low, high = np.quantile(totals, [0.025, 0.975])
        return Estimate(value, float(low), float(high))


def draw_sample(
    corpus: Corpus, scout: Banding, size: int, *, seed: int, threads: int, progress: Progress
) -> Sample:
    """Draw documents by seed, more often where the buckets of a setting are crowded; and search."""
    if size < 1:
        raise SettingsError(f"sample is {size!r}; draw at least 1 document, for example 500")
    population = corpus.representatives
    if len(population) < 2:
        raise SourceError(
            f"the corpus has {len(population)} distinct document{'s' * (len(population) != 1)} "
            "with text; tuning needs pairs: give at least 2 documents, or no corpus at all"
        )
    if size >= len(population):
        places, chances = np.arange(len(population)), np.full(len(population), 1 / len(population))
    else:
        progress.stage("draw", len(population))
        company = crowding(band_keys(corpus, population, scout, threads=threads, progress=progress))
        chance = _chances(company)
        places = np.random.default_rng(seed).choice(len(population), size, p=chance)
        chances = chance[places]
    drawn, draws = np.unique(places, return_inverse=True)
    documents = population[drawn]
    counts = count_by_closeness(corpus, documents, threads=threads, progress=progress)
    return Sample(
        population=len(population),
        documents=documents,
        draws=draws,
        chances=chances,
        counts=counts,
    )


def _chances(company: npt.NDArray[np.int64]) -> Vector:
    """Half evenly, half by company; all evenly where nobody has any."""
    even = np.full(len(company), 1 / len(company))
    total = company.sum()
    return even if total == 0 else (even + company / total) / 2
