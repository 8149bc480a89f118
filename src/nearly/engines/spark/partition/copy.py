"""Documents of the same id, or of the same text, brought together: who came first?"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.block import SignedBlock
from nearly.documents.place import Stretch
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, numbered

__all__ = [
    "Copies",
    "Digests",
    "Repeats",
    "Returned",
    "count_repeated_ids",
    "count_repeats",
    "digests_of",
    "first_of_each",
    "first_repeat",
    "is_representative",
    "repeats",
    "representatives",
    "with_stretches",
]

Kind = Literal["id", "text"]
Chosen = npt.NDArray[np.bool_]


class Digests(NamedTuple):
    """Some documents of one block, in ascending order, and 128 bits for the id or text of each."""

    kind: Kind
    digests: npt.NDArray[np.uint64]
    documents: Numbers


class Copies(NamedTuple):
    """Documents that came later, in ascending order, and what each of them repeats."""

    documents: Numbers
    originals: Numbers


class Returned(NamedTuple):
    """Copies of one kind, on their way to their block."""

    kind: Kind
    copies: Copies


class Repeats(NamedTuple):
    """The documents of a block whose id came before, and those whose text did.

    Where ids repeat anywhere, it is told what the rows of the block belong to.
    """

    ids: Copies
    texts: Copies
    stretches: Sequence[Stretch] = ()


def digests_of(
    number: int, signed: SignedBlock, *, check_ids: bool, partitions: int
) -> Iterator[tuple[int, Digests]]:
    """Ids, and texts of documents that have one, sent to where equal ones meet."""
    documents = numbered(number, signed.rows)
    if check_ids:
        yield from _sent("id", signed.id_digests, documents, partitions)
    valid = signed.sizes > 0
    yield from _sent("text", signed.digests[valid], documents[valid], partitions)


def _sent(
    kind: Kind, digests: npt.NDArray[np.uint64], documents: Numbers, partitions: int
) -> Iterator[tuple[int, Digests]]:
    targets = digests[:, 0] % np.uint64(partitions)
    for target, (some, theirs) in by_target(targets, digests, documents):
        yield target, Digests(kind, some, theirs)


def first_of_each(received: Sequence[Digests]) -> Iterator[tuple[int, Returned]]:
    """Every document whose id or text came before, sent to its block."""
    kinds: tuple[Kind, ...] = ("id", "text")
    for kind in kinds:
        same = _in_order(kind, received)
        if same:
            copies = _copies(same)
            for block, columns in by_target(blocks_of(copies.documents), *copies):
                yield block, Returned(kind, Copies(*columns))


def _in_order(kind: Kind, received: Sequence[Digests]) -> list[Digests]:
    same = (part for part in received if part.kind == kind)
    return sorted(same, key=lambda part: int(part.documents[0]))


def _copies(in_order: Sequence[Digests]) -> Copies:
    documents = np.concatenate([part.documents for part in in_order])
    first = documents[_kernels.first_seen(np.concatenate([part.digests for part in in_order]))]
    is_copy = first != documents
    return Copies(documents[is_copy], first[is_copy])


def repeats(received: Sequence[Returned]) -> Repeats:
    """All that came back to one block, in ascending order."""
    return Repeats(_of_kind("id", received), _of_kind("text", received))


def with_stretches(
    number: int, known: Repeats, stretches: Sequence[Stretch], *, starts: Sequence[int]
) -> Repeats:
    """The same, and what rows belong to; each block of a frame counts from its start."""
    shift = starts[number] if starts else 0
    return known._replace(stretches=[part._replace(first=part.first + shift) for part in stretches])


def _of_kind(kind: Kind, received: Sequence[Returned]) -> Copies:
    none = Copies(np.empty(0, np.int64), np.empty(0, np.int64))
    parts = [part.copies for part in received if part.kind == kind]
    documents, originals = map(np.concatenate, zip(none, *parts, strict=True))
    order = np.argsort(documents)
    return Copies(documents[order], originals[order])


def count_repeats(known: Repeats) -> tuple[int, int]:
    """By id, and by text."""
    return len(known.ids.documents), len(known.texts.documents)


def count_repeated_ids(received: Sequence[Digests]) -> int:
    """Of the ids that met in one partition, how many several documents have."""
    same = _in_order("id", received)
    return len(np.unique(_copies(same).originals)) if same else 0


def first_repeat(known: Repeats) -> tuple[int, int] | None:
    """The first document of a block whose id came before, and the document that had it."""
    documents, originals = known.ids
    return (int(documents[0]), int(originals[0])) if len(documents) else None


def is_representative(number: int, signed: SignedBlock, known: Repeats) -> Chosen:
    """Which documents of a block are compared."""
    is_copy = np.isin(numbered(number, signed.rows), known.texts.documents)
    chosen: Chosen = (signed.sizes > 0) & ~is_copy
    return chosen


def representatives(number: int, signed: SignedBlock, known: Repeats) -> Numbers:
    """The documents of a block that are compared."""
    return numbered(number, signed.rows[is_representative(number, signed, known)])
