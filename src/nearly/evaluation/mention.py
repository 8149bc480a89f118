"""Manfredi's test set: texts that differ in nothing but whom they mention.

Such texts should be found as similar, and nobody has to label them: a truth for any table of
short texts. After Manfredi, Finding similar items: Spark and tweets, 2022, section 5.1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from nearly.arrays import numbers_of
from nearly.documents.place import Stretch, located
from nearly.schemas import PLACES_OF
from nearly.tabular import Tabular
from nearly.wording import count

__all__ = ["Mentions", "differing_in_mentions", "named_groups"]

_MENTION = re.compile(r"@\w+")


@dataclass(frozen=True, kw_only=True, repr=False)
class Mentions(Tabular):
    """Groups of texts that differ only in whom they mention.

    `groups`: id, cluster; `skipped`: record, reason. Where ids repeat, file and row too.
    """

    groups: pa.Table
    skipped: pa.Table
    skipped_count: int

    def __len__(self) -> int:
        return len(self.groups["cluster"].unique())

    def __repr__(self) -> str:
        documents = count(self.groups.num_rows, "document")
        return f"Mentions: {documents} in {count(len(self), 'group')}"

    def to_arrow(self) -> pa.Table:
        """The groups as an Arrow table."""
        return self.groups


def differing_in_mentions(documents: Iterable[tuple[Any, str]]) -> pa.Table:
    """Groups (id, cluster) of different texts that are equal without their mentions.

    Documents are ids with their texts. Of equal texts only the first counts, as in the source:
    finding copies is no test. Nor is what has no letter left. Takes linear time: a group of n
    texts stands for n(n-1)/2 pairs.
    """
    groups: dict[str, dict[str, Any]] = {}
    for name, text in documents:
        rest = _without_mentions(text)
        if any(map(str.isalpha, rest)):
            groups.setdefault(rest, {}).setdefault(" ".join(text.split()), name)
    rows = list(_rows(groups))
    return pa.table({"id": [name for name, _ in rows], "cluster": [group for _, group in rows]})


def named_groups(
    groups: pa.Table, ids: Mapping[int, Any], stretches: Sequence[Stretch]
) -> pa.Table:
    """Groups of rows by the ids of their documents; where ids repeat, by file and row too."""
    rows = numbers_of(groups["id"].combine_chunks().cast(pa.int64()))
    named = groups.set_column(0, "id", pa.array([ids[row] for row in rows.tolist()]))
    if len(set(ids.values())) < len(ids):
        for name, column in zip(PLACES_OF["id"], located(stretches, rows), strict=True):
            named = named.append_column(name, column)
    return named


def _without_mentions(text: str) -> str:
    return " ".join(_MENTION.sub(" ", text).split())


def _rows(groups: dict[str, dict[str, Any]]) -> Iterator[tuple[Any, int]]:
    several = (members for members in groups.values() if len(members) > 1)
    for number, members in enumerate(several):
        for name in members.values():
            yield name, number
