"""Documents by number, with all that is known of them in arrays: what exact work is done on.

An engine that holds a run's documents on one machine holds them so; one that does not may show
some of them so.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.number import Documents
from nearly.settings import Settings
from nearly.tuning.method import Choice

__all__ = ["Contenders", "Corpus", "Counts", "Named", "Progress"]


class Progress(Protocol):
    """Who wants to know how far a run is."""

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins; `total` steps, where that is known."""

    def advance(self, steps: int = 1) -> None:
        """So many more steps are done."""


class Contenders(Protocol):
    """Documents of which some are to survive: all that the rules of `keep` ask for."""

    @property
    def copies(self) -> Documents:
        """Documents whose text came before."""

    @property
    def originals(self) -> Documents:
        """The representative of each of them."""

    @property
    def also(self) -> list[pa.Array]:
        """The column that a rule looks at."""

    def __len__(self) -> int: ...

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        """Characters of these documents' texts, in the given order."""


class Named(Protocol):
    """Documents that can be shown."""

    def ids(self, documents: Documents) -> pa.Array:
        """The ids of these documents, in the given order."""

    def texts(self, documents: Documents) -> pa.LargeStringArray:
        """The texts of these documents, in the given order."""


class Corpus(Contenders, Named, Protocol):
    """Documents that were read, held and perhaps signed, known by their numbers."""

    settings: Settings  # with k decided
    choice: Choice  # the method, decided
    representatives: Documents  # the first of each text
    empty: Documents  # documents without a shingle
    repeated: Documents  # documents whose id came before

    def rows(self, documents: Documents) -> npt.NDArray[np.int64]:
        """The source's row numbers of these documents, which are given in ascending order."""

    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each document's text."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was read."""

    documents: int  # but for the repeated ones
    empty: int  # documents without a shingle
    copies: int  # documents whose text came before
    repeated: int  # documents whose id came before
