"""Documents of the same content, or of the same id, brought together: who came first?"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.engines.spark.numbers import Numbers, blocks_of, by_target

__all__ = ["Copies", "Prints", "first_of_each", "prints"]

Contents = npt.NDArray[np.uint64]


class Prints(NamedTuple):
    """Some documents of one block, in ascending order, and 128 bits that stand for each."""

    contents: Contents
    documents: Numbers


class Copies(NamedTuple):
    """Documents that came later, in ascending order, and what each of them repeats."""

    documents: Numbers
    originals: Numbers


def prints(contents: Contents, documents: Numbers, partitions: int) -> Iterator[tuple[int, Prints]]:
    """Sent to where all equal contents meet."""
    targets = contents[:, 0] % np.uint64(partitions)
    for target, (some, theirs) in by_target(targets, contents, documents):
        yield target, Prints(some, theirs)


def first_of_each(received: Sequence[Prints]) -> Iterator[tuple[int, Copies]]:
    """Every document whose content came before, sent to its block."""
    if not received:
        return
    in_order = sorted(received, key=lambda part: int(part.documents[0]))
    documents = np.concatenate([part.documents for part in in_order])
    first = documents[_kernels.first_seen(np.concatenate([part.contents for part in in_order]))]
    is_copy = first != documents
    copies, originals = documents[is_copy], first[is_copy]
    for block, columns in by_target(blocks_of(copies), copies, originals):
        yield block, Copies(*columns)
