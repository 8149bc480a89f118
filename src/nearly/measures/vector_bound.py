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
Heads = npt.NDArray[np.int8]
#: How many pairs coordinates and rests leave over.
Left = Callable[[npt.NDArray[Any], npt.NDArray[Any]], int]

#: The greatest whole number of a head.
MOST: Final = 127
#: The greatest coordinate is taken to be so large at least: what heads add fits 32 bits.
SMALLEST: Final = 0.05
#: Coordinates to choose from.
WIDTHS: Final = (16, 32, 48, 64, 128, 192, 256)
MOST_COORDINATES: Final = max(WIDTHS)
#: Vectors that are looked at to choose; and what a full comparison costs, in products of a number.
SAMPLE: Final = 1_024
COMPARISON: Final = 20_000
#: More than rounding of single precision can be off by: of a cosine, and in parts of a number.
SLACK: Final = 1e-4
ROUNDING: Final = 2.0**-22
#: Squared lengths that single precision holds well.
USUAL: Final = 1e-20, 1e20
#: In thresholds. What lies beyond is drawn in to there, which brings nothing further apart.
FARTHEST: Final = 1e15


@dataclass(frozen=True)
class Products:
    """Products of heads, for cosines: the vectors are made 1 long first.

    Heads are whole numbers of 8 bits. Their directions are mixed, so that no coordinate is much
    greater than others and steps can be small. With h for a head before rounding, at most 1 long,
    e for what rounding took and r for the rest, a product of two vectors is at most that of the
    rounded heads, and (r² + e²) / 2 + e of each of the two.
    """

    columns: Singles  # directions that together hold most
    least: float  # cosine
    step: float  # of a whole number

    @classmethod
    def of(cls, drawn: npt.NDArray[Any], least: float) -> "Products":
        """By the principal axes of some vectors: as many as make the work least for others, which
        the axes were not fitted to."""
        unit = _unit(drawn)
        axes = _axes(unit[::2]).astype(np.float32)
        some = _some(unit[1::2] if len(unit) > 1 else unit)
        widths = sorted({min(width, axes.shape[1]) for width in WIDTHS})
        bounds = (cls._by(axes[:, :width], some, least) for width in widths)
        return min(bounds, key=lambda bound: bound.columns.shape[1] + COMPARISON * bound.left(some))

    @classmethod
    def _by(cls, axes: Singles, some: Singles, least: float) -> "Products":
        draw = np.random.default_rng(axes.shape[1])
        mixing = np.linalg.qr(draw.standard_normal((axes.shape[1], axes.shape[1])))[0]
        columns = (axes @ mixing).astype(np.float32)
        greatest = float(np.abs(some @ columns).max(initial=SMALLEST))
        return cls(columns, least, greatest / MOST)

    def heads(self, vectors: npt.NDArray[Any]) -> Heads:
        """The rounded coordinates of each vector, and behind them the number that it adds."""
        first, squares = self._first(vectors)
        rest = squares - np.einsum("ij,ij->i", first, first)
        first /= self.step
        rounded = np.clip(np.rint(first), -MOST, MOST)
        first -= rounded
        lost = self.step * np.sqrt(np.einsum("ij,ij->i", first, first))
        added = np.ceil((np.maximum(rest, 0) + lost**2 + 2 * lost) / 2 / self.step**2)
        width = -(-first.shape[1] // 4) * 4
        heads = np.zeros((len(first), width + 4), np.int8)
        heads[:, : first.shape[1]] = rounded
        heads[:, width:] = added.astype(np.int32)[:, None].view(np.int8)
        return heads

    def _first(self, vectors: npt.NDArray[Any]) -> tuple[Singles, Singles | float]:
        """The coordinates of directions, and the squares of their lengths. Numbers of usual size
        are made 1 long when they have become few."""
        if vectors.dtype == np.float32 and len(vectors):
            squares = np.einsum("ij,ij->i", vectors, vectors)
            if squares.min() > USUAL[0] and squares.max() < USUAL[1]:
                first: Singles = vectors @ self.columns
                first /= np.sqrt(squares)[:, None]
                return first, 1.0
        unit = _unit(vectors)
        return unit @ self.columns, np.einsum("ij,ij->i", unit, unit)

    def places(self, heads: Heads) -> Singles:
        """See `Bound`."""
        return heads[:, :-4].astype(np.float32)

    @property
    def limit(self) -> int:
        """The least product of heads, with what both add, of vectors that are near enough."""
        return int(np.floor((self.least - SLACK) / self.step**2))

    def left(self, some: Singles) -> float:
        """The share of pairs of these that are not ruled out."""
        heads = self.heads(some)
        numbers = heads[:, :-4].astype(np.float32)
        added = np.ascontiguousarray(heads[:, -4:]).view(np.int32).astype(np.float32)
        products = numbers @ numbers.T
        products += added
        products += added.T
        reached = int(np.count_nonzero(products >= self.limit))
        return max(0, reached - len(some)) / max(1, len(some) ** 2)

    def near(self, mine: Heads, theirs: Heads, *, same: bool) -> tuple[Documents, Documents]:
        """See `Bound`."""
        return _kernels.great_products(mine, theirs, self.limit, same)


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

    def places(self, heads: Singles) -> Singles:
        """See `Bound`."""
        return heads

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
