"""The verbs of an engine: all that needs more than one document at a time.

Row-wise work is in `nearly.stages` and the same everywhere. The pipeline speaks to an engine
in these verbs only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.methods import Choice
from nearly.settings import Settings
from nearly.stages.pairs import Documents, Packed, Pairs
from nearly.tuning import Banding

__all__ = ["AnyCorpus", "Corpus", "Engine", "Progress", "Reading"]


class Progress(Protocol):
    """Who wants to know how far a run is."""

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins; `total` steps, where that is known."""

    def advance(self, steps: int = 1) -> None:
        """So many more steps are done."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an engine reads: batches of row, id and text, and perhaps one column more."""

    batches: Iterable[pa.RecordBatch]
    id_type: pa.DataType
    ids_are_unique: bool


class Corpus(Protocol):
    """Documents that an engine has read, held and signed, known by their numbers."""

    settings: Settings  # with k decided
    choice: Choice  # the method, decided
    representatives: Documents  # the first of each text
    copies: Documents  # documents whose text came before
    originals: Documents  # the representative of each of them
    empty: Documents  # documents without a shingle
    repeated: Documents  # documents whose id came before
    also: list[pa.Array]  # the column more

    def __len__(self) -> int: ...

    def ids(self, documents: Documents) -> pa.Array:
        """The ids of these documents, in the given order."""

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """The texts of these documents, in the given order."""

    def rows(self, documents: Documents) -> npt.NDArray[np.int64]:
        """The source's row numbers of these documents, which are given in ascending order."""

    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each document's text."""


AnyCorpus = TypeVar("AnyCorpus", bound=Corpus)


class Engine(Protocol[AnyCorpus]):
    """Where a pipeline runs, and the kind of corpus that it holds."""

    threads: int
    progress: Progress
    compared: int  # pairs that met, in a bucket or by a rare shingle
    verified: int  # of these, pairs whose sets were compared

    def load(
        self, source: Reading, settings: Settings, banding: Banding, *, clusters_only: bool
    ) -> AnyCorpus:
        """Read and hold documents, sign them where that is the method; find the copies."""

    def join(self, corpus: AnyCorpus, threshold: Fraction) -> Pairs:
        """All pairs of representatives that reach the threshold, none missed."""

    def candidates(self, corpus: AnyCorpus, banding: Banding, *, hubs: int) -> Packed:
        """Packed pairs of representatives that share a bucket and agree enough."""

    def verify(self, corpus: AnyCorpus, candidates: Packed, threshold: Fraction) -> Pairs:
        """Those of the candidates that reach the threshold, with exact similarity."""
