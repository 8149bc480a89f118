"""Some documents taken through both methods, to see what all of them would cost."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import spans, take_strings
from nearly.documents.side import Sides, by_side
from nearly.measures.base import Keys, Measure, Sketches
from nearly.measures.pair import Block
from nearly.measures.work import ONE_THREAD
from nearly.settings import Settings
from nearly.stages.audit import draw
from nearly.stages.candidate import candidates, unique
from nearly.stages.join import join_sides
from nearly.tuning.banding import Banding
from nearly.tuning.method import Choice, Rehearsal, count_tried, settle

__all__ = ["rehearse", "settled"]

#: Documents that are hashed, too: where text is in common, most of them meet in every band.
MOST_HASHED = 2_000


def settled(
    choice: Choice,
    measure: Measure,
    settings: Settings,
    banding: Banding,
    different: int,
    text: int,
    read: Callable[[npt.NDArray[np.int64]], pa.Array],
) -> Choice:
    """What is left of a tentative choice, by what some of the different documents say.

    `text` is the bytes of all documents; `read` gives the texts of those that are drawn.
    """
    drawn = draw(different, count_tried(different, text), settings.seed)
    rehearsal = rehearse(measure, read(drawn), None, banding, measure.threshold(settings))
    return settle(choice, different, rehearsal)


def rehearse(
    measure: Measure, contents: pa.Array, sides: Sides | None, banding: Banding, threshold: Fraction
) -> Rehearsal:
    """Hash some of these documents, and join all; the pairs are not needed."""
    offsets, _ = spans(contents)
    signed = measure.sign(contents, banding)
    hashed = slice(None, None, -(-len(contents) // MOST_HASHED) or 1)
    met, agreed = _met(signed.keys[hashed], signed.sketches[hashed], _of(sides, hashed), banding)
    places, cuts = by_side(sides)
    documents = np.arange(len(contents), dtype=np.uint32)[places]
    ends = (0, len(documents)) if cuts is None else cuts
    blocks = [Block.of(some, take_strings(contents, some)) for some in np.split(documents, ends)]
    loads = [[lambda block=block: block] for block in blocks]
    joined = list(join_sides(measure, loads, threshold, ONE_THREAD))
    return Rehearsal(
        documents=len(documents),
        hashed=len(signed.keys[hashed]),
        text=int(offsets[-1] - offsets[0]),
        size=int(signed.sizes.sum()),
        met=met,
        candidates=agreed,
        joined=sum(part.meetings for part in joined),
        join_verified=sum(part.verified for part in joined),
        costs=measure.costs,
    )


def _of(sides: Sides | None, some: slice) -> Sides | None:
    return None if sides is None else sides[some]


def _met(keys: Keys, sketches: Sketches, sides: Sides | None, banding: Banding) -> tuple[int, int]:
    """How often two documents meet in a band, and how many pairs of them agree enough."""
    places, cuts = by_side(sides)
    documents = np.arange(len(keys), dtype=np.uint32)[places]
    columns = (np.ascontiguousarray(column[places]) for column in keys.T)
    met = [candidates(keys, documents, sketches, banding, hubs=0, cuts=cuts) for keys in columns]
    pairs = unique(np.concatenate([pairs for pairs, _ in met]), 0, 2**64 - 1)
    return sum(meetings for _, meetings in met), len(pairs)
