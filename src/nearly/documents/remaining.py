"""The documents of a source that stay: what an index is given of a clean copy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import numbers_of

__all__ = ["Remaining"]


class Remaining:
    """A source without some of its rows, read again as often as it is asked for."""

    def __init__(self, source: Any, removed: npt.NDArray[np.int64]) -> None:
        self._source, self._removed = source, removed
        self.name: str = source.name
        self.id_type: pa.DataType = source.id_type
        self.numbers_rows: bool = source.numbers_rows
        self.holds_items: bool = source.holds_items
        self.shape = source.shape

    def documents(self, skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:
        """See `Readable`."""
        for batch in self._source.documents(skipped, also):
            stays = ~np.isin(numbers_of(batch.column("row")), self._removed)
            yield batch if stays.all() else batch.filter(pa.array(stays))
