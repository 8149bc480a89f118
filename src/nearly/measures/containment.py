"""Containment: how much of the smaller of two sets is in the larger.

The value of a pair is the share of the smaller set that the larger one holds; both shares are
reported beside it. When hashed, a document is known by a few of its members, drawn at random. They
are looked for in the whole sets of others, so the size of the other set does not matter. (LSH
Ensemble, Zhu and others 2016, compares signatures of both, which agree the less, the more sizes
differ.)
"""

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.frozen import dataclass
from nearly.measures.base import Prober, Signed, Weighed
from nearly.measures.item_jaccard import ItemJaccard
from nearly.measures.jaccard import Jaccard
from nearly.measures.normalisation import normalise
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed
from nearly.measures.set_measure import SetMeasure
from nearly.settings import Settings
from nearly.tuning.banding import Banding
from nearly.tuning.family import MinHash
from nearly.tuning.hashing import Hashing, background

__all__ = ["Containment", "ItemContainment"]

#: A drawn member of the smaller set is in the larger one with a chance that is the containment.
#: Nothing is sketched: the keys are the members themselves.
DRAWN: Final = Hashing(
    row=MinHash(), sketch=MinHash(), bits=0, pairs=background(0.07, 2e-4), least_drawn=32
)


class _Contained(SetMeasure):
    """What both share, whatever the sets are made of."""

    name: ClassVar[str] = "containment"
    of_smaller: ClassVar[bool] = True
    usual_keep: ClassVar[str] = "largest"
    sides: ClassVar[tuple[str, ...]] = ("containment_a", "containment_b")

    @property
    def hashing(self) -> Hashing:
        """A drawn member is found, by containment."""
        return DRAWN

    @property
    def compared(self) -> str:
        """The sets, and that one is contained in the other."""
        return f"containment of {super().compared}"

    @property
    def most_to_join(self) -> int:
        """Joining is about as fast as drawing, as long as everything fits."""
        return 2**27

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """The keys are those of members that were drawn."""
        weighed = self.weigh(contents)
        keys = _kernels.draw_samples(*self.sets(contents), self.seed, banding.bands)
        return Signed(
            sizes=weighed.sizes,
            digests=weighed.digests,
            is_ignored=weighed.is_ignored,
            keys=keys,
            sketches=np.empty((len(keys), 0), np.uint64),
        )

    def prober(
        self,
        documents: Documents,
        sizes: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint32],
        banding: Banding,
        threshold: Fraction,
    ) -> Prober:
        """Of a set that was drawn whole, as many must be found as the threshold says."""
        needed = -(-sizes.astype(np.int64) * threshold.numerator // threshold.denominator)
        least = np.where(sizes <= banding.bands, needed, banding.agreement).astype(np.uint32)
        return _Samples(self, _kernels.SampleIndex(documents, sizes, least, keys, self.seed))

    def settings_to_dedup(self, settings: Settings) -> Settings:
        """By leader: two sets that hold a third may have nothing else in common."""
        return replace(settings, cluster="leader")

    def of_sides(
        self,
        nearness: Nearness,
        sizes_a: npt.NDArray[np.uint32],
        sizes_b: npt.NDArray[np.uint32],
    ) -> tuple[Nearness, ...]:
        """How much of each document the other one holds."""
        shared = np.rint(nearness * np.minimum(sizes_a, sizes_b))
        return shared / sizes_a, shared / sizes_b


@dataclass(frozen=True, kw_only=True)
class Containment(_Contained, Jaccard):
    """Of texts, as sets or bags of shingles."""

    def weigh(self, contents: pa.LargeStringArray) -> Weighed:
        """The size of a document is that of its set, for both shares are told by it."""
        weighed = SetMeasure.weigh(self, contents)
        if not self.drops:
            return weighed
        normal = normalise(contents, self.text)
        return replace(weighed, is_ignored=self._is_ignored(normal, weighed.sizes))


@dataclass(frozen=True, kw_only=True)
class ItemContainment(_Contained, ItemJaccard):
    """Of items as they are given."""


class _Samples:
    """See `Prober`."""

    def __init__(self, measure: SetMeasure, samples: _kernels.SampleIndex):
        self._measure, self._samples = measure, samples

    def probe(self, documents: Documents, contents: pa.Array) -> tuple[Packed, int]:
        """See `Prober`."""
        return self._samples.probe(documents, *self._measure.sets(contents))
