"""From keys that were drawn to candidates: each block looks for the keys of all documents in its
own.

The keys of all documents come to every block, some hundred bytes a document. No text travels before
there are candidates.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearly.documents.block import SignedBlock
from nearly.documents.readable import Skips
from nearly.documents.side import BOTH, Sides, partners
from nearly.engines.spark.partition.border import Border, sides_here
from nearly.engines.spark.partition.bucket import Candidates
from nearly.engines.spark.partition.copy import Repeats, is_representative
from nearly.engines.spark.partition.number import Numbers, blocks_of, numbered, places_of
from nearly.engines.spark.partition.search import texts_of_block
from nearly.engines.spark.partition.signed_block import Block
from nearly.engines.spark.partition.verification import joined_texts, pairs_by_place
from nearly.measures.base import Measure
from nearly.measures.pair import split_pairs
from nearly.tuning.banding import Banding

__all__ = ["Drawn", "drawn_for_all", "probed"]


class Drawn(NamedTuple):
    """Documents in ascending order, with their sizes, the keys that were drawn from them, and their
    sides: all stand on both where there is no border."""

    documents: Numbers
    sizes: npt.NDArray[np.uint32]
    keys: npt.NDArray[np.uint32]
    sides: Sides


def drawn_for_all(
    number: int, signed: SignedBlock, known: Repeats, *, border: Border | None, partitions: int
) -> Iterator[tuple[int, Drawn]]:
    """The keys of a block's documents, sent everywhere."""
    chosen = is_representative(number, signed, known)
    documents = numbered(number, signed.rows[chosen])
    sides = np.full(len(documents), BOTH, np.uint8)
    if border is not None:
        sides = sides_here(documents, known.both, border)
    drawn = Drawn(documents, signed.sizes[chosen], signed.keys[chosen], sides)
    for target in range(partitions):
        yield target, drawn


def probed(
    number: int,
    block: Block,
    received: Sequence[Drawn],
    *,
    skipped: Skips,
    measure: Measure,
    banding: Banding,
    threshold: Fraction,
    partitions: int,
) -> Iterator[tuple[int, Candidates]]:
    """Pairs of any document and one of this block that has enough of its keys, sent to where they
    are verified."""
    in_order = sorted(received, key=lambda part: part.documents[:1].tolist())
    everyone, sizes, keys, sides = map(np.concatenate, zip(*in_order, strict=True))
    places = np.arange(len(everyone), dtype=np.uint32)
    for some, others in partners(sides):
        mine = everyone[others][blocks_of(everyone[others]) == number]
        if not len(mine):
            continue
        index = measure.prober(places[some], sizes[some], keys[some], banding, threshold)
        for part in texts_of_block(number, block, mine, skipped):
            documents, texts = joined_texts([part])
            pairs, met = index.probe(places_of(documents, everyone), texts)
            first, second = split_pairs(pairs)
            found = Candidates(everyone[first], everyone[second], met)
            yield from pairs_by_place(found, partitions=partitions)
