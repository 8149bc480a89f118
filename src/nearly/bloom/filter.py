"""A Bloom filter: it forgets no value that was added, and takes few others for one."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from nearly import _kernels
from nearly.bloom.file import Header, read_filter, write_filter
from nearly.bloom.key import Value, is_value, keys_of, keys_of_batch
from nearly.bloom.word import Words, empty_words, estimated_values
from nearly.errors import SettingsError
from nearly.tuning.bloom import BloomSize

__all__ = ["BloomFilter"]

Truths = npt.NDArray[np.bool_]


class BloomFilter:
    """Which values were added, in memory that is fixed beforehand.

    `n` values are expected; once they are in, another one is taken for one of them with a chance
    of at most `error`. A value that was added is always found. Values are whole numbers of 64
    bits, strings and bytes; batches of them are Arrow or numpy arrays, lists, and columns of pandas
    or polars.
    """

    def __init__(self, n: int, error: float = 0.01, *, seed: int = 1) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise SettingsError(f"seed is {seed!r}; give a whole number from 0 to 2**64 - 1")
        self._set(BloomSize.of(n, error), seed, 0)
        self._words = empty_words(self._size.blocks)

    def _set(self, size: BloomSize, seed: int, added: int) -> None:
        self._size, self._seed, self._added = size, seed, added
        self._lock = threading.Lock()

    @property
    def n(self) -> int:
        """The number of values that are expected."""
        return self._size.items

    @property
    def error(self) -> float:
        """The chance that another value is taken for one of `n` that were added."""
        return self._size.error

    @property
    def bits(self) -> int:
        """The number of bits, the thesis's m."""
        return self._size.bits

    @property
    def hashes(self) -> int:
        """The number of bits that a value sets, the thesis's k."""
        return self._size.hashes

    @property
    def seed(self) -> int:
        """The seed of the hash functions."""
        return self._seed

    @property
    def added(self) -> int:
        """The number of values that were new when they were added."""
        return self._added

    @property
    def error_now(self) -> float:
        """The chance that another value is taken for one of those that were added so far."""
        return self._size.rate(self._added)

    def __repr__(self) -> str:
        return (
            f"BloomFilter: {self._added:,} of {self.n:,} values, error {self.error:g}, "
            f"{self.bits:,} bits, {self.hashes} for each"
        )

    @overload
    def add(self, values: Value) -> bool: ...
    @overload
    def add(self, values: Any) -> Truths: ...
    def add(self, values: Any) -> bool | Truths:
        """Add a value, or a batch in its order; whether it was new, or which of them were."""
        with self._lock:
            flags = self._answers(_kernels.add_to_bloom, values)
            self._added += int(np.count_nonzero(flags))
        return bool(flags[0]) if is_value(values) else flags

    @overload
    def contains(self, values: Value) -> bool: ...
    @overload
    def contains(self, values: Any) -> Truths: ...
    def contains(self, values: Any) -> bool | Truths:
        """Whether a value was added, or which of a batch were: yes may be wrong, no never is."""
        with self._lock:
            flags = self._answers(_kernels.look_up_in_bloom, values)
        return bool(flags[0]) if is_value(values) else flags

    def __contains__(self, value: Value) -> bool:
        if not is_value(value):
            raise SettingsError(
                f"{type(value).__name__} was given to `in`, which asks for one value; "
                "contains() takes a batch"
            )
        return self.contains(value)

    def _answers(self, kernel: Any, values: Any) -> Truths:
        if is_value(values):
            return kernel(self._words, self.hashes, keys_of(values, self._seed)).view(np.bool_)  # type: ignore[no-any-return]
        batches = keys_of_batch(values, self._seed)
        parts = [kernel(self._words, self.hashes, keys) for keys in batches]
        return np.concatenate([np.empty(0, np.uint8), *parts]).view(np.bool_)

    def union(self, other: BloomFilter) -> BloomFilter:
        """A filter with the values of both, which must have been made with the same arguments.

        How many values are new in it is estimated from its bits.
        """
        if self.fingerprint != other.fingerprint:
            raise SettingsError(
                f"a filter of {self._made_with()} and one of {other._made_with()} have no union; "
                "make both with the same n, error and seed"
            )
        words = empty_words(self._size.blocks)
        with self._lock:
            words |= self._words
        with other._lock:
            words |= other._words
        added = estimated_values(words, self.hashes)
        return self._of(self._size, self._seed, added, words)

    __or__ = union

    def _made_with(self) -> str:
        return f"n={self.n}, error={self.error:g}, seed={self.seed}"

    @property
    def fingerprint(self) -> str:
        """What filters must have in common to be united: the same bits for the same values."""
        return self._header().fingerprint

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the filter to a file, whole or not at all, with a checksum."""
        with self._lock:
            write_filter(self._header(), self._words, Path(path), force=force)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read a filter that `save` wrote; one that was changed since is refused."""
        header, words = read_filter(Path(path))
        return cls._of(header.size, header.seed, header.added, words)

    @classmethod
    def _of(cls, size: BloomSize, seed: int, added: int, words: Words) -> Self:
        made = cls.__new__(cls)
        made._set(size, seed, added)
        made._words = words
        return made

    def _header(self) -> Header:
        return Header(size=self._size, seed=self._seed, added=self._added)
