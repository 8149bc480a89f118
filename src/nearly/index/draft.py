"""A segment before it is written: its columns, in the order that they have in the file.

A *content* is what documents hold that are copies of each other; it is known by its digest, and the
contents of a segment stand in the order of their digests. So which members of a crowded bucket are
looked at first does not depend on the order in which they came. A content is *held*, with its keys,
sketch and text, by one segment only, where it came first; others only say which documents have it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import take_strings
from nearly.index.posting import Poster, Postings
from nearly.index.text_block import TextBlock, compressed
from nearly.measures.work import Workers

__all__ = ["NOWHERE", "Draft", "Rows", "draft_of"]

#: The place of a text that lies in another segment.
NOWHERE: Final = 2**32 - 1

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Documents as they came, one row each."""

    numbers: U64  # in the order of adding
    ids: pa.Array
    id_digests: U64
    digests: U64
    sizes: U32
    keys: U32
    sketches: U64
    contents: pa.Array
    kept: pa.Array  # what the index keeps of each content

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """See above. Documents stand by content, and in the order of adding where they share one."""

    digests: U64
    sizes: U32
    texts: U32  # the place of each content's text, or NOWHERE
    starts: U32  # the first document of each content, and the number of all
    sketches: U64
    bands: int
    runs: Callable[[int, int], U32]  # of the bands between: keys in order, and whose they are
    numbers: U64
    ids: pa.Array
    id_digests: U64
    blocks: Iterable[TextBlock]
    postings: Postings | None = None


def draft_of(
    rows: Rows, is_known: npt.NDArray[np.bool_], workers: Workers, poster: Poster | None
) -> Draft:
    """Of documents as they came; `is_known` says whose content is held by another segment."""
    order = _kernels.digest_order(rows.digests)
    digests = rows.digests.take(order, axis=0)
    high, low = digests.T
    is_first = np.ones(len(order), bool)
    is_first[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    starts = np.flatnonzero(is_first)
    firsts = order[starts]
    held = np.flatnonzero(~is_known[firsts])
    is_source = np.zeros(len(order), bool)
    is_source[firsts[held]] = True
    sources = np.flatnonzero(is_source)  # texts stay in the order in which they came
    texts = np.full(len(firsts), NOWHERE, np.uint32)
    texts[held] = (np.cumsum(is_source) - 1)[firsts[held]]
    # What is empty is kept, and is near to nothing.
    keyed = held[rows.sizes[firsts[held]] > 0].astype(np.uint32)
    owners = firsts[keyed]
    gathered: Sequence[Callable[[], Any]] = (
        lambda: rows.sketches.take(firsts, axis=0),
        lambda: rows.numbers.take(order),
        lambda: rows.id_digests.take(order, axis=0),
        lambda: _ids_at(rows.ids, order),
    )
    sketches, numbers, id_digests, ids = workers.map(lambda gather: gather(), gathered)
    return Draft(
        digests=digests.take(starts, axis=0),
        sizes=rows.sizes[firsts],
        texts=texts,
        starts=np.append(starts, len(order)).astype(np.uint32),
        sketches=sketches,
        bands=rows.keys.shape[1],
        runs=lambda start, end: _kernels.sort_bands(rows.keys, owners, keyed, start, end),
        numbers=numbers,
        ids=ids,
        id_digests=id_digests,
        blocks=_compressed(rows.kept, sources, workers),
        postings=_postings(poster, rows.kept, owners, keyed),
    )


def _ids_at(ids: pa.Array, places: U32) -> pa.Array:
    return (
        ids.take(pa.array(places)) if pa.types.is_integer(ids.type) else take_strings(ids, places)
    )


def _postings(poster: Poster | None, kept: pa.Array, places: U32, numbers: U32) -> Postings | None:
    """Of the contents that are held, where their members are listed."""
    return None if poster is None else poster.postings(kept.take(pa.array(places)), numbers)


def _compressed(
    contents: pa.Array, chosen: npt.NDArray[np.intp], workers: Workers
) -> list[TextBlock]:
    def of_part(part: tuple[int, int]) -> list[TextBlock]:
        places = chosen[slice(*part)].astype(np.uint32)
        return list(compressed(take_strings(contents, places)))

    if workers.threads == 1:
        return of_part((0, len(chosen)))
    parts = workers.split(len(chosen)) if len(chosen) else []
    return [block for blocks in workers.map(of_part, parts) for block in blocks]
