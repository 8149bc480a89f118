"""What is looked at: the parts of a result that views are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from nearly.documents.lookup import TextReader
from nearly.settings import Settings

__all__ = ["Numbers", "Result", "same_value", "value_of"]


class Numbers(Protocol):
    """What a run counted; see `nearly.Statistics`."""

    @property
    def measure(self) -> str: ...
    @property
    def documents(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    @property
    def empty(self) -> int: ...
    @property
    def ignored(self) -> int | None: ...
    @property
    def copies(self) -> int: ...
    @property
    def repeated_ids(self) -> int | None: ...
    @property
    def method(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def bands(self) -> int | None: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def agreement(self) -> int | None: ...
    @property
    def clusters(self) -> int: ...
    @property
    def source(self) -> Mapping[str, Any] | None: ...


class Result(Protocol):
    """What a run found, on this machine; see `nearly.Found`."""

    @property
    def pairs(self) -> pa.Table: ...
    @property
    def clusters(self) -> pa.Table: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def statistics(self) -> Numbers: ...
    @property
    def read_texts(self) -> TextReader | None: ...


def value_of(pairs: pa.Table) -> str:
    """The column that says how near two documents are: similarity, or distance."""
    return "similarity" if "similarity" in pairs.column_names else "distance"


def same_value(result: Result) -> float | None:
    """The value of two documents that are the same when they are compared.

    None where no value says so: what is contained in another document may be a part of it.
    """
    if result.statistics.measure == "containment":
        return None
    return 1.0 if value_of(result.pairs) == "similarity" else 0.0
