"""What a measure is: all that an engine and the tuning know of how documents are compared.

A measure is a frozen object. It says how a document becomes what is compared, how that is signed,
verified, joined and searched exactly, and what a threshold means. Engines are handed one and know
no more; a new measure is a new file. `weigh` and `compare` must be written, and `hashing` and
`sign` too unless documents are joined exactly only. The rest have defaults that compare everything
with everything.

*Contents* are what documents hold: an Arrow array of large strings or large binary values.

*Nearness* is what engines sort and compare by: a number that rises as two documents get nearer.
A similarity is its own nearness; that of a distance is its negative. A pair is held once, with
the document first that stands first in the source.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.measures.exhaustive import ExhaustiveIndex, join_exhaustively
from nearly.measures.held_shingles import Shingles
from nearly.measures.number import Documents
from nearly.measures.pair import Block, Joined, Nearness, Packed
from nearly.measures.tally import Tally
from nearly.measures.work import ONE_THREAD, Workers
from nearly.settings import Settings
from nearly.tuning.banding import Banding
from nearly.tuning.hashing import Hashing
from nearly.tuning.method import Costs

__all__ = ["Index", "Measure", "Prober", "Signed", "Suspects", "Weighed", "exact_ratio"]

#: Of each document, in which bucket of each band it lies, and what tells whether two may be near.
Keys = npt.NDArray[np.uint32]
Sketches = npt.NDArray[np.uint64]

#: What stands where no threshold is given.
USUAL_THRESHOLD: Final = Settings().threshold


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """One row per document: its size, 0 where there is nothing to compare, and its digest.

    Documents with the same digest are copies of each other: 128 bits stand for all that is
    compared. `is_ignored` says of which of them all was dropped; None: of none. `shingles` are
    there where they were asked for.
    """

    sizes: npt.NDArray[np.uint32]
    digests: npt.NDArray[np.uint64]
    is_ignored: npt.NDArray[np.bool_] | None = None
    shingles: Shingles | None = None


@dataclass(frozen=True, kw_only=True)
class Signed(Weighed):
    """The same, and in which bucket of each band a document lies, and its sketch."""

    keys: Keys
    sketches: Sketches


class Index(Protocol):
    """A few documents that others are compared with, one batch after the other."""

    def search(
        self, documents: Documents, contents: pa.Array
    ) -> tuple[Documents, Documents, Nearness]:
        """Every pair of an indexed document and one of these that reaches the threshold."""

    def count(self, documents: Documents, contents: pa.Array, bins: int) -> npt.NDArray[np.uint32]:
        """For each indexed document, how many of these lie in each bin of closeness.

        One bin more holds those of closeness 1; pairs with nothing in common are left out.
        """


class Prober(Protocol):
    """The keys of some documents, which are looked for in the contents of any."""

    def probe(self, documents: Documents, contents: pa.Array) -> tuple[Packed, int]:
        """Candidates of one of these documents each, and how many pairs were met at all."""


#: Nearness of pairs, given by places in a block; NaN below the threshold.
Comparer = Callable[[Documents, Documents, Fraction | None], Nearness]


class Suspects(Protocol):
    """What may be in more documents than a measure allows; none of it is missed."""

    def add(self, contents: pa.Array) -> None:
        """The next documents."""

    def found(self) -> npt.NDArray[np.uint64]:
        """What is suspected up to now, in order."""


class Measure(ABC):
    """How documents are compared."""

    name: ClassVar[str]
    is_distance: ClassVar[bool] = False
    #: Whether a distance counts something, and so is a whole number.
    counts: ClassVar[bool] = False
    #: Bytes of contents that are best compared together, where they fit; 0: a few documents at a
    #: time, for which sets or the like are made first.
    together: ClassVar[int] = 0

    #: What joining and verifying cost.
    costs: ClassVar[Costs] = Costs()

    # How it is hashed

    @property
    def hashing(self) -> Hashing | None:
        """How likely signatures agree, by closeness; None: it has no hash functions."""
        return None

    def hash_functions(self) -> Hashing:
        """The same, for whatever cannot do without."""
        if self.hashing is None:
            raise SettingsError(
                f"{self.name} has no hash functions: every pair is found by an exact join, and "
                "there is nothing to tune. Leave method, bands and rows out"
            )
        return self.hashing

    @abstractmethod
    def weigh(self, contents: pa.Array) -> Weighed:
        """Sizes and digests of documents: all that an exact run needs."""

    def weigh_with_shingles(self, contents: pa.Array) -> Weighed:
        """The same, with the shingles of the documents: for measures with `most_to_try`."""
        raise NotImplementedError(f"{self.name} is joined without a try")

    def sign_shingles(self, shingles: Shingles, banding: Banding) -> tuple[Keys, Sketches]:
        """Keys and sketches as `sign` makes them, of shingles that were made before."""
        raise NotImplementedError(f"{self.name} is joined without a try")

    def sign(self, contents: pa.Array, banding: Banding) -> Signed:
        """The same, with the keys of each band and sketches."""
        raise NotImplementedError(f"{self.name} has no hash functions")

    def asker(
        self,
        banding: Banding,  # noqa: ARG002
        threshold: Fraction,  # noqa: ARG002
        most: int,  # noqa: ARG002
        most_different: int,  # noqa: ARG002
    ) -> _kernels.TextAsker | None:
        """What answers one question about a text in one call; None where nothing does.

        Of a bucket at most `most` members are looked at, and sketches may differ in
        `most_different` positions.
        """
        return None

    def prober(
        self,
        documents: Documents,
        sizes: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint32],
        banding: Banding,
        threshold: Fraction,
    ) -> Prober:
        """What looks for the keys of these documents in whole others, where `hashing` says that
        keys are drawn; others meet in buckets."""
        raise NotImplementedError(f"documents meet in buckets by {self.name}")

    # How it is compared

    @abstractmethod
    def compare(
        self,
        contents: pa.Array,
        first: Documents,
        second: Documents,
        threshold: Fraction | None,
    ) -> Nearness:
        """Exact nearness of pairs, given by places in `contents`; NaN below the threshold."""

    def compare_read(
        self,
        read: Callable[[Documents], pa.Array],
        documents: Documents,
        first: Documents,
        second: Documents,
        threshold: Fraction | None,
    ) -> Nearness:
        """The same, of documents that are yet to be read."""
        return self.compare(read(documents), first, second, threshold)

    def comparer(
        self,
        block: Block,  # noqa: ARG002
        workers: Workers,  # noqa: ARG002
    ) -> Comparer | None:
        """The same of pairs of this block, for which what documents are compared by is made once;
        None where that would gain nothing."""
        return None

    def join(
        self, blocks: Sequence[Callable[[], Block]], threshold: Fraction, workers: Workers
    ) -> Iterator[Joined]:
        """Every pair in or between blocks that reaches the threshold, none missed."""
        yield from join_exhaustively(self, blocks, threshold, workers)

    def join_across(
        self, one: Block, other: Block, threshold: Fraction, workers: Workers = ONE_THREAD
    ) -> Iterator[Joined]:
        """Every pair of a document of one block and one of the other."""
        yield from join_exhaustively(self, [lambda: one], threshold, workers, others=other)

    @property
    def most_to_join(self) -> int | None:
        """Bytes of contents up to which joining is about as fast as hashing; None: there is no
        limit, for nothing is hashed."""
        return None if self.hashing is None else 2**20

    @property
    def most_to_try(self) -> int:
        """Bytes of contents up to which some are joined, to see whether all should be; 0: none."""
        return 0

    def join_memory(
        self,
        documents: int,
        size: int,  # noqa: ARG002 - the sum of sizes: others need it
        threshold: Fraction,  # noqa: ARG002
        threads: int,  # noqa: ARG002
    ) -> int:
        """The most bytes that joining one block takes, its pairs not counted."""
        return 16 * documents

    def index(self, documents: Documents, contents: pa.Array, threshold: Fraction | None) -> Index:
        """What searches for these documents among others; None finds whatever has anything in
        common."""
        return ExhaustiveIndex(self, documents, contents, threshold)

    # What people read

    @property
    def compared(self) -> str:
        """What documents were compared as, in a few words."""
        return self.name

    # What a threshold means

    def threshold(self, settings: Settings) -> Fraction:
        """The least nearness of a pair, as the number that was written: 0.8 is four fifths."""
        if self.is_distance:
            if settings.within is None:
                raise SettingsError(
                    f"{self.name} is a distance and within is not given; "
                    "say how far two documents may lie apart, for example within=3"
                )
            if settings.threshold != USUAL_THRESHOLD:
                raise SettingsError(
                    f"threshold is {settings.threshold!r} and within is {settings.within!r}, and "
                    f"{self.name} is a distance, which has no threshold; leave the threshold out"
                )
            within = exact_ratio(settings.within)
            if self.counts and within.denominator != 1:
                raise SettingsError(
                    f"within is {settings.within!r}, and {self.name} counts in whole numbers; give "
                    f"within={floor(within)} or within={floor(within) + 1}"
                )
            return -within
        if settings.within is not None:
            raise SettingsError(
                f"within is {settings.within!r}, and {self.name} is a similarity; "
                "give a threshold instead, for example threshold=0.8"
            )
        return exact_ratio(settings.threshold)

    def least_near_miss(self, threshold: Fraction) -> Fraction:
        """What still counts as a near miss: half the similarity, or twice the distance."""
        return threshold * 2 if self.is_distance else threshold / 2

    def closeness(self, nearness: Fraction) -> Fraction:
        """The same from 0 (nothing in common) to 1 (the same), for the mathematics."""
        return nearness

    def closenesses(self, nearness: Nearness) -> Nearness:
        """`closeness` of many."""
        return nearness

    @property
    def value(self) -> str:
        """The name of the column that says how near a pair is."""
        return "distance" if self.is_distance else "similarity"

    @property
    def same(self) -> float:
        """The nearness of copies."""
        return 0.0 if self.is_distance else 1.0

    def shown(self, nearness: Nearness) -> Nearness:
        """Nearness as a user reads it."""
        return 0.0 - nearness if self.is_distance else nearness

    #: Columns of a pair besides its value, for a measure that sees each document differently.
    sides: ClassVar[tuple[str, ...]] = ()

    def of_sides(
        self,
        nearness: Nearness,  # noqa: ARG002
        sizes_a: npt.NDArray[np.uint32],  # noqa: ARG002
        sizes_b: npt.NDArray[np.uint32],  # noqa: ARG002
    ) -> tuple[Nearness, ...]:
        """The values of these columns, by the sizes of both documents."""
        return ()

    # Which document of a cluster stays

    #: The rule where none is given.
    usual_keep: ClassVar[str] = "first"

    def settings_to_dedup(self, settings: Settings) -> Settings:
        """Settings with the clusters that this measure needs for removing documents."""
        return settings

    # What the corpus decides

    @property
    def is_settled(self) -> bool:
        """Whether nothing of the measure is left for the corpus to decide."""
        return True

    def extent(self, contents: pa.Array) -> int:
        """What has to be summed over all documents to settle the measure."""
        return len(contents)

    def settled(self, mean_extent: float) -> Self:  # noqa: ARG002
        """The measure with nothing left to decide, by the mean extent of a document."""
        return self

    # What is counted over all documents before one of them is compared

    @property
    def is_counted(self) -> bool:
        """Whether nothing is left to count."""
        return True

    #: Whether all that occurs is counted in one pass (`tally`), not what is suspected in a second.
    counts_all: ClassVar[bool] = False

    def tally(self, contents: pa.Array, tally: Tally) -> None:
        """Count what is in these documents, too."""
        raise NotImplementedError(f"{self.name} has nothing to count")

    def suspects(self) -> Suspects:
        """A new list, for some of the documents: what is frequent in all is so in some part."""
        raise NotImplementedError(f"{self.name} has nothing to count")

    def occurrences(
        self,
        contents: pa.Array,
        suspects: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.uint32]:
        """In how many of these documents each suspect is."""
        raise NotImplementedError(f"{self.name} has nothing to count")

    def counted(
        self,
        suspects: npt.NDArray[np.uint64],  # noqa: ARG002
        occurrences: npt.NDArray[Any],  # noqa: ARG002
        documents: int,  # noqa: ARG002
    ) -> Self:
        """The measure with nothing left to count, by the occurrences in all documents."""
        return self

    @property
    def drops(self) -> bool:
        """Whether something of documents counts for nothing."""
        return False

    @property
    def common_count(self) -> int | None:
        """How much of what was counted is dropped; None where nothing was counted."""
        return None

    def decided(self, settings: Settings) -> Settings:
        """Settings that say what was decided."""
        return settings

    def facts(self) -> dict[str, Any]:
        """Plain values that differ wherever the answer could."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


def exact_ratio(number: float) -> Fraction:
    """The number that was written, not the binary fraction nearest to it: 0.8 is 4/5."""
    return Fraction(repr(float(number)))
