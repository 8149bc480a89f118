"""Values as keys of 64 bits: whole numbers, strings and bytes, one by one or in batches.

Batches are Arrow arrays, numpy arrays, lists, and whatever hands out Arrow arrays, like a column of
pandas or polars.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import numbers_of, spans
from nearly.errors import SettingsError

__all__ = ["Keys", "Value", "is_value", "keys_of", "keys_of_batch", "keys_of_bytes"]

Keys = npt.NDArray[np.uint64]
Value = int | str | bytes

#: Keys that are made at a time: what is made of them stays in the cache.
STEP: Final = 2**16
_NEEDED: Final = "a Bloom filter takes whole numbers, strings and bytes"


def is_value(given: object) -> bool:
    """Whether this is one value, and no batch."""
    return isinstance(given, int | str | bytes | np.integer)


def keys_of(value: Any, seed: int) -> Keys:
    """The key of one value, as an array of one."""
    if isinstance(value, bool):
        raise SettingsError(f"{value!r} was given; {_NEEDED}")
    if isinstance(value, int | np.integer):
        return _kernels.keys_of_numbers(_array_of_numbers([int(value)]).view(np.uint64), seed)
    data = value.encode(errors="surrogatepass") if isinstance(value, str) else value
    return _kernels.keys_of_texts(
        np.array((0, len(data)), np.int64), np.frombuffer(data, np.uint8), seed
    )


def keys_of_batch(values: Any, seed: int) -> Iterator[Keys]:
    """The keys of many values, a few thousand at a time."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        yield from _in_steps(_one_dimension(values), seed)
    elif isinstance(values, list | tuple):
        yield from _of_sequence(values, seed)
    else:
        for chunk in _chunks(values):
            yield from _of_arrow(chunk, seed)


def _one_dimension(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.ndim != 1:
        raise SettingsError(
            f"an array of {values.ndim} dimensions was given; a batch has one: use .ravel()"
        )
    return values


def _of_sequence(values: Sequence[Any], seed: int) -> Iterator[Keys]:
    for start in range(0, len(values), STEP):
        part = values[start : start + STEP]
        kinds = {bool if isinstance(v, bool) else _kind(v) for v in part}
        if kinds == {int}:
            yield _of_numbers(_array_of_numbers([int(v) for v in part]), seed)
        elif kinds <= {str, bytes}:
            encoded = [v.encode(errors="surrogatepass") if isinstance(v, str) else v for v in part]
            yield keys_of_bytes(encoded, seed)
        else:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise SettingsError(f"a list of {names} was given; {_NEEDED}, not mixed in one batch")


def _kind(value: object) -> type:
    for kind in (int, str, bytes):
        if isinstance(value, kind):
            return kind
    return int if isinstance(value, np.integer) else type(value)


def _array_of_numbers(numbers: list[int]) -> npt.NDArray[Any]:
    if min(numbers) < -(2**63) or max(numbers) >= 2**64:
        wide = next(n for n in numbers if not -(2**63) <= n < 2**64)
        raise SettingsError(f"{wide} has more than 64 bits; give it as a string")
    if max(numbers) < 2**63:
        return np.array(numbers, np.int64)
    # Those above are told apart from negative numbers, which have the same 64 bits.
    return np.array([n if n < 2**63 else _above(n) for n in numbers], np.int64)


def _above(number: int) -> int:
    moved = _kernels.keys_of_numbers(np.array([number], np.uint64), 0)
    return int(moved.view(np.int64)[0])


def _in_steps(numbers: npt.NDArray[Any], seed: int) -> Iterator[Keys]:
    for start in range(0, len(numbers), STEP):
        yield _of_numbers(numbers[start : start + STEP], seed)


def _of_numbers(numbers: npt.NDArray[Any], seed: int) -> Keys:
    if numbers.dtype.itemsize < 8 or not numbers.dtype.isnative:
        numbers = numbers.astype(np.int64)
    words = np.ascontiguousarray(numbers).view(np.uint64)
    if numbers.dtype.kind == "u" and (above := words >> np.uint64(63) != 0).any():
        words = np.where(above, _kernels.keys_of_numbers(words, 0), words)
    return _kernels.keys_of_numbers(words, seed)


def keys_of_bytes(values: Sequence[bytes], seed: int) -> Keys:
    """The keys of many values that are bytes."""
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    return _kernels.keys_of_texts(offsets, np.frombuffer(b"".join(values), np.uint8), seed)


def _chunks(values: Any) -> list[pa.Array]:
    """Arrow arrays of whatever was given."""
    if hasattr(values, "__arrow_c_stream__") and not isinstance(values, pa.Array):
        values = pa.chunked_array(values)
    elif hasattr(values, "__arrow_c_array__") or isinstance(values, np.ndarray):
        values = pa.array(values)
    if isinstance(values, pa.ChunkedArray):
        return list(values.chunks)
    if isinstance(values, pa.Array):
        return [values]
    raise SettingsError(
        f"{type(values).__name__} was given; {_NEEDED}: one of them, a list, or an array of numpy "
        "or Arrow"
    )


def _of_arrow(column: pa.Array, seed: int) -> Iterator[Keys]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        raise SettingsError(f"nulls were given, {column.null_count:,} of them; leave them out")
    kind = column.type
    if pa.types.is_integer(kind):
        yield from _in_steps(numbers_of(column), seed)
    elif any(is_kind(kind) for is_kind in _TEXTS):
        large = column.cast(pa.large_binary())
        for start in range(0, len(large), STEP):
            yield _kernels.keys_of_texts(*spans(large.slice(start, STEP)), seed)
    else:
        raise SettingsError(f"a column of {kind} was given; {_NEEDED}")


_TEXTS: Final = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
