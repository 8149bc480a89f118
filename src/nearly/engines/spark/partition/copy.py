"""Documents of the same id, or of the same text, brought together: who came first?"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.documents.block import SignedBlock
from nearly.documents.place import Stretch
from nearly.documents.side import Sides
from nearly.engines.spark.partition.border import Border, sides_here
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target, numbered

__all__ = [
    "Copies",
    "Digests",
    "Repeats",
    "Returned",
    "Sided",
    "asking",
    "both_of",
    "count_repeated_ids",
    "count_repeats",
    "digests_of",
    "first_of_each",
    "first_repeat",
    "is_representative",
    "repeats",
    "representatives",
    "sided",
    "told",
    "with_stretches",
]

Kind = Literal["id", "text", "both"]
_KINDS: tuple[Kind, ...] = ("id", "text", "both")
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

    `both` are old documents that stand for new copies too. Where ids repeat anywhere, it is told
    what the rows of the block belong to.
    """

    ids: Copies
    texts: Copies
    both: Numbers
    stretches: Sequence[Stretch] = ()


class Sided(NamedTuple):
    """Documents, and their sides if there is a border."""

    documents: Numbers
    sides: Sides | None


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


def first_of_each(
    received: Sequence[Digests], *, border: Border | None
) -> Iterator[tuple[int, Returned]]:
    """Every document whose id or text came before, sent to its block."""
    for kind in _KINDS:
        same = _in_order(kind, received)
        if same:
            copies = _copies(same)
            if kind == "text" and border is not None and border.lists_copies:
                yield from _on_both_sides(copies, border)
            for block, columns in by_target(blocks_of(copies.documents), *copies):
                yield block, Returned(kind, Copies(*columns))


def _on_both_sides(copies: Copies, border: Border) -> Iterator[tuple[int, Returned]]:
    """Old originals of new copies, sent to their blocks."""
    documents, originals = copies
    crossing = (originals < border.first_new) & (documents >= border.first_new)
    both = np.unique(originals[crossing])
    for block, (theirs,) in by_target(blocks_of(both), both):
        yield block, Returned("both", Copies(theirs, theirs))


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
    ids, texts, both = (_of_kind(kind, received) for kind in _KINDS)
    return Repeats(ids, texts, both.documents)


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


def asking(number: int, signed: SignedBlock, known: Repeats, *, border: Border | None) -> Numbers:
    """The same; of two sides, those that stand on the new one."""
    everyone = representatives(number, signed, known)
    if border is None or number >= border.blocks:
        return everyone
    return np.intersect1d(everyone, known.both)


def both_of(known: Repeats, *, documents: Numbers) -> Numbers:
    """Those of some documents that stand on both sides."""
    return np.intersect1d(known.both, documents)


def sided(number: int, signed: SignedBlock, known: Repeats, *, border: Border | None) -> Sided:
    """The documents of a block that are compared, and their sides."""
    everyone = representatives(number, signed, known)
    return Sided(everyone, None if border is None else sides_here(everyone, known.both, border))


def told(number: int, known: Repeats, border: Border | None) -> Copies:
    """The copies of a block that anybody is told of: not those among old documents, unless all
    pairs are asked for."""
    if border is None or border.lists_copies or number >= border.blocks:
        return known.texts
    return Copies(known.texts.documents[:0], known.texts.originals[:0])
