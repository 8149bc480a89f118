"""What a plan says, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nearly.tabular import Tabular
from nearly.wording import count

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PLAN_VERSION", "Plan", "Removal"]

PLAN_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Removal:
    """One file to remove, and the file that stands for it; paths are relative, with '/'."""

    path: str
    survivor: str
    similarity: float
    sha256: str
    survivor_sha256: str
    bytes: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Tabular):
    """What is to be removed from a folder, and the settings that led to it."""

    folder: str
    settings: dict[str, Any]
    removals: tuple[Removal, ...]

    def __repr__(self) -> str:
        files = count(len(self.removals), "file")
        return f"Plan: {files} of {self.folder} to remove ({self.bytes:,} bytes)"

    @property
    def bytes(self) -> int:
        """How much the files to remove hold together."""
        return sum(removal.bytes for removal in self.removals)

    def to_arrow(self) -> pa.Table:
        """One row per file to remove."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(removal) for removal in self.removals])
