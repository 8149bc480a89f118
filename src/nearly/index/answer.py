"""What an index says: to a question, to documents that were added, of itself."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

__all__ = ["Added", "Answer", "Checked", "Id", "Stats"]

Id = int | str


class Answer(list[tuple[Id, float]]):
    """Ids and their exact nearness, nearest first and then in the order of adding.

    `compared` contents were compared in full. `left_out` counts members of crowded buckets that
    were not looked at: where it is not 0, there may be more that are near.
    """

    def __init__(
        self, found: Sequence[tuple[Id, float]] = (), *, compared: int = 0, left_out: int = 0
    ) -> None:
        super().__init__(found)
        self.compared = compared
        self.left_out = left_out


@dataclass(frozen=True, kw_only=True)
class Added:
    """What came of adding documents.

    `seen` has a row for each new pair: `id` is the later document, `seen` the earlier one. Of
    documents that are copies of each other, the first stands for the others.
    """

    seen: pa.Table
    skipped: pa.Table
    added: int
    copies: int  # of these, documents whose content was there
    replaced: int  # documents that made way for one of the same id
    empty: int  # documents with nothing to compare: they are kept, and near to nothing
    left_out: int = 0
    skipped_count: int = 0


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found wrong with an index, in words; and the ids that a repair dropped."""

    problems: list[str] = field(default_factory=list)
    dropped: list[Id] = field(default_factory=list)
    lost: int = 0  # documents whose ids could not be read any more
    repaired: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Stats:
    """How large an index is."""

    documents: int
    contents: int  # different ones
    segments: int
    pending: int  # documents that are in no segment yet
    gone: int  # documents that were removed and still take room
    bytes: int
    measure: str
    compared: str
    threshold: float | None  # or else a distance
    within: float | None
    bands: int
    rows: int
    promised: float  # the chance to find a document right at the threshold
    texts: bool
    commits: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)
