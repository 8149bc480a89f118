"""Bounds on how near vectors can be, from the few coordinates that hold most of them.

Vectors are turned so that their first coordinates hold as much of them as possible. Of the others
only the length is kept. Two such rests have a product of at most that of their lengths (Cauchy and
Schwarz), and lie at least as far apart as their lengths do.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.measures.number import Documents

__all__ = ["MOST_COORDINATES", "Apart", "Products"]

Singles = npt.NDArray[np.float32]
Heads = npt.NDArray[np.int16]
#: How many pairs coordinates and rests leave over.
Left = Callable[[npt.NDArray[Any], npt.NDArray[Any]], int]

#: What 1 becomes as a whole number: products of two lengths fit 32 bits.
ONE: Final = 2**14
#: Coordinates to choose from, the rest of the length among them.
WIDTHS: Final = (16, 32, 48, 64, 96, 128, 192, 256)
MOST_COORDINATES: Final = max(WIDTHS)
#: Vectors that are looked at to choose; and what a full comparison costs, in products of a number.
SAMPLE: Final = 1_024
COMPARISON: Final = 4_000
#: More than rounding of single precision can be off by: of a cosine, and in parts of a number.
SLACK: Final = 1e-4
ROUNDING: Final = 2.0**-22
#: In thresholds. What lies beyond is drawn in to there, which brings nothing further apart.
FARTHEST: Final = 1e15


@dataclass(frozen=True)
class Products:
    """Products of heads, for cosines: the vectors are made 1 long first.

    Heads are rounded to whole numbers, and how much rounding can take away is given back.
    """

    columns: Singles  # of the directions that hold most
    least: float  # cosine

    @classmethod
    def of(cls, drawn: npt.NDArray[Any], least: float) -> "Products":
        """By the principal axes of some vectors."""
        unit = _unit(drawn)
        columns = _axes(unit).astype(np.float32)
        turned = _some(unit @ columns)

        def left(head: npt.NDArray[Any], rest: npt.NDArray[Any]) -> int:
            return int(np.count_nonzero(head @ head.T + np.outer(rest, rest) >= least))

        return cls(columns[:, : _best_width(turned, left)], least)

    def heads(self, vectors: npt.NDArray[Any]) -> Heads:
        """The first coordinates of each vector and the length of the rest."""
        heads = _with_rest(_unit(vectors), self.columns)
        even = np.zeros((len(heads), heads.shape[1] + heads.shape[1] % 2), np.float32)
        even[:, : heads.shape[1]] = heads
        rounded: Heads = np.rint(even * ONE).astype(np.int16)
        return rounded

    def near(self, mine: Heads, theirs: Heads, *, same: bool) -> tuple[Documents, Documents]:
        """See `Bound`. Rounding moves a head by half a step in each place at most, and its length
        is about 1."""
        rounding = 2 * np.sqrt(self.columns.shape[1] + 1) * 0.5 / ONE
        limit = int(np.floor((self.least - 1.01 * rounding - SLACK) * ONE * ONE))
        return _kernels.great_products(mine, theirs, limit, same)


@dataclass(frozen=True)
class Apart:
    """Distances of heads, in thresholds: by squares, of some coordinates and the length of the
    rest; or by steps, of all numbers as they are."""

    centre: npt.NDArray[np.float64]
    within: float
    columns: npt.NDArray[np.float64] | None = None

    @classmethod
    def by_steps(cls, drawn: npt.NDArray[Any], within: float) -> "Apart":
        """No turning keeps sums of steps."""
        centre = drawn.sum(axis=0, dtype=np.float64) / max(1, len(drawn))
        return cls(centre, within)

    @classmethod
    def by_squares(cls, drawn: npt.NDArray[Any], within: float) -> "Apart":
        """By the principal axes of some vectors."""
        plain = cls.by_steps(drawn, within)
        moved = plain.moved(drawn)
        columns = _axes(moved)
        turned = _some(moved @ columns)

        def left(head: npt.NDArray[Any], rest: npt.NDArray[Any]) -> int:
            both = np.column_stack([head, rest])
            squares = np.einsum("ij,ij->i", both, both)
            return int(np.count_nonzero(squares[:, None] + squares - 2 * both @ both.T <= 1))

        return replace(plain, columns=columns[:, : _best_width(turned, left)])

    def moved(self, vectors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """To where numbers are small, which takes nothing from distances."""
        moved = (vectors - self.centre) / (self.within or 1.0)
        return np.clip(moved, -FARTHEST, FARTHEST)

    def heads(self, vectors: npt.NDArray[Any]) -> Singles:
        """See `Bound`."""
        moved = self.moved(vectors)
        heads = moved if self.columns is None else _with_rest(moved, self.columns)
        return heads.astype(np.float32)

    def near(self, mine: Singles, theirs: Singles, *, same: bool) -> tuple[Documents, Documents]:
        """See `Bound`. Each number was rounded by a part of the greatest one at most, and so is
        each sum."""
        greatest = max(float(np.abs(side).max(initial=0.0)) for side in (mine, theirs))
        rounding = mine.shape[1] * ROUNDING
        by_squares = self.columns is not None
        limit = (float(self.within > 0) + rounding * greatest) * (1 + rounding)
        return _kernels.near_rows(mine, theirs, limit**2 if by_squares else limit, by_squares, same)


def _unit(vectors: npt.NDArray[Any]) -> Singles:
    """The same directions, of length 1; what has none stays so."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled: Singles = (vectors / np.where(largest > 0, largest, 1)).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    scaled /= np.where(lengths > 0, lengths, 1)[:, None]
    return scaled


def _axes(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The directions that hold most of some vectors, the best one first."""
    exact = vectors.astype(np.float64)
    columns: npt.NDArray[np.float64]
    if vectors.shape[1] <= len(vectors):
        columns = np.linalg.eigh(exact.T @ exact)[1][:, ::-1]
        return columns
    # Of few long vectors, all directions there are.
    squares, places = np.linalg.eigh(exact @ exact.T)
    clear = np.flatnonzero(squares > 1e-6 * squares.max(initial=0.0))[::-1]
    columns = exact.T @ (places[:, clear] / np.sqrt(squares[clear]))
    return columns


def _some(turned: npt.NDArray[Any]) -> npt.NDArray[Any]:
    places = np.linspace(0, len(turned) - 1, min(len(turned), SAMPLE)).astype(np.int64)
    return turned[places]


def _with_rest(vectors: npt.NDArray[Any], columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The first coordinates, and the length of the rest."""
    first = vectors @ columns
    rest = vectors - first @ columns.T
    return np.column_stack([first, np.sqrt(np.einsum("ij,ij->i", rest, rest))])


def _best_width(some: npt.NDArray[Any], left: Left) -> int:
    """How many coordinates make the work least, by the pairs of a sample that they leave over."""
    length = some.shape[1]
    least, best = np.inf, int(length)
    for width in WIDTHS:
        kept = min(width - 1, length)
        rest = np.sqrt(np.einsum("ij,ij->i", some[:, kept:], some[:, kept:]))
        others = max(0, left(some[:, :kept], rest) - len(some)) / max(1, len(some) ** 2)
        if (cost := width + others * COMPARISON) < least:
            least, best = cost, kept
    return best
