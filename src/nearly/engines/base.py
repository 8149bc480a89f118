"""The verbs of an engine: all that needs more than one document at a time.

Row-wise work is in `nearly.stages` and the same everywhere. The pipeline speaks to an engine
in these verbs only.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import pyarrow as pa

from nearly.documents.corpus import Counts, Progress
from nearly.documents.readable import Readable, Skips
from nearly.settings import Settings
from nearly.stages.audit import Audit
from nearly.stages.survivor import Keep
from nearly.tuning.banding import Banding
from nearly.tuning.method import Choice

__all__ = ["Corpus", "Engine"]


class Corpus(Protocol):
    """Documents that an engine has read, wherever and however it holds them."""

    @property
    def settings(self) -> Settings:
        """With k decided."""

    @property
    def choice(self) -> Choice:
        """The method, decided."""

    @property
    def counts(self) -> Counts:
        """How many documents of each kind there are."""


class Engine(Protocol):
    """Where a pipeline runs.

    What passes from verb to verb is the engine's own affair, and `Any` here. Of it the pipeline
    asks for numbers only: the `len` of pairs and of removed documents, the `count` of clusters.
    """

    progress: Progress
    compared: int  # pairs that met, in a bucket or by a rare shingle
    verified: int  # of these, pairs whose sets were compared

    def load(
        self,
        source: Readable,
        settings: Settings,
        banding: Banding,
        skipped: Skips,
        *,
        keep: Keep | None,
    ) -> Corpus:
        """Read and hold documents, sign them where that is the method; find the copies.

        Those whose id came before are skipped, and listed. With `keep`, clusters are all that
        will be asked for.
        """

    def join(self, corpus: Any, threshold: Fraction) -> Any:
        """All pairs of representatives that reach the threshold, none missed."""

    def candidates(self, corpus: Any, banding: Banding, *, hubs: int) -> Any:
        """Pairs of representatives that share a bucket and agree enough."""

    def verify(self, corpus: Any, candidates: Any, threshold: Fraction) -> Any:
        """Those of the candidates that reach the threshold, with exact similarity."""

    def give_back_copies(self, corpus: Any, near: Any) -> Any:
        """The pairs of all documents: copies linked, or spelt out where all pairs are wanted."""

    def cluster(self, corpus: Any, near: Any, keep: Keep | None) -> Any:
        """Components, or leaders: by the order of the source, or of who should survive."""

    def remove(self, corpus: Any, near: Any, clusters: Any, keep: Keep) -> Any:
        """All members of clusters but the best one of each, compared with it."""

    def audit(self, corpus: Any, near: Any, documents: int) -> Audit:
        """What an exact search of so many documents says of the pairs that were found."""

    # Tables are Arrow on one machine, and lazy frames elsewhere.
    def pair_table(self, corpus: Any, pairs: Any) -> Any:
        """See `schemas.PAIRS`."""

    def cluster_table(self, corpus: Any, near: Any, clusters: Any) -> Any:
        """See `schemas.CLUSTERS`."""

    def removed_table(self, corpus: Any, removed: Any) -> Any:
        """See `schemas.REMOVED`."""

    def top(self, corpus: Any, near: Any, pairs: Any) -> Callable[[], pa.Table]:
        """What reads the most similar near pairs, or copies where there are no others."""

    def kept(self, corpus: Any, removed: Any) -> Callable[[], Any]:
        """What reads the source again, without the rows of removed documents."""
