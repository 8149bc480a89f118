"""Jaccard similarity of sets of shingles: what two texts share out of what they have together."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import count_characters, spans, take_strings
from nearly.frozen import dataclass
from nearly.measures.base import Keys, Signed, Sketches, Suspects, Weighed, exact_ratio
from nearly.measures.dropped import Hashes, digest, dropped_shingles, from_bytes, to_bytes
from nearly.measures.held_shingles import Sets, Shingles
from nearly.measures.normalisation import normalise, steps
from nearly.measures.set_measure import SetMeasure
from nearly.measures.shingle import auto_k, shingle_bags, shingle_sets
from nearly.settings import Scheme, Settings, TextSettings
from nearly.tuning.banding import Banding
from nearly.tuning.hashing import MINHASH, Hashing, background

__all__ = ["Jaccard"]

#: Bytes of text that are joined in a few hundredths of a second, as fast as they are hashed or
#: nearly so. Runs of characters are shared by more strangers than runs of words.
MOST_TO_JOIN: Final = {"char": 2**21, "word": 2**22}
#: Bytes of text by words that are read before the first is signed, if they are signed at all.
MOST_TO_TRY: Final = 2**26

#: Runs of words are hardly shared by strangers; see `background`.
HASHING: Final = {"char": MINHASH, "word": replace(MINHASH, pairs=background(0.02, 2e-5))}


@dataclass(frozen=True, kw_only=True)
class Jaccard(SetMeasure):
    """Texts as sets or bags of shingles; `k` is decided by the corpus where it is auto.

    The set of a text is without the shingles of the templates that `text` says to ignore, and
    without those that more than the share `common` of the documents have. The corpus decides these:
    `too_common` holds their hashes then.
    """

    name: ClassVar[str] = "jaccard"

    text: TextSettings
    seed: int
    scheme: Scheme
    bag: bool = False
    common: float | None = None
    too_common: bytes | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As settings say."""
        return cls(
            text=settings.text,
            seed=settings.seed,
            scheme=settings.scheme,
            bag=settings.bag,
            common=settings.share,
        )

    @property
    def hashing(self) -> Hashing:
        """Two sets have the same minhash with a chance that is their similarity."""
        return HASHING[self.text.unit]

    @property
    def compared(self) -> str:
        """Sets are not named, for they are usual."""
        bags = "bags of " if self.bag else ""
        return f"{bags}{self.text.unit} {self.text.k}-shingles"

    def weigh(self, contents: pa.LargeStringArray) -> Weighed:
        """The size of a document is its number of shingles, repeats included."""
        if self.bag:
            return super().weigh(contents)
        normal = normalise(contents, self.text)
        sizes, digests = self._measured(normal, self._dropped)
        return Weighed(sizes=sizes, digests=digests, is_ignored=self._is_ignored(normal, sizes))

    def weigh_with_shingles(self, contents: pa.LargeStringArray) -> Weighed:
        """They are made, and not only counted."""
        normal = normalise(contents, self.text)
        sizes, digests, offsets, hashes = _kernels.weigh_with_shingles(
            *spans(normal),
            unit=self.text.unit,
            k=self.text.whole_k,
            seed=self.seed,
            dropped=self._dropped,
        )
        return Weighed(
            sizes=sizes,
            digests=digests,
            is_ignored=self._is_ignored(normal, sizes),
            shingles=(offsets, hashes),
        )

    def sign_shingles(self, shingles: Shingles, banding: Banding) -> tuple[Keys, Sketches]:
        """See `Measure`."""
        return _kernels.sign_shingles(
            *shingles, seed=self.seed, scheme=self.scheme, bands=banding.bands, rows=banding.rows
        )

    def sign(self, contents: pa.LargeStringArray, banding: Banding) -> Signed:
        """Keys of 32 bits per band, sketches of 2 bits per position."""
        if self.bag:
            return super().sign(contents, banding)
        normal = normalise(contents, self.text)
        sizes, digests, keys, sketches = _kernels.sign(
            *spans(normal),
            unit=self.text.unit,
            k=self.text.whole_k,
            seed=self.seed,
            scheme=self.scheme,
            bands=banding.bands,
            rows=banding.rows,
            dropped=self._dropped,
        )
        return Signed(
            sizes=sizes,
            digests=digests,
            is_ignored=self._is_ignored(normal, sizes),
            keys=keys,
            sketches=sketches,
        )

    def asker(
        self, banding: Banding, threshold: Fraction, most: int, most_different: int
    ) -> _kernels.TextAsker | None:
        """Of sets, by what they have together; others are compared otherwise."""
        if self.bag or self.of_smaller:
            return None
        return _kernels.TextAsker(
            raw=self.text.raw,
            form=self.text.form,
            unit=self.text.unit,
            k=self.text.whole_k,
            seed=self.seed,
            scheme=self.scheme,
            bands=banding.bands,
            rows=banding.rows,
            dropped=self._dropped,
            numerator=threshold.numerator,
            denominator=threshold.denominator,
            most=most,
            most_different=most_different,
            **steps(self.text),
        )

    def _measured(
        self, normal: pa.LargeStringArray, dropped: _kernels.HashIndex | None
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        return _kernels.measure(
            *spans(normal),
            unit=self.text.unit,
            k=self.text.whole_k,
            seed=self.seed,
            dropped=dropped,
        )

    def _is_ignored(
        self, normal: pa.LargeStringArray, sizes: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.bool_] | None:
        """Which of the documents without a shingle had some before they were dropped."""
        if not self.drops:
            return None
        bare = np.flatnonzero(sizes == 0).astype(np.uint32)
        before, _ = self._measured(take_strings(normal, bare), None)
        is_ignored = np.zeros(len(sizes), bool)
        is_ignored[bare[before > 0]] = True
        return is_ignored

    def sets(self, contents: pa.LargeStringArray, *, in_order: bool = False) -> Sets:
        """Sets of shingles without those that are dropped; or bags, their shingles numbered."""
        if self.bag:
            return shingle_bags(contents, self.text, self.seed)
        return shingle_sets(
            contents, self.text, self.seed, in_order=in_order, dropped=self._dropped
        )

    @property
    def most_to_join(self) -> int:
        """By unit; docs/methods.md has the measurements."""
        return MOST_TO_JOIN[self.text.unit]

    @property
    def most_to_try(self) -> int:
        """Sets of runs of words; by characters the join is dearer, whatever the corpus."""
        return MOST_TO_TRY if self.text.unit == "word" and not self.bag else 0

    @property
    def _dropped(self) -> _kernels.HashIndex | None:
        return dropped_shingles(self.text, self.seed, self.too_common or b"")

    @property
    def is_settled(self) -> bool:
        """Whether k is a number."""
        return self.text.k != "auto"

    def extent(self, contents: pa.LargeStringArray) -> int:
        """Characters."""
        return count_characters(contents)

    def settled(self, mean_extent: float) -> Self:
        """With the k that suits documents of this many characters."""
        if self.is_settled:
            return self
        return replace(self, text=replace(self.text, k=auto_k(self.text.unit, mean_extent)))

    @property
    def is_counted(self) -> bool:
        """Whether no shingle can be too common, or it is known which ones are."""
        return self.common is None or self.too_common is not None

    def suspects(self) -> Suspects:
        """By lossy counting."""
        share = exact_ratio(self.common or 1)
        return _Suspects(self, _kernels.Frequency(share.numerator, share.denominator))

    def occurrences(
        self, contents: pa.LargeStringArray, suspects: Hashes
    ) -> npt.NDArray[np.uint32]:
        """Each document counts once."""
        _, hashes = self.sets(contents)
        return _kernels.HashIndex(suspects).count(hashes)

    def counted(self, suspects: Hashes, occurrences: npt.NDArray[np.int64], documents: int) -> Self:
        """With the shingles that are in more than their share of the documents."""
        most = math.floor(exact_ratio(self.common or 1) * documents)
        return replace(self, too_common=to_bytes(suspects[occurrences > most]))

    @property
    def drops(self) -> bool:
        """Whether there is anything to ignore, or perhaps too common."""
        return bool(self.text.templates) or self.common is not None

    @property
    def common_count(self) -> int | None:
        """Shingles that are in too many documents."""
        return None if self.too_common is None else len(from_bytes(self.too_common))

    def decided(self, settings: Settings) -> Settings:
        """Settings with k as a number."""
        return replace(settings, text=self.text)

    def facts(self) -> dict[str, Any]:
        """What is dropped can be long: a digest stands for it."""
        plain = super().facts()
        templates = "\0".join(map(digest, self.text.templates))
        plain["text"]["ignore"] = digest(templates)
        plain["too_common"] = None if self.too_common is None else digest(self.too_common)
        return plain


class _Suspects:
    """See `Suspects`."""

    def __init__(self, measure: Jaccard, frequency: _kernels.Frequency):
        self._measure, self._frequency = measure, frequency

    def add(self, contents: pa.LargeStringArray) -> None:
        """See `Suspects`."""
        self._frequency.add(*self._measure.sets(contents))

    def found(self) -> Hashes:
        """See `Suspects`."""
        return self._frequency.suspects()
