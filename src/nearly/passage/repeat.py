"""Which pieces repeat others: runs of pieces that stand in the same order at an earlier place.

A run is worth a cut if its pieces have enough words together. It is enough to look at the shortest
such runs that begin with each piece and that end with each piece: every longer one is covered by
them, since what comes before or after a run that has enough words has them too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearly import _kernels

__all__ = ["survivors_of"]

Whole = npt.NDArray[np.int64]

#: Odd, so that it has an inverse among 64-bit numbers.
_BASE = 0x9E3779B97F4A7C15


class _Runs(NamedTuple):
    """Pieces [start, end) of one document each."""

    starts: Whole
    ends: Whole


def survivors_of(
    offsets: Whole, pieces: Whole, digests: npt.NDArray[np.uint64], words: Whole, least: int
) -> tuple[Whole, Whole]:
    """Which of some pieces go, in order, and which stay for them: equal, and before them.

    `offsets` say where the pieces of each document begin, of the documents in their order, and
    `pieces` are numbers of pieces in that order; those that say what no other says may be missing.
    Both are places in `pieces`.
    """
    numbers = _kernels.first_seen(digests).astype(np.int64)
    survivors = _survivors(_borders(offsets, pieces), numbers, words, least)
    goes = np.flatnonzero(survivors != np.arange(len(survivors)))
    return goes, survivors[goes]


def _borders(offsets: Whole, pieces: Whole) -> Whole:
    """Where stretches of pieces begin that stand next to each other in one document."""
    documents = np.searchsorted(offsets, pieces, "right")
    is_next = (np.diff(pieces) == 1) & (np.diff(documents) == 0)
    return np.concatenate([[0], np.flatnonzero(~is_next) + 1, [len(pieces)]]).astype(np.int64)


def _survivors(offsets: Whole, numbers: Whole, words: Whole, least: int) -> Whole:
    """For each piece the one that stays: itself, or an equal one before it."""
    runs = _shortest_runs(offsets, words, least)
    firsts = _first_equal(numbers, runs)
    repeated = firsts < runs.starts
    survivors = np.arange(len(numbers), dtype=np.int64)
    pieces, which = _pieces_of(_Runs(runs.starts[repeated], runs.ends[repeated]))
    shift = (runs.starts - firsts)[repeated][which]
    np.minimum.at(survivors, pieces, pieces - shift)
    while not np.array_equal(nearer := survivors[survivors], survivors):
        survivors = nearer
    return survivors


def _shortest_runs(offsets: Whole, words: Whole, least: int) -> _Runs:
    """The shortest run from each piece on, and up to each piece, that has enough words."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(words)])
    pieces = np.arange(len(words), dtype=np.int64)
    lengths = np.diff(offsets)
    first, last = np.repeat(offsets[:-1], lengths), np.repeat(offsets[1:], lengths)
    ends = np.searchsorted(sums, sums[:-1] + least)
    starts = np.searchsorted(sums, sums[1:] - least, "right") - 1
    on, up_to = ends <= last, starts >= first
    up_to[up_to] = ends[starts[up_to]] != pieces[up_to] + 1  # the same run is there already
    return _Runs(
        np.concatenate([pieces[on], starts[up_to]]),
        np.concatenate([ends[on], pieces[up_to] + 1]),
    )


def _first_equal(numbers: Whole, runs: _Runs) -> Whole:
    """Where the first run begins that has the same pieces, for each."""
    keys = np.stack([_hashes(numbers, runs), (runs.ends - runs.starts).astype(np.uint64)], 1)
    alike = _kernels.first_seen(keys)
    earliest = runs.starts.copy()
    np.minimum.at(earliest, alike, runs.starts)
    firsts = earliest[alike]
    pieces, which = _pieces_of(runs)
    shift = (runs.starts - firsts)[which]
    is_wrong = numbers[pieces] != numbers[pieces - shift]
    # Hashes of 64 bits hardly ever lie; runs of which they do count as not repeated.
    firsts[which[is_wrong]] = runs.starts[which[is_wrong]]
    return firsts


def _hashes(numbers: Whole, runs: _Runs) -> npt.NDArray[np.uint64]:
    """A polynomial of each run's numbers, from sums over all pieces before."""
    mixed = _kernels.hash_numbers(numbers.astype(np.uint64))
    powers = _powers(_BASE, len(numbers) + 1)
    inverses = _powers(pow(_BASE, -1, 2**64), len(numbers) + 1)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * powers[:-1])])
    difference: npt.NDArray[np.uint64] = sums[runs.ends] - sums[runs.starts]
    return difference * inverses[runs.starts]


def _powers(base: int, count: int) -> npt.NDArray[np.uint64]:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.cumprod(factors)


def _pieces_of(runs: _Runs) -> tuple[Whole, Whole]:
    """All pieces of the runs, one run behind the other, and the run of each."""
    lengths = runs.ends - runs.starts
    which = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])[:-1]
    return np.arange(len(which), dtype=np.int64) - before[which] + runs.starts[which], which
