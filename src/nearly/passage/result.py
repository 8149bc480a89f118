"""What documents share, as a user has it: tables, and the texts they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearly.documents.lookup import TextReader, text_of
from nearly.documents.place import place_list
from nearly.tabular import Tabular
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.settings import PassageSettings

__all__ = ["Passages", "byte_span"]


def byte_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Where characters [start, end) of a text are in its UTF-8 bytes."""
    first = len(text[:start].encode())
    return first, first + len(text[start:end].encode())


@dataclass(frozen=True, kw_only=True, repr=False)
class Passages(Tabular):
    """Shared passages, with offsets in characters (code points) of the texts as they were given.

    Where ids repeat, file and row stand beside each id.

    `passages`: one row per passage of two documents; `repeats`: one row per place of a passage
    that many documents share; `pairs` and `documents`: sums; `skipped`: record, reason.
    """

    passages: pa.Table
    repeats: pa.Table
    pairs: pa.Table
    documents: pa.Table
    skipped: pa.Table
    skipped_count: int
    settings: PassageSettings
    read_source: TextReader
    read_against: TextReader  # the same where there is no other source

    def __len__(self) -> int:
        return int(self.passages.num_rows)

    def __repr__(self) -> str:
        repeats = len(set(self.repeats["passage"].to_pylist()))
        return (
            f"Passages: {count(len(self), 'passage')} of {count(self.pairs.num_rows, 'pair')} "
            f"and {count(repeats, 'repeated passage')} in "
            f"{count(self.documents.num_rows, 'document')}"
        )

    def to_arrow(self) -> pa.Table:
        """The passages as an Arrow table."""
        return self.passages

    def text(
        self,
        id: Any,  # noqa: A002
        *,
        file: str | None = None,
        row: int | None = None,
        against: bool = False,
    ) -> str:
        """The text of one document, read again from where it came from.

        Where several documents have the id, `row`, and `file` if there are several, say which;
        `against` asks for a document of the other source.
        """
        return text_of(self.read_against if against else self.read_source, id, file, row)

    def texts(self, rows: pa.Table, column: str) -> list[str]:
        """The texts of the documents that a column of ids names, in rows of one of the tables."""
        names = place_list(rows, column)
        by_place = names is not None
        named: Sequence[Any] = rows[column].to_pylist() if names is None else names
        sides = rows["side"].to_pylist() if "side" in rows.column_names else []
        other = [column == "id_b"] * len(named) if not sides else [s == "against" for s in sides]
        found = {
            is_other: self._read(reader, named, is_other, other, by_place=by_place)
            for is_other, reader in ((False, self.read_source), (True, self.read_against))
        }
        return [found[is_other][name] for name, is_other in zip(named, other, strict=True)]

    @staticmethod
    def _read(
        reader: TextReader,
        named: Sequence[Any],
        is_other: bool,
        other: Sequence[bool],
        *,
        by_place: bool,
    ) -> Mapping[Any, str]:
        wanted = {name for name, there in zip(named, other, strict=True) if there == is_other}
        if by_place:
            return reader.by_place(wanted)
        return {name: placed[0].text for name, placed in reader.by_id(wanted).items()}

    def to_dict(self) -> dict[str, Any]:
        """All tables as lists of rows: data for a page that draws them."""
        names = ("passages", "repeats", "pairs", "documents", "skipped")
        return {name: getattr(self, name).to_pylist() for name in names}
