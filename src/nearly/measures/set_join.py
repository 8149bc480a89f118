"""From sets of shingles to every pair that reaches a threshold, none missed: the exact join.

Documents come in blocks, which bounds the memory: two blocks are held at a time, and each block
is loaded again for every earlier one whose sizes allow a pair. One block is the fast case.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.number import Documents
from nearly.measures.pair import Joined, Nearness, Packed, join_pairs, split_pairs
from nearly.measures.work import Workers

__all__ = ["SetBlock", "join", "join_across", "memory_of"]

Load = Callable[[], "SetBlock"]
Rarities = npt.NDArray[np.uint8]

FEWEST_CELL_BITS, MOST_CELL_BITS = 16, 24
MOST_PAIRS = 2**18  # in one step; those of a document more may come with them
SHINGLES_PER_CELL = 16  # fewer cells mean more wasted candidates, more cells more cache misses


@dataclass(frozen=True, kw_only=True)
class SetBlock:
    """Sets of shingles as sorted hashes, and the number of each one's document."""

    documents: Documents
    offsets: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]


def join(blocks: Sequence[Load], threshold: Fraction, workers: Workers) -> Iterator[Joined]:
    """Every pair that reaches the threshold, once, in parts as they are found.

    Each block is a function that loads it. SetBlocks of documents of like size save most of the
    loading, for sizes that lie far apart exclude each other.
    """
    rarities, sizes = _survey(blocks, workers)
    for i, load in enumerate(blocks):
        mine = load()
        sets = _prepare(mine, rarities, threshold, workers)
        yield from _probe(_kernels.JoinIndex(sets, within=True), sets, mine, mine, workers)
        partners = [
            j for j in range(i + 1, len(blocks)) if _can_pair(sizes[i], sizes[j], threshold)
        ]
        if not partners:
            continue
        index = _kernels.JoinIndex(sets, within=False)
        for j in partners:
            theirs = blocks[j]()
            others = _prepare(theirs, rarities, threshold, workers)
            yield from _probe(index, others, mine, theirs, workers)


def join_across(
    mine: SetBlock, theirs: SetBlock, threshold: Fraction, workers: Workers
) -> Iterator[Joined]:
    """Every pair of a document of one block and one of the other that reaches the threshold."""
    rarities, sizes = _survey([lambda: mine, lambda: theirs], workers)
    if _can_pair(sizes[0], sizes[1], threshold):
        index = _kernels.JoinIndex(_prepare(mine, rarities, threshold, workers), within=False)
        others = _prepare(theirs, rarities, threshold, workers)
        yield from _probe(index, others, mine, theirs, workers)


def memory_of(documents: int, shingles: int, threshold: Fraction, threads: int) -> int:
    """The most bytes that one block takes, its hashes included and its pairs not."""
    t = float(threshold)
    in_prefixes = shingles * (1 - t) + documents  # eight bytes each, as much again in the index
    in_sketches = shingles * min(1 / t**2, 8) * 2 / 8 + 8 * documents
    in_cells = (1 << _cell_bits(shingles)) * (17 + 4 * threads)
    by_document = (48 + 4 * threads) * documents
    return round(8 * shingles + 16 * in_prefixes + in_sketches + in_cells + by_document)


def _survey(blocks: Sequence[Load], workers: Workers) -> tuple[Rarities, list[tuple[int, int]]]:
    """How rare each cell of shingles is over all blocks, and the extreme sizes in each block."""
    counts = np.empty(0, np.uint64)
    sizes = []
    for load in blocks:
        block = load()
        if not counts.size:
            counts = np.zeros(1 << _cell_bits(len(block.hashes) * len(blocks)), np.uint64)
        for part in _count_cells(block.hashes, counts.size.bit_length() - 1, workers):
            counts += part
        of_block = np.diff(block.offsets)
        filled = of_block[of_block > 0]
        sizes.append((int(filled.min()), int(filled.max())) if filled.size else (0, 0))
    capped = np.minimum(counts, np.iinfo(np.uint32).max).astype(np.uint32)
    return _kernels.cell_rarities(capped), sizes


def _count_cells(
    hashes: npt.NDArray[np.uint64], bits: int, workers: Workers
) -> Iterable[npt.NDArray[np.uint32]]:
    return workers.map(
        lambda part: _kernels.count_cells(hashes[slice(*part)], bits),
        workers.split(len(hashes), per_thread=1),
    )


def _cell_bits(shingles: int) -> int:
    bits = (shingles // SHINGLES_PER_CELL).bit_length()
    return min(max(bits, FEWEST_CELL_BITS), MOST_CELL_BITS)


def _can_pair(mine: tuple[int, int], theirs: tuple[int, int], threshold: Fraction) -> bool:
    """Whether any size in one range is near enough to one in the other; no set is 0 large."""
    if not mine[1] or not theirs[1]:
        return False
    return theirs[0] * threshold <= mine[1] and mine[0] * threshold <= theirs[1]


def _prepare(
    block: SetBlock, rarities: Rarities, threshold: Fraction, workers: Workers
) -> _kernels.JoinSets:
    sets = _kernels.JoinSets(
        block.offsets, block.hashes, rarities, threshold.numerator, threshold.denominator
    )
    for _ in workers.map(lambda part: sets.prepare(*part), workers.split(len(sets))):
        pass
    return sets


def _probe(
    index: _kernels.JoinIndex,
    sets: _kernels.JoinSets,
    indexed: SetBlock,
    probed: SetBlock,
    workers: Workers,
) -> Iterator[Joined]:
    """Looks up the sets of `probed`; the largest come first, for they take the longest.

    A part that has many pairs is done in several steps.
    """
    parts = deque(reversed(workers.split(len(sets))))

    def of_part(part: tuple[int, int]) -> tuple[Packed, Nearness, int, int, tuple[int, int]]:
        pairs, similarities, met, verified, reached = index.probe(sets, *part, MOST_PAIRS)
        return pairs, similarities, met, verified, (reached, part[1])

    for pairs, similarities, met, verified, rest in workers.map_growing(of_part, parts):
        if rest[0] < rest[1]:
            parts.append(rest)
        first, second = split_pairs(pairs)
        yield Joined(
            pairs=join_pairs(indexed.documents[first], probed.documents[second]),
            nearness=similarities,
            meetings=met,
            verified=verified,
        )
