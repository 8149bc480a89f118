"""Where a histogram of similarities has a valley: the place to cut near-copies from the rest.

Pairs of strangers are many and lie low; near-copies are few and lie high. Where a corpus has both,
few pairs lie between them, and a threshold there decides about few. The bars are those that a
reader sees: 20 of them, each 0.05 wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["BARS", "Valley", "find_valley"]

BARS: Final = 20
#: The bars that can be a valley: those from 0.3 up to 0.95.
LOWEST, HIGHEST = 6, 18
#: A hill on either side is at least this many times as high as the valley.
TIMES: Final = 2
#: How often pairs have to be seen above the valley: fewer are no hill.
FEWEST: Final = 10


@dataclass(frozen=True, kw_only=True)
class Valley:
    """The lowest bars between two hills."""

    threshold: float  # their middle
    low: float  # where they begin
    high: float  # and end
    pairs: float  # in each of them
    below: float  # pairs in the highest bar on the left
    above: float  # and on the right


def find_valley(pairs: Sequence[float], seen: Sequence[int]) -> Valley | None:
    """The lowest bars with a hill on both sides; of several the most, then the highest ones.

    `pairs` are the pairs of the corpus by similarity, as estimated; `seen` says how often one was
    seen in the survey that the estimate was made from. None where the bars fall or rise
    throughout, or too few pairs were seen above.
    """
    runs = [run for run in _runs(pairs) if _is_valley(pairs, seen, *run)]
    if not runs:
        return None
    first, last = min(runs, key=lambda run: (pairs[run[0]], run[0] - run[1], -run[0]))
    low, high = first / BARS, (last + 1) / BARS
    return Valley(
        threshold=round((low + high) / 2, 3),
        low=low,
        high=high,
        pairs=pairs[first],
        below=max(pairs[:first]),
        above=max(pairs[last + 1 :]),
    )


def _runs(pairs: Sequence[float]) -> list[tuple[int, int]]:
    """The first and the last of each run of equal bars that can be a valley."""
    runs: list[tuple[int, int]] = []
    for bar in range(LOWEST, HIGHEST + 1):
        if runs and pairs[runs[-1][0]] == pairs[bar]:
            runs[-1] = runs[-1][0], bar
        else:
            runs.append((bar, bar))
    return runs


def _is_valley(pairs: Sequence[float], seen: Sequence[int], first: int, last: int) -> bool:
    hills = max(pairs[:first]), max(pairs[last + 1 :])
    is_between = min(hills) > 0 and min(hills) >= TIMES * pairs[first]
    return is_between and sum(seen[last + 1 :]) >= FEWEST
