"""Documents by number, with all that is known of them in arrays: what exact work is done on.

An engine that holds a run's documents on one machine holds them so; one that does not may show
some of them so.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.settings import Settings

__all__ = ["Contenders", "Corpus", "Counts", "Named"]


class Contenders(Protocol):
    """Documents of which some are to survive: all that the rules of `keep` ask for."""

    @property
    def copies(self) -> Documents:
        """Documents whose text came before."""

    @property
    def originals(self) -> Documents:
        """The representative of each of them."""

    @property
    def rule_column(self) -> list[pa.Array]:
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

    @property
    def measure(self) -> Measure:
        """How they are compared, with nothing left to decide."""

    @property
    def settings(self) -> Settings:
        """With k decided."""

    @property
    def representatives(self) -> Documents:
        """The first of each text."""

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
