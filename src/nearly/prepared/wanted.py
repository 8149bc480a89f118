"""Which strings have some words in them, whether their letters are small or capital."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans

__all__ = ["strings_having"]


def strings_having(strings: pa.LargeStringArray, words: str) -> npt.NDArray[np.bool_]:
    """Each string that has the words; no string is null."""
    cases = [_cases(character) for character in words]
    small = "".join(each for each, _ in cases).encode()
    capital = "".join(each for _, each in cases).encode()
    return _kernels.texts_having(*spans(strings), small, capital).view(bool)


def _cases(character: str) -> tuple[str, str]:
    """Small and capital; the character twice where these are no pair of one size, as ß and SS."""
    small, capital = character.lower(), character.upper()
    is_one = len(small) == len(capital) == 1 and character in (small, capital)
    if is_one and len(small.encode()) == len(capital.encode()):
        return small, capital
    return character, character
