"""Tables of what documents share: passages, and sums per pair and per document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from nearly.arrays import column_of, truths_of
from nearly.documents.place import Places
from nearly.passage.found import Found, Whole, covered
from nearly.passage.found import Places as Spread
from nearly.schemas import PLACES_OF

__all__ = ["Named", "tables"]

#: A repeated passage is template text if it stands in this part of all documents.
TEMPLATE: Final = 0.5


@dataclass(frozen=True, kw_only=True)
class Named:
    """What documents are called and, where ids repeat, where they stand."""

    ids: pa.Array
    places: Places | None

    def __len__(self) -> int:
        return len(self.ids)

    def columns(self, **documents: Whole) -> dict[str, pa.Array]:
        """Ids by the name of their column, then the places of all of them; -1 is none."""
        chosen = {name: pa.array(numbers, mask=numbers < 0) for name, numbers in documents.items()}
        found = {name: self.ids.take(numbers) for name, numbers in chosen.items()}
        for name, numbers in chosen.items() if self.places is not None else ():
            pairs = zip(PLACES_OF[name], self.places or (), strict=True)
            found |= {column: values.take(numbers) for column, values in pairs}
        return found


def tables(
    found: Found, places: Spread, named: Named, characters: Whole, *, listed: int, one_sided: bool
) -> dict[str, pa.Table]:
    """The tables of a result; sums are made of the first `listed` documents."""
    return {
        "passages": _passages(found, named),
        "repeats": _repeats(places, named, listed, one_sided=one_sided),
        "pairs": _pairs(found, named, characters),
        "documents": _documents(found, places, named, characters, listed),
    }


def _passages(found: Found, named: Named) -> pa.Table:
    columns = ("start_a", "end_a", "start_b", "end_b", "length", "likeness")
    kinds = pa.array(["edited", "verbatim"])
    (id_a, id_b), where = _ids_first(named.columns(id_a=found.a, id_b=found.b), 2)
    return pa.table(
        {
            "id_a": id_a,
            "id_b": id_b,
            **{name: column_of(getattr(found, name)) for name in columns},
            "kind": kinds.take(column_of(found.is_verbatim.astype(np.int64))),
            **where,
        }
    )


def _ids_first(
    columns: dict[str, pa.Array], count: int
) -> tuple[list[pa.Array], dict[str, pa.Array]]:
    """The columns of ids, which come first in a table; and those of places, which come last."""
    items = list(columns.items())
    return [values for _, values in items[:count]], dict(items[count:])


def _repeats(places: Spread, named: Named, listed: int, *, one_sided: bool) -> pa.Table:
    _, passages = np.unique(places.passage, return_inverse=True)
    both = np.unique(np.stack([passages, places.document], 1), axis=0)
    sizes = np.bincount(both[:, 0])[passages]
    (ids,), where = _ids_first(named.columns(id=places.document), 1)
    sides = pa.array(["source", "against"]).take(column_of((places.document >= listed) * 1))
    return pa.table(
        {
            "passage": column_of(passages.astype(np.int64)),
            "id": ids,
            "start": column_of(places.start),
            "end": column_of(places.end),
            "documents": column_of(sizes.astype(np.int64)),
            "template": truths_of(sizes >= TEMPLATE * listed),
            **({"side": sides} if one_sided else {}),
            **where,
        }
    )


def _pairs(found: Found, named: Named, characters: Whole) -> pa.Table:
    pairs, numbers, counts = np.unique(found.pairs, return_inverse=True, return_counts=True)
    a, b = pairs >> 32, pairs & 0xFFFFFFFF
    shared_a = covered(numbers, found.start_a, found.end_a, len(pairs))
    shared_b = covered(numbers, found.start_b, found.end_b, len(pairs))
    (id_a, id_b), where = _ids_first(named.columns(id_a=a, id_b=b), 2)
    return pa.table(
        {
            "id_a": id_a,
            "id_b": id_b,
            "passages": column_of(counts.astype(np.int64)),
            "shared_a": column_of(shared_a),
            "shared_b": column_of(shared_b),
            "share_a": column_of(shared_a / characters[a]),
            "share_b": column_of(shared_b / characters[b]),
            **where,
        }
    )


def _documents(
    found: Found, places: Spread, named: Named, characters: Whole, listed: int
) -> pa.Table:
    """How much of each document stands elsewhere, and in which other document most of it."""
    shared = covered(
        np.concatenate([found.a, found.b, places.document]),
        np.concatenate([found.start_a, found.start_b, places.start]),
        np.concatenate([found.end_a, found.end_b, places.end]),
        len(named),
    )[:listed]
    most = _most_shared(found, len(named))[:listed]
    everyone = np.arange(listed, dtype=np.int64)
    (ids, most_in), where = _ids_first(named.columns(id=everyone, most_in=most), 2)
    return pa.table(
        {
            "id": ids,
            "characters": column_of(characters[:listed]),
            "shared": column_of(shared),
            "share": column_of(shared / np.maximum(1, characters[:listed])),
            "most_in": most_in,
            **where,
        }
    )


def _most_shared(found: Found, count: int) -> Whole:
    """The document that each one shares most characters with, the first if several; or -1."""
    mine = np.concatenate([found.a, found.b])
    theirs = np.concatenate([found.b, found.a])
    sizes = np.concatenate([found.end_a - found.start_a, found.end_b - found.start_b])
    pairs, numbers = np.unique(mine << 32 | theirs, return_inverse=True)
    sums = np.bincount(numbers, sizes, len(pairs))
    order = np.lexsort([-(pairs & 0xFFFFFFFF), sums])  # the last one that is written stays
    most = np.full(count, -1, np.int64)
    most[pairs[order] >> 32] = pairs[order] & 0xFFFFFFFF
    return most
