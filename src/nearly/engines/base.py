"""The verbs of an engine: all that needs more than one document at a time.

Row-wise work is in `nearly.stages` and the same everywhere. The pipeline speaks to an engine
in these verbs only.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self

import pyarrow as pa

from nearly.auditing import Audit
from nearly.corpora import Progress
from nearly.errors import UnreadableError
from nearly.methods import Choice
from nearly.settings import Settings
from nearly.survivors import Keep
from nearly.tuning import Banding

__all__ = ["REPEATED", "Corpus", "Counts", "Engine", "Readable", "Skips", "nothing_read"]

#: Why a document is skipped whose id another one had before it.
REPEATED = "the id came before: ids must be unique"


class Skips(Protocol):
    """The list of records that could not become documents."""

    strict: bool  # the first one is fatal

    def add(self, record: str, reason: str) -> None:
        """Take note of one record that is left out."""

    @property
    def room(self) -> int:
        """How many more can be listed; all are counted."""

    def another(self) -> Self:
        """An empty list of the same kind, to be filled elsewhere."""

    def trimmed(self, room: int) -> Self:
        """The same count, and so many records at the most."""

    def merge(self, other: Self) -> None:
        """Add what was met elsewhere."""

    def to_list(self) -> list[tuple[str, str]]:
        """The listed records, each with its reason."""

    def fill(self, listed: Sequence[tuple[str, str]], count: int) -> None:
        """Become what `to_list` and the count of another list said."""

    def __len__(self) -> int: ...


class Readable(Protocol):
    """What an engine reads documents from, as often as it likes, always in the same order."""

    name: str
    id_type: pa.DataType
    ids_are_unique: bool
    schema: pa.Schema

    # A source knows its own list of skipped records, of which an engine sees `Skips`.
    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of row, id and text, and perhaps one column more."""

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Every row with its own columns."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was read."""

    documents: int  # but for the repeated ones
    empty: int  # documents without a shingle
    copies: int  # documents whose text came before
    repeated: int  # documents whose id came before


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


def nothing_read(source: Readable, skipped: Skips) -> UnreadableError:
    """The error of a source without a document."""
    return UnreadableError(
        f"{source.name}: no document could be read ({len(skipped)} skipped); "
        "there is nothing to compare"
    )
