"""What a plan says, as data."""

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be removed from a folder, and the settings that led to it."""

    folder: str
    settings: dict[str, Any]
    removals: tuple[Removal, ...]
