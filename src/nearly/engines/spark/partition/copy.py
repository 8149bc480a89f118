"""Documents of the same id, or of the same text, brought together: who came first?"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.engines.spark.partition.number import Numbers, blocks_of, by_target

__all__ = ["Copies", "Later", "Prints", "Repeats", "first_of_each", "later", "prints"]

Contents = npt.NDArray[np.uint64]
Kind = Literal["id", "text"]


class Prints(NamedTuple):
    """Some documents of one block, in ascending order, and 128 bits for the id or text of each."""

    kind: Kind
    contents: Contents
    documents: Numbers


class Copies(NamedTuple):
    """Documents that came later, in ascending order, and what each of them repeats."""

    documents: Numbers
    originals: Numbers


class Repeats(NamedTuple):
    """Copies of one kind, on their way to their block."""

    kind: Kind
    copies: Copies


class Later(NamedTuple):
    """The documents of a block whose id came before, and those whose text did."""

    repeated: Copies
    copies: Copies


def prints(
    kind: Kind, contents: Contents, documents: Numbers, partitions: int
) -> Iterator[tuple[int, Prints]]:
    """Sent to where all equal contents meet."""
    targets = contents[:, 0] % np.uint64(partitions)
    for target, (some, theirs) in by_target(targets, contents, documents):
        yield target, Prints(kind, some, theirs)


def first_of_each(received: Sequence[Prints]) -> Iterator[tuple[int, Repeats]]:
    """Every document whose id or text came before, sent to its block."""
    kinds: tuple[Kind, ...] = ("id", "text")
    for kind in kinds:
        same = [part for part in received if part.kind == kind]
        if same:
            copies = _copies(sorted(same, key=lambda part: int(part.documents[0])))
            for block, columns in by_target(blocks_of(copies.documents), *copies):
                yield block, Repeats(kind, Copies(*columns))


def _copies(in_order: Sequence[Prints]) -> Copies:
    documents = np.concatenate([part.documents for part in in_order])
    first = documents[_kernels.first_seen(np.concatenate([part.contents for part in in_order]))]
    is_copy = first != documents
    return Copies(documents[is_copy], first[is_copy])


def later(received: Sequence[Repeats]) -> Later:
    """All that came back to one block, in ascending order."""
    return Later(_of_kind("id", received), _of_kind("text", received))


def _of_kind(kind: Kind, received: Sequence[Repeats]) -> Copies:
    none = Copies(np.empty(0, np.int64), np.empty(0, np.int64))
    parts = [part.copies for part in received if part.kind == kind]
    documents, originals = map(np.concatenate, zip(none, *parts, strict=True))
    order = np.argsort(documents)
    return Copies(documents[order], originals[order])
