"""Weights of members, in whole units: as a file or a mapping says, or by how rare a member is.

Whole units make sums exact: a weight that was written as a decimal is compared as that decimal.
"""

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.errors import SettingsError
from nearly.frozen import dataclass
from nearly.measures.dropped import Hashes, from_bytes, to_bytes
from nearly.wording import count

__all__ = ["MOST_UNITS", "Weights", "by_rarity", "given_weights"]

#: One more than the greatest weight in units: sums over all members of a set fit in 64 bits.
MOST_UNITS: Final = 2**32
#: Units of a weight that is computed.
A_WEIGHT: Final = 10**6

_STORED = np.dtype("<u4")
_EXACTLY = Context(prec=28, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Units of some hashes each, as plain bytes that travel, and of all others.

    Where `other` is None, every member has to be listed in what is called `name`.
    """

    name: str
    hashes: bytes
    units: bytes
    other: int | None

    @property
    def table(self) -> _kernels.WeightTable:
        """For kernels."""
        return _table(self.hashes, self.units, self.other or 0)

    @property
    def has_zeros(self) -> bool:
        """Whether some members count for nothing."""
        return self.other == 0 or not np.frombuffer(self.units, _STORED).all()

    def check_listed(self, unlisted: npt.NDArray[np.uint32]) -> None:
        """Refuse members without a weight, given how many there are in each document."""
        if self.other is not None or not unlisted.any():
            return
        members, documents = int(unlisted.sum()), int((unlisted > 0).sum())
        raise SettingsError(
            f"{count(members, 'member')} of {count(documents, 'document')} "
            f"{'has' if members == 1 else 'have'} no weight in {self.name}; add them, or a row "
            "without a member, whose weight is that of all others"
        )


# A run has one table, and asks for it with every batch.
@lru_cache(maxsize=2)
def _table(hashes: bytes, units: bytes, other: int) -> _kernels.WeightTable:
    listed = np.frombuffer(units, _STORED).astype(np.uint32)
    return _kernels.WeightTable(from_bytes(hashes), listed, other)


def given_weights(
    name: str, hashes: Hashes, weights: Iterable[Decimal], other: Decimal | None
) -> Weights:
    """Weights as they were written, in units of their last decimal place."""
    listed = [*weights, *([] if other is None else [other])]
    places = max((-int(weight.normalize().as_tuple().exponent) for weight in listed), default=0)
    units = [int(weight.scaleb(max(places, 0))) for weight in listed]
    if not any(units):
        raise SettingsError(f"all weights in {name} are 0; give some members a weight")
    if max(units) >= MOST_UNITS:
        raise SettingsError(
            f"weights in {name} reach {max(listed)} and have up to {places} decimal places; at "
            "most nine digits can be counted exactly: round them, for example to 4 places"
        )
    own = np.array(units[: len(hashes)], np.uint32)
    return Weights(
        name=name,
        hashes=to_bytes(hashes),
        units=own.astype(_STORED).tobytes(),
        other=None if other is None else units[-1],
    )


def by_rarity(hashes: Hashes, counts: npt.NDArray[np.uint32], documents: int) -> Weights:
    """Inverse document frequency, ln((1 + n) / (1 + count)) + 1 to six decimal places.

    What is in one document only needs no place in the list.
    """
    several = counts > 1
    levels, place = np.unique(counts[several], return_inverse=True)
    units = np.array([_rarity(int(have), documents) for have in levels], np.uint32)[place]
    return Weights(
        name="idf",
        hashes=to_bytes(hashes[several]),
        units=units.astype(_STORED).tobytes(),
        other=_rarity(1, documents),
    )


def _rarity(have: int, documents: int) -> int:
    """In decimal arithmetic, which is the same on every machine."""
    ratio = _EXACTLY.divide(Decimal(1 + documents), Decimal(1 + have))
    weight = _EXACTLY.add(_EXACTLY.ln(ratio), Decimal(1))
    return int(_EXACTLY.multiply(weight, Decimal(A_WEIGHT)).to_integral_value(ROUND_HALF_EVEN))
