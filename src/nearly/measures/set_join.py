"""From sets of shingles to every pair that reaches a threshold, none missed: the exact join.

Documents come in blocks, which bounds the memory. Where there are several, the sets of all are put
aside first, each made once; then some blocks at a time are indexed, and those behind them looked up
there whose sizes allow a pair. One block is the fast case.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.frozen import dataclass
from nearly.mapping import let_go
from nearly.measures.number import Documents
from nearly.measures.pair import Joined, Nearness, join_pairs, split_pairs
from nearly.measures.probe import Held, ProbedIndex, probe
from nearly.measures.work import HeldColumn, Workers

__all__ = [
    "Least",
    "Rarities",
    "SetBlock",
    "join",
    "join_across",
    "looked_up",
    "memory_of",
    "rarities_among",
]

Load = Callable[[], "SetBlock"]
Rarities = npt.NDArray[np.uint8]

FEWEST_CELL_BITS, MOST_CELL_BITS = 16, 24
NEAR_CELL_BITS = 18  # cells that stay in a cache, where more of them cost nothing
#: Blocks that are indexed together; one more is looked up in their index at a time.
INDEXED = 4
LONGER = 5  # by how much the prefix of a document exceeds its share: see `EXTRA` in join_sets.hpp
SAMPLED = 256  # one hash in so many tells how many differ
#: Fewer cells mean more wasted candidates, more cells more cache misses.
SHINGLES_PER_CELL, SHINGLES_PER_NEAR_CELL = 16, 4


@dataclass(frozen=True, kw_only=True)
class SetBlock:
    """Sets of shingles as hashes, each once, and the number of each one's document."""

    documents: Documents
    offsets: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]

    def part(self, start: int, stop: int) -> "SetBlock":
        """The sets at these places, without a copy of them."""
        offsets = self.offsets[start : stop + 1]
        return SetBlock(
            documents=self.documents[start:stop],
            offsets=offsets - offsets[0],
            hashes=self.hashes[offsets[0] : offsets[-1]],
        )

    def sizes(self) -> tuple[int, int]:
        """The extreme ones; both 0 where no set has a shingle."""
        sizes = np.diff(self.offsets)
        filled = sizes[sizes > 0]
        return (int(filled.min()), int(filled.max())) if filled.size else (0, 0)


@dataclass(frozen=True, kw_only=True)
class Least:
    """The least share that two sets have in common: of both together, or of the smaller one."""

    share: Fraction
    of_smaller: bool

    @property
    def told(self) -> tuple[int, int, bool]:
        """As kernels take it."""
        return self.share.numerator, self.share.denominator, self.of_smaller


def join(blocks: Sequence[Load], least: Least, workers: Workers) -> Iterator[Joined]:
    """Every pair that reaches the threshold, once, in parts as they are found.

    Each block is a function that loads it. Blocks of documents of like size save most of the
    look-ups, for sizes that lie far apart exclude each other.
    """
    whole, ends, rarities = _gathered(blocks, workers)
    sizes = [whole.part(*each).sizes() for each in itertools.pairwise(ends)]
    for first in range(0, len(sizes), INDEXED):
        last = min(first + INDEXED, len(sizes))
        mine = whole.part(ends[first], ends[last])
        sets = _prepare(mine, rarities, least, workers)
        index = _indexed(sets, workers, within=True)
        yield from looked_up(index, sets, mine, mine, workers)
        behind = [j for j in range(last, len(sizes)) if _can_pair(mine.sizes(), sizes[j], least)]
        if not behind:
            continue
        index = _indexed(sets, workers, within=False)
        for j in behind:
            theirs = whole.part(ends[j], ends[j + 1])
            others = _prepare(theirs, rarities, least, workers)
            yield from looked_up(index, others, mine, theirs, workers)


def join_across(
    mine: SetBlock, theirs: SetBlock, least: Least, workers: Workers
) -> Iterator[Joined]:
    """Every pair of a document of one block and one of the other that reaches the threshold."""
    if not _can_pair(mine.sizes(), theirs.sizes(), least):
        return
    rarities = rarities_among([lambda: mine, lambda: theirs], workers)
    index = _indexed(_prepare(mine, rarities, least, workers), workers, within=False)
    others = _prepare(theirs, rarities, least, workers)
    yield from looked_up(index, others, mine, theirs, workers)


def memory_of(documents: int, shingles: int, least: Least, threads: int) -> int:
    """The most bytes that one block takes, its hashes included and its pairs not."""
    t = float(least.share)
    first = 1 if least.of_smaller else 1 - t  # the larger of two sets is looked up whole
    in_prefixes = shingles * first + LONGER * documents  # 8 bytes each, and 16 to sort an index
    in_sketches = shingles * min(1 / t**2, 8) * 2 / 8 + 8 * documents
    in_cells = _bytes_of_cells(_cell_bits(shingles), threads)
    by_document = (48 + 5 * threads) * documents
    return round(8 * shingles + 24 * in_prefixes + in_sketches + in_cells + by_document)


