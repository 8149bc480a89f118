"""What documents share: a table of passages, and sums per pair and per document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from nearly.tabular import Tabular
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.passage.search import Passage, Place
    from nearly.settings import PassageSettings

__all__ = ["Passages", "byte_span", "tables"]

#: A repeated passage is template text if it stands in this part of all documents.
TEMPLATE: Final = 0.5


def byte_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Where characters [start, end) of a text are in its UTF-8 bytes."""
    first = len(text[:start].encode())
    return first, first + len(text[start:end].encode())


@dataclass(frozen=True, kw_only=True, repr=False)
class Passages(Tabular):
    """Shared passages, with offsets in characters (code points) of the texts as they were given.

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
    read_texts: Callable[[Iterable[Any]], Mapping[Any, str]]

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

    def texts(self, ids: Sequence[Any]) -> list[str]:
        """The texts of some documents, read again from where they came from."""
        found = self.read_texts(ids)
        return [found[name] for name in ids]

    def to_dict(self) -> dict[str, Any]:
        """All tables as lists of rows: data for a page that draws them."""
        names = ("passages", "repeats", "pairs", "documents", "skipped")
        return {name: getattr(self, name).to_pylist() for name in names}


def tables(
    found: Sequence[Passage],
    places: Sequence[Place],
    ids: Sequence[Any],
    id_type: pa.DataType,
    characters: Sequence[int],
    *,
    listed: int,
) -> dict[str, pa.Table]:
    """The tables of a result; sums are made of the first `listed` documents."""
    return {
        "passages": _passages(found, ids, id_type),
        "repeats": _repeats(places, ids, id_type, listed),
        "pairs": _pairs(found, ids, id_type, characters),
        "documents": _documents(found, places, ids, id_type, characters, listed),
    }


def _passages(found: Sequence[Passage], ids: Sequence[Any], id_type: pa.DataType) -> pa.Table:
    columns = ("start_a", "end_a", "start_b", "end_b", "length")
    return pa.table(
        {
            "id_a": pa.array([ids[each.a] for each in found], id_type),
            "id_b": pa.array([ids[each.b] for each in found], id_type),
            **{
                name: pa.array([getattr(each, name) for each in found], pa.int64())
                for name in columns
            },
            "likeness": pa.array([each.likeness for each in found], pa.float64()),
            "kind": pa.array([each.kind for each in found], pa.string()),
        }
    )


def _repeats(
    places: Sequence[Place], ids: Sequence[Any], id_type: pa.DataType, listed: int
) -> pa.Table:
    numbers: dict[int, int] = {}
    documents: defaultdict[int, set[int]] = defaultdict(set)
    for place in places:
        numbers.setdefault(place.passage, len(numbers))
        documents[place.passage].add(place.document)
    sizes = [len(documents[place.passage]) for place in places]
    return pa.table(
        {
            "passage": pa.array([numbers[place.passage] for place in places], pa.int64()),
            "id": pa.array([ids[place.document] for place in places], id_type),
            "start": pa.array([place.start for place in places], pa.int64()),
            "end": pa.array([place.end for place in places], pa.int64()),
            "documents": pa.array(sizes, pa.int64()),
            "template": pa.array([size >= TEMPLATE * listed for size in sizes], pa.bool_()),
        }
    )


def _pairs(
    found: Sequence[Passage], ids: Sequence[Any], id_type: pa.DataType, characters: Sequence[int]
) -> pa.Table:
    by_pair: defaultdict[tuple[int, int], list[Passage]] = defaultdict(list)
    for each in found:
        by_pair[each.a, each.b].append(each)
    shared = {
        pair: (
            covered((each.start_a, each.end_a) for each in group),
            covered((each.start_b, each.end_b) for each in group),
        )
        for pair, group in by_pair.items()
    }
    return pa.table(
        {
            "id_a": pa.array([ids[a] for a, _ in shared], id_type),
            "id_b": pa.array([ids[b] for _, b in shared], id_type),
            "passages": pa.array([len(group) for group in by_pair.values()], pa.int64()),
            "shared_a": pa.array([a for a, _ in shared.values()], pa.int64()),
            "shared_b": pa.array([b for _, b in shared.values()], pa.int64()),
            "share_a": pa.array(
                [shared[pair][0] / characters[pair[0]] for pair in shared], pa.float64()
            ),
            "share_b": pa.array(
                [shared[pair][1] / characters[pair[1]] for pair in shared], pa.float64()
            ),
        }
    )


def _documents(
    found: Sequence[Passage],
    places: Sequence[Place],
    ids: Sequence[Any],
    id_type: pa.DataType,
    characters: Sequence[int],
    listed: int,
) -> pa.Table:
    """How much of each document stands elsewhere, and in which other document most of it."""
    spans: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    partners: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for each in found:
        spans[each.a].append((each.start_a, each.end_a))
        spans[each.b].append((each.start_b, each.end_b))
        partners[each.a][each.b] += each.end_a - each.start_a
        partners[each.b][each.a] += each.end_b - each.start_b
    for place in places:
        spans[place.document].append((place.start, place.end))
    shared = [covered(spans.get(i, ())) for i in range(listed)]
    most = [partners[i].most_common(1)[0][0] if i in partners else None for i in range(listed)]
    return pa.table(
        {
            "id": pa.array(ids[:listed], id_type),
            "characters": pa.array(characters[:listed], pa.int64()),
            "shared": pa.array(shared, pa.int64()),
            "share": pa.array(
                [part / max(1, all_) for part, all_ in zip(shared, characters, strict=False)],
                pa.float64(),
            ),
            "most_in": pa.array([None if i is None else ids[i] for i in most], id_type),
        }
    )


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """Characters in the union of the spans."""
    total = reached = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
