"""The verbs of an engine: all that needs more than one document at a time.

Work on one document is in `nearly.measures` and the same everywhere. The pipeline speaks to an
engine in these verbs only, and hands on what it does not open: a corpus, and the pairs that were
found in it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from nearly.documents.corpus import Counts, Repeat
from nearly.documents.lookup import TextReader
from nearly.documents.readable import Readable, Skips
from nearly.frozen import dataclass
from nearly.measures.base import Measure
from nearly.progress import Stopwatch
from nearly.settings import Settings
from nearly.stages.around import Around
from nearly.stages.audit import Audit
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding
from nearly.tuning.method import Choice

__all__ = ["Cleaned", "Corpus", "Engine", "Found", "NearPairs", "Parts"]

#: Arrow's on one machine; a lazy frame where the documents lie on many.
Table = Any


class Corpus(Protocol):
    """Documents that an engine has read, wherever and however it holds them."""

    @property
    def measure(self) -> Measure:
        """How they are compared, with nothing left to decide."""

    @property
    def settings(self) -> Settings:
        """With what the corpus decided."""

    @property
    def choice(self) -> Choice:
        """The method, by what was known when documents were read."""

    @property
    def counts(self) -> Counts:
        """How many documents of each kind there are."""

    def first_repeat(self) -> Repeat:
        """The first id that came before, of those that repeat."""


class NearPairs(Protocol):
    """Verified pairs of representatives."""

    @property
    def choice(self) -> Choice:
        """The method that found them."""

    @property
    def largest_bucket(self) -> int | None:
        """Documents in the largest bucket, where buckets were counted."""

    @property
    def meetings(self) -> int:
        """Pairs that met: in a bucket, or by a rare shingle."""

    @property
    def verified(self) -> int:
        """Of these, pairs that were compared in full."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Found:
    """All pairs and clusters as tables; see `schemas.PAIRS` and `schemas.CLUSTERS`."""

    pairs: Table
    clusters: Table
    pair_count: int
    cluster_count: int
    read_top: Callable[[], pa.Table]  # the most similar near pairs, or copies where all are
    read_difference: Callable[[], Table] | None = None  # lazy pairs with the kind of difference


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """What goes, as tables; see `schemas.REMOVED` and `schemas.CLUSTERS`."""

    removed: Table
    clusters: Table
    removed_count: int
    below: int  # removed documents that are not as near to their survivor as the threshold asks
    cluster_count: int
    read_kept: Callable[[], Any]  # the source again, without the rows of removed documents


HeldCorpus = TypeVar("HeldCorpus", bound=Corpus)
HeldPairs = TypeVar("HeldPairs", bound=NearPairs)


class Engine(Protocol[HeldCorpus, HeldPairs]):
    """Where a pipeline runs. A corpus and its pairs are the engine's own affair."""

    progress: Stopwatch

    def load(
        self,
        source: Readable,
        measure: Measure,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> HeldCorpus:
        """Read and hold documents, sign them where that is the method; find the copies.

        With `keep`, clusters are all that will be asked for.
        """

    def near_pairs(self, corpus: HeldCorpus, banding: Banding, *, hubs: int) -> HeldPairs:
        """Verified pairs of representatives: joined exactly, or found by hashing and verified.

        With `hubs`, documents of a large bucket are compared with its first ones only.
        """

    def found(self, corpus: HeldCorpus, near: HeldPairs, *, top: int) -> Found:
        """Pairs of all documents, copies included, and the clusters they form.

        `top` of the most similar pairs can be shown with their texts.
        """

    def cleaned(self, corpus: HeldCorpus, near: HeldPairs, keep: Keep) -> Cleaned:
        """One survivor per cluster; what goes is compared with it."""

    def audit(self, corpus: HeldCorpus, near: HeldPairs, documents: int) -> Audit:
        """What an exact search of this many documents says of the pairs that were found."""

    def around(self, corpus: HeldCorpus, near: HeldPairs, documents: int, *, top: int) -> Around:
        """The pairs next to the threshold, `top` on each side.

        Those below it are near misses of this many documents, which are searched exactly.
        """

    def text_reader(self, corpus: HeldCorpus) -> TextReader:
        """What looks up texts by id or place later, without holding the corpus."""


class Parts(Protocol):
    """Documents that lie in parts, for work that is no search for near pairs.

    A state has one element per part. A step looks at the elements of a part; it is a function of a
    module, called with one element of each state, and with what all parts share by name.
    `numbered` steps get the number of their part first.
    """

    #: Every part as it can be read, and what its rows belong to: one state.
    blocks: Any
    #: How many parts each of the sources has.
    sizes: Sequence[int]

    def share(self, value: Any) -> Any:
        """Something that all parts see, to be given to steps by name."""

    def each(
        self, step: Callable[..., Any], *states: Any, numbered: bool = False, **shared: Any
    ) -> Any:
        """What a step makes of each part: a state."""

    def exchange(
        self, step: Callable[..., Any], *states: Any, numbered: bool = False, **shared: Any
    ) -> Any:
        """What came for each part of all that a step gives: a state. The order is chance."""

    def collect(self, states: Any) -> list[Any]:
        """The elements of a state, here."""

    def text_reader(self, side: int, skipped: Skips) -> TextReader:
        """Reads texts of one of the sources again."""