def _gathered(blocks: Sequence[Load], workers: Workers) -> tuple[SetBlock, list[int], Rarities]:
    """The sets of all blocks, where blocks begin and end among them, and how rare cells are."""
    column = workers.column() if len(blocks) > 1 else HeldColumn()
    documents, sizes = [], [np.zeros(1, np.uint32)]
    counts = np.empty(0, np.uint64)
    for load in blocks:
        block = load()
        if not counts.size:
            counts = _no_cells(block.hashes, len(blocks), workers)
        _count_cells(block.hashes, counts, workers)
        documents.append(block.documents)
        sizes.append(np.diff(block.offsets).astype(np.uint32))
        column.append(block.hashes)
    whole = SetBlock(
        documents=np.concatenate(documents),
        offsets=np.cumsum(np.concatenate(sizes), dtype=np.int64),
        hashes=column.shown(),
    )
    ends = np.cumsum([0, *map(len, documents)]).tolist()
    return whole, ends, _rarities(counts)


def rarities_among(blocks: Sequence[Callable[[], SetBlock]], workers: Workers) -> Rarities:
    """How rare each cell of shingles is over all blocks."""
    counts = np.empty(0, np.uint64)
    for load in blocks:
        block = load()
        if not counts.size:
            counts = _no_cells(block.hashes, len(blocks), workers)
        _count_cells(block.hashes, counts, workers)
    return _rarities(counts)


def _no_cells(
    hashes: npt.NDArray[np.uint64], blocks: int, workers: Workers
) -> npt.NDArray[np.uint64]:
    """A count for each cell, by the first of some blocks; a quarter of the room is for cells.

    Where documents have much text in common, there are far fewer different shingles than shingles:
    more cells than these would be empty, and only cost misses of the cache.
    """
    bits = _cell_bits(len(hashes) * blocks)
    if bits > FEWEST_CELL_BITS:
        bits = min(bits, max(FEWEST_CELL_BITS, (_different(hashes, workers) * blocks).bit_length()))
    while bits > FEWEST_CELL_BITS and _bytes_of_cells(bits, workers.threads) > workers.room // 4:
        bits -= 1
    return np.zeros(1 << bits, np.uint64)


def _different(hashes: npt.NDArray[np.uint64], workers: Workers) -> int:
    """About how many different hashes there are, by the least of them: they are uniform."""
    limit = 2**64 // SAMPLED

    def of_part(part: tuple[int, int]) -> npt.NDArray[np.uint64]:
        return np.sort(_kernels.hashes_below(hashes[slice(*part)], limit))

    found = list(workers.map(of_part, workers.split(len(hashes))))
    together = np.sort(np.concatenate(found), kind="stable")  # merges what is in order
    # As `np.unique`, which imports a tenth of NumPy.
    return SAMPLED * int(np.count_nonzero(np.diff(together)) + min(1, len(together)))


def _count_cells(
    hashes: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint64], workers: Workers
) -> None:
    bits = counts.size.bit_length() - 1
    parts = workers.split(len(hashes), per_thread=1)
    for part in workers.map(lambda p: _kernels.count_cells(hashes[slice(*p)], bits), parts):
        counts += part


def _rarities(counts: npt.NDArray[np.uint64]) -> Rarities:
    np.minimum(counts, np.iinfo(np.uint32).max, out=counts)
    return _kernels.cell_rarities(counts.astype(np.uint32))


def _bytes_of_cells(bits: int, threads: int) -> int:
    return (17 + 4 * threads) << bits


def _cell_bits(shingles: int) -> int:
    near = (shingles // SHINGLES_PER_NEAR_CELL).bit_length()
    bits = max((shingles // SHINGLES_PER_CELL).bit_length(), min(near, NEAR_CELL_BITS))
    return min(max(bits, FEWEST_CELL_BITS), MOST_CELL_BITS)


def _can_pair(mine: tuple[int, int], theirs: tuple[int, int], least: Least) -> bool:
    """Whether any size in one range is near enough to one in the other; no set is 0 large."""
    if not mine[1] or not theirs[1]:
        return False
    if least.of_smaller:
        return True
    return theirs[0] * least.share <= mine[1] and mine[0] * least.share <= theirs[1]


def _prepare(
    block: SetBlock, rarities: Rarities, least: Least, workers: Workers
) -> _kernels.JoinSets:
    sets = _kernels.JoinSets(block.offsets, block.hashes, rarities, *least.told)
    for _ in workers.map(lambda part: sets.prepare(*part), workers.split(len(sets))):
        let_go()
    return sets


def _indexed(sets: _kernels.JoinSets, workers: Workers, *, within: bool) -> _kernels.JoinIndex:
    index = _kernels.JoinIndex(sets, within, workers.threads)
    for step in (index.sort, index.write):
        for _ in workers.map(step, range(workers.threads)):
            pass
    return index


def looked_up(
    index: ProbedIndex[Held, Nearness],
    sets: Held,
    indexed: SetBlock,
    probed: SetBlock,
    workers: Workers,
) -> Iterator[Joined]:
    """The pairs of indexed sets and these, by the numbers of their documents."""
    for found in probe(index, sets, workers):
        first, second = split_pairs(found.pairs)
        yield Joined(
            pairs=join_pairs(indexed.documents[first], probed.documents[second]),
            nearness=found.values,
            meetings=found.met,
            verified=found.verified,
        )
        let_go()
