"""A lesson to look at: a few documents the textbook's way, at one row of the signature matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nearly.errors import SettingsError
from nearly.explanation import Explanation, steps_of

__all__ = ["Lesson", "Pair", "Step", "lesson_of"]

Values = tuple[tuple[int | None, ...], ...]  # of each function: one a document; None is infinity


class Step(NamedTuple):
    """The signature matrix after some rows."""

    number: int  # of rows that were looked at
    total: int
    shingle: str  # of the last of these rows
    holders: tuple[str, ...]  # documents that have it
    hashes: tuple[int, ...]  # what each function makes of the row
    values: Values
    changed: tuple[tuple[bool, ...], ...]  # by this row


class Pair(NamedTuple):
    """Two documents, as they are and as hashing sees them."""

    a: str
    b: str
    shared: int
    together: int
    similarity: float
    estimate: float
    chance: float
    is_candidate: bool


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """An explanation, and how far its signatures are."""

    explanation: Explanation
    step: Step

    @property
    def shingles(self) -> dict[str, list[str]]:
        """The shingles of each document, in their order."""
        own: dict[str, list[str]] = {name: [] for name in self.explanation.documents}
        for name, shingle in zip(*self.explanation.shingles.to_pydict().values(), strict=True):
            own[name].append(shingle)
        return own

    @property
    def buckets(self) -> list[list[tuple[list[int], list[str]]]]:
        """Of each band its buckets: their values, and the documents in them."""
        bands: list[list[tuple[list[int], list[str]]]] = [[] for _ in range(self.explanation.bands)]
        for band, values, documents in zip(
            *self.explanation.buckets.to_pydict().values(), strict=True
        ):
            bands[band - 1].append((values, documents))
        return bands

    @property
    def pairs(self) -> list[Pair]:
        """Every two documents."""
        return [Pair(**row) for row in self.explanation.similarities.to_pylist()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; all rows of the long tables are in their CSV."""
        told = self.explanation
        return {
            "unit": told.unit,
            "k": told.k,
            "bands": told.bands,
            "rows": told.rows,
            "documents": told.documents,
            "functions": told.names,
            "shingles": self.shingles,
            "matrix": table_rows(told.matrix),
            "step": self.step._asdict(),
            "buckets": self.buckets,
            "pairs": [pair._asdict() for pair in self.pairs],
        }


def table_rows(table: Any) -> list[tuple[Any, ...]]:
    """Rows without names, since these may repeat."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def lesson_of(explanation: Explanation, number: int | None) -> Lesson:
    """After this many rows; after all of them if no number is given."""
    total = explanation.matrix.num_rows
    number = total if number is None else number
    if not 0 <= number <= total:
        raise SettingsError(f"step is {number:,}; give a number from 0 to {total:,}")
    before: Values | None = None
    for place, (_, shingle, columns) in enumerate(steps_of(explanation)):
        values: Values = tuple(zip(*columns, strict=True))
        if place == number:
            return Lesson(
                explanation=explanation,
                step=_step(explanation, number, shingle, values, before or values),
            )
        before = values
    raise AssertionError(number)


def _step(
    explanation: Explanation, number: int, shingle: str, values: Values, before: Values
) -> Step:
    pairs = zip(values, before, strict=True)
    changed = tuple(tuple(a != b for a, b in zip(*each, strict=True)) for each in pairs)
    row = number - 1
    ones = [column[row].as_py() for column in explanation.matrix.columns[2:]] if number else []
    hashes = [column[row].as_py() for column in explanation.functions.columns[2:]] if number else []
    return Step(
        number=number,
        total=explanation.matrix.num_rows,
        shingle=shingle,
        holders=tuple(n for n, one in zip(explanation.documents, ones, strict=False) if one),
        hashes=tuple(hashes),
        values=values,
        changed=changed,
    )
