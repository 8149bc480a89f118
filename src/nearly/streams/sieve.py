"""What tells copies from new texts in fixed memory: Bloom filters, one more for each band.

An exact copy is found by a filter of whole texts. A near-copy is found as LSHBloom does (Khan and
others, 2024): each band of its signature has a filter, and a text that finds one of its bands there
shares it with an earlier text that was kept. Nothing can be verified, because nothing is kept.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.bloom.key import keys_of_bytes
from nearly.bloom.word import empty_words
from nearly.errors import SettingsError
from nearly.limits import available_memory
from nearly.measures.dropped import dropped_shingles
from nearly.measures.normalisation import normalise
from nearly.measures.shingle import auto_k
from nearly.settings import TextSettings, UniqueSettings
from nearly.tuning.banding import Banding, least_weighted_area
from nearly.tuning.bloom import BloomSize, error_of_each

__all__ = ["EXACT", "KEPT", "NEAR", "Sieve"]

#: What becomes of a text.
KEPT, EXACT, NEAR = 0, 1, 2

EXPECTED: Final = 10_000_000
ERROR: Final = 0.0001

Fates = npt.NDArray[np.uint8]


class Sieve:
    """Remembers texts in memory that never grows, and tells which were there before."""

    def __init__(self, settings: UniqueSettings, text: TextSettings) -> None:
        if not settings.near and text != TextSettings():
            raise SettingsError(
                "exact copies are compared as they stand, and settings of the text were given; "
                "leave these out, or add near"
            )
        self.banding = banding_of(settings) if settings.near else None
        self._filters = 1 + (self.banding.bands if self.banding else 0)
        self.size = size_of(settings, self._filters)
        self.memory = self._filters * self.size.bytes
        if self.memory > available_memory():
            raise SettingsError(
                f"{self.size.items:,} lines with an error of {self.error:g} need "
                f"{self.memory:,} bytes, and this process may use {available_memory():,}; expect "
                "fewer lines, allow a higher error, or say how much memory to use"
            )
        self._seed = settings.seed
        # Nobody knows the mean length of texts that are yet to come.
        self._text = with_k(text)
        self._exact = empty_words(self.size.blocks)
        self._near = empty_words((self._filters - 1) * self.size.blocks)
        self.added = 0
        self._added_near = 0

    @property
    def error(self) -> float:
        """The chance that a text which is no copy is dropped, after as many as were expected."""
        return self._error_of(self.size.error, self.size.error)

    @property
    def error_now(self) -> float:
        """The same after those that were added so far."""
        return self._error_of(self.size.rate(self.added), self.size.rate(self._added_near))

    def _error_of(self, exact: float, near: float) -> float:
        kept = math.log1p(-exact) + (self._filters - 1) * math.log1p(-near)
        return -math.expm1(kept)

    def sift(self, texts: Sequence[bytes]) -> Fates:
        """What becomes of each text, in their order; they are remembered."""
        keys = keys_of_bytes(texts, self._seed)
        is_new = _kernels.add_to_bloom(self._exact, self.size.hashes, keys).view(np.bool_)
        self.added += int(np.count_nonzero(is_new))
        fates = np.where(is_new, KEPT, EXACT).astype(np.uint8)
        if self.banding is not None and is_new.any():
            places = np.flatnonzero(is_new)
            near = self._near_copies([texts[i] for i in places.tolist()], self.banding)
            fates[places[near]] = NEAR
        return fates

    def _near_copies(self, texts: Sequence[bytes], banding: Banding) -> npt.NDArray[np.bool_]:
        """Which texts share a band with an earlier one; one without a shingle shares nothing."""
        offsets, data = spans(normalise(_strings(texts), self._text))
        shingling = {
            "unit": self._text.unit,
            "k": self._text.whole_k,
            "seed": self._seed,
            "dropped": dropped_shingles(self._text, self._seed),
        }
        sizes, _ = _kernels.measure(offsets, data, **shingling)  # type: ignore[arg-type]
        signatures = _kernels.signatures(
            offsets,
            data,
            scheme="one-permutation",
            positions=banding.permutations,
            **shingling,  # type: ignore[arg-type]
        )
        compared = np.flatnonzero(sizes)
        keys = _kernels.keys_of_bands(signatures[compared], banding.rows, self._seed)
        is_new = _kernels.sift_by_bloom(self._near, self.size.hashes, keys).view(np.bool_)
        self._added_near += int(np.count_nonzero(is_new))
        is_copy = np.zeros(len(texts), np.bool_)
        is_copy[compared] = ~is_new
        return is_copy


def banding_of(settings: UniqueSettings) -> Banding:
    """The bands that were given, or those with the least sum of both error areas.

    Candidates are not verified here, so that both kinds of error count.
    """
    if settings.bands is not None and settings.rows is not None:
        return Banding(settings.bands, settings.rows)
    return least_weighted_area(settings.permutations, settings.threshold)


def size_of(settings: UniqueSettings, filters: int) -> BloomSize:
    """The size of each filter: of expected lines, error and memory, two say the third."""
    memory, expect = settings.memory, settings.expect
    if memory is not None and expect is not None and settings.error is None:
        return BloomSize.within(memory // filters, expect)
    each = error_of_each(settings.error or ERROR, filters)
    if memory is not None and expect is None:
        return BloomSize.filling(memory // filters, each)
    size = BloomSize.of(expect or EXPECTED, each)
    if memory is not None and filters * size.bytes > memory:
        raise SettingsError(
            f"{expect:,} lines with an error of {settings.error:g} need "
            f"{filters * size.bytes:,} bytes, and memory is {memory:,}; leave one of the three out"
        )
    return size


def with_k(text: TextSettings) -> TextSettings:
    """The settings with the k of short documents where none is given."""
    return text if text.k != "auto" else replace(text, k=auto_k(text.unit, 0))


def _strings(texts: Sequence[bytes]) -> pa.LargeStringArray:
    """What is not UTF-8 counts as U+FFFD, as everywhere."""
    clean = [text.decode("utf-8", "replace").encode() for text in texts]
    offsets = np.zeros(len(clean) + 1, np.int64)
    np.cumsum([len(text) for text in clean], out=offsets[1:])
    data = pa.py_buffer(b"".join(clean))
    return pa.LargeStringArray.from_buffers(len(clean), pa.py_buffer(offsets), data)
