"""A collection without its repeated pieces: what was cut, and what stays for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearly.tabular import Tabular
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.settings import CutSettings

__all__ = ["Cut", "CutStatistics"]


@dataclass(frozen=True, kw_only=True)
class CutStatistics:
    """What was cut, in numbers."""

    documents: int
    skipped: int
    pieces: int  # sentences, paragraphs or lines of all documents
    cut_pieces: int
    cut_documents: int  # documents of which something was cut
    emptied: int  # of these, documents of which nothing is left
    characters: int
    cut_characters: int  # white space between pieces included

    def to_dict(self) -> dict[str, int]:
        """Plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class Cut(Tabular):
    """Documents without the pieces that stand elsewhere.

    `cuts`: id, start, end, survivor, survivor_start, survivor_end, words, in the order of the
    source; where ids repeat, file and row of both. Offsets count characters of the texts as they
    were. `kept` reads the source again: all rows, and texts without what was cut.
    """

    cuts: pa.Table
    skipped: pa.Table
    settings: CutSettings
    statistics: CutStatistics
    schema: pa.Schema
    read_kept: Callable[[], Any]

    @property
    def kept(self) -> pa.Table:
        """Every row of the source, with the texts that are left."""
        return pa.Table.from_batches(self.read_kept(), self.schema)

    def __len__(self) -> int:
        return int(self.cuts.num_rows)

    def __repr__(self) -> str:
        numbers = self.statistics
        return (
            f"Cut: {count(len(self), 'passage')} of {numbers.cut_documents:,} of "
            f"{count(numbers.documents, 'document')}"
        )

    def to_arrow(self) -> pa.Table:
        """The cuts as an Arrow table."""
        return self.cuts

    def to_dict(self) -> dict[str, Any]:
        """All but the rows themselves, as plain values."""
        return {
            "cuts": self.cuts.to_pylist(),
            "skipped": self.skipped.to_pylist(),
            "statistics": self.statistics.to_dict(),
            "settings": asdict(self.settings),
        }

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows to a file or, if its name has no ending, file by file to a folder.

        In the format of the source, all but the texts that were cut is written as it stands there.
        """
        from nearly.sinks import Outputs
        from nearly.sinks.clean_copy import write_copy

        kept: Any = self.read_kept
        with Outputs(force=force) as outputs:
            write_copy(outputs, kept, Path(path))
