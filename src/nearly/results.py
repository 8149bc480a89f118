"""What a run found: frozen tables and the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from nearly.errors import MissingError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from nearly.settings import Settings

__all__ = ["Comparison", "Deduplicated", "Found"]

#: Arrow's on one machine; a lazy frame where the documents lie on many.
Table: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class Found:
    """Verified pairs and the clusters they form.

    `pairs`: id_a, id_b, similarity; `clusters`: id, cluster, weakest (the least similar verified
    pair inside); `skipped`: record, reason; `statistics`: counts, the banding that was used,
    seconds by stage.
    """

    pairs: Table
    clusters: Table
    skipped: pa.Table
    settings: Settings
    statistics: dict[str, Any]
    read_top: Callable[[], pa.Table] = field(repr=False)
    read_texts: Callable[[Iterable[Any]], dict[Any, str]] = field(repr=False)

    def text(self, id: Any) -> str:  # noqa: A002 - the name of the column
        """The text of the document with this id, read from the source again."""
        texts = self.read_texts([id])
        if id not in texts:
            raise MissingError(f"there is no document with the id {id!r}; ids are in `clusters`")
        return texts[id]

    @cached_property
    def top(self) -> pa.Table:
        """The most similar pairs with the beginnings of their texts."""
        return self.read_top()

    def __len__(self) -> int:
        return int(self.statistics["pairs"])

    def to_arrow(self) -> pa.Table:
        """The pairs as an Arrow table."""
        return self.pairs.toArrow() if _is_lazy(self.pairs) else self.pairs

    def to_pandas(self) -> pd.DataFrame:
        """The pairs as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The pairs as a polars data frame."""
        import polars

        return polars.DataFrame(self.to_arrow())


@dataclass(frozen=True, kw_only=True)
class Deduplicated:
    """A clean collection: what was kept, and for each removed document its survivor.

    `removed`: id, survivor, similarity, cluster. `kept` reads the source again.
    """

    removed: Table
    clusters: Table
    skipped: pa.Table
    settings: Settings
    statistics: dict[str, Any]
    schema: pa.Schema
    read_kept: Callable[[], Any] = field(repr=False)  # batches, or a lazy frame

    @property
    def kept(self) -> Table:
        """Every row that was not removed, with all its columns, in the order of the source."""
        import pyarrow as pa

        rows = self.read_kept()
        return rows if _is_lazy(rows) else pa.Table.from_batches(rows, self.schema)


def _is_lazy(table: Any) -> bool:
    """Whether it is a frame of Spark: so it is told without importing Spark."""
    return hasattr(table, "toArrow")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two texts side by side."""

    name_a: str
    name_b: str
    unit: str
    k: int
    shingles_a: int
    shingles_b: int
    shared: int
    jaccard: float
    jaccard_without_stop_words: float
    containment_of_a: float
    containment_of_b: float
    estimate: float
    permutations: int
