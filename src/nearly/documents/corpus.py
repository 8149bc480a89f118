"""Documents by number, with all that is known of them in arrays: what exact work is done on.

An engine that holds a run's documents on one machine holds them so; one that does not may show
some of them so.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.place import Place, Places
from nearly.documents.side import Sides
from nearly.errors import SourceError
from nearly.frozen import dataclass
from nearly.measures.base import Measure
from nearly.measures.number import Documents
from nearly.settings import Settings

__all__ = ["Contenders", "Corpus", "Counts", "Labelled", "Named", "Repeat"]


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

    @property
    def old(self) -> int:
        """How many documents, the first ones, stay whatever happens; 0 unless there is a border."""

    def __len__(self) -> int: ...

    def sizes_of(self, documents: Documents) -> npt.NDArray[np.uint32]:
        """How much of each there is to compare, in the given order."""

    def characters(self, documents: Documents) -> npt.NDArray[np.int64]:
        """Characters of these documents' texts, in the given order."""


class Labelled(Protocol):
    """Documents that can be named."""

    @property
    def ids_repeat(self) -> bool:
        """Whether an id may stand for several documents, so that places have to be told too."""

    def ids(self, documents: Documents) -> pa.Array:
        """The ids of these documents, in the given order."""

    def places(self, documents: Documents) -> Places:
        """Where these documents stand, in the given order."""

    def sizes_of(self, documents: Documents) -> npt.NDArray[np.uint32]:
        """How much of each there is to compare, in the given order."""


class Named(Labelled, Protocol):
    """Documents that can be shown."""

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

    @property
    def sides(self) -> Sides | None:
        """On which side each document stands, if there is a border."""

    def rows(self, documents: Documents) -> npt.NDArray[np.int64]:
        """The source's row numbers of these documents, which are given in ascending order."""

    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each document's text."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was read."""

    documents: int
    empty: int  # documents without a shingle
    ignored: int  # documents of which every shingle was dropped
    copies: int  # documents whose text came before
    repeated_ids: int  # ids that several documents have
    sharing_ids: int  # documents that have one of these
    against: int | None = None  # old documents beyond a border, of which all else does not count
    different: int  # documents that are compared, on both sides: the first of each text

    def told(self, measure: Measure) -> dict[str, Any]:
        """Those that every run tells, and what was dropped, if anything was."""
        told = {"documents": self.documents, "empty": self.empty, "copies": self.copies}
        if self.against is not None:
            told["against"] = self.against
        if measure.drops:
            told["ignored"] = self.ignored
        if measure.common_count is not None:
            told["common"] = measure.common_count
        return told


class Repeat(NamedTuple):
    """An id that came before, and where it stands first and then."""

    id: Any
    first: Place
    then: Place

    def error(self) -> SourceError:
        """What is said to those who asked for unique ids."""
        return SourceError(
            f"the id {self.id!r} stands twice: in {self.first}, and in {self.then}. Ids have to be "
            "unique here. Change one of them, name another column of ids, or leave unique_ids "
            "(--unique-ids) out: both documents are compared then."
        )
