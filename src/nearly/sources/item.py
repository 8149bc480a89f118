"""Items: what a set is made of, from values of any type to the hashes that a measure compares."""

import itertools
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.errors import SourceError

__all__ = ["are_whole", "check_items", "contents_of", "is_list"]

WIDTH: Final = 8
#: Items from which on a list is long.
LONG: Final = 2**17
Hashes = npt.NDArray[np.uint64]


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def are_whole(*kinds: pa.DataType) -> bool:
    """Whether columns of these types hold lists of whole numbers."""
    return all(is_list(kind) and pa.types.is_integer(kind.value_type) for kind in kinds)


def check_items(kind: pa.DataType, column: str, name: str) -> None:
    """Refuse items that are no plain values."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_nested(values) or pa.types.is_interval(values):
        raise SourceError(
            f"the items of column {column!r} of {name} are {values}, and an item is one value: a "
            "number, a string, a date. Make strings of them in an SQL query."
        )


def contents_of(lists: pa.Array) -> pa.LargeBinaryArray:
    """Of each list the hashes of its items, in order and with repeats; null for a null list.

    A null in a list is no item.
    """
    if pa.types.is_fixed_size_list(lists.type):
        lists = lists.cast(pa.large_list(lists.type.value_type))
    offsets = np.asarray(lists.offsets).astype(np.int64)
    values = lists.values.slice(offsets[0], offsets[-1] - offsets[0])
    offsets -= offsets[0]
    hashes = hashes_of(values)
    if values.null_count:
        offsets, hashes = _without_nulls(offsets, hashes, values)
    in_order = _in_order(offsets, hashes)
    valid = _validity(lists)
    buffers = [valid, pa.py_buffer(offsets * WIDTH), pa.py_buffer(in_order)]
    return pa.Array.from_buffers(pa.large_binary(), len(lists), buffers, lists.null_count)


def _in_order(offsets: npt.NDArray[np.int64], hashes: Hashes) -> Hashes:
    """The hashes of each list sorted; those of long lists where they stand, without a copy."""
    if len(hashes) < LONG * (len(offsets) - 1) or not hashes.flags.writeable:
        return _kernels.sort_lists(offsets, hashes)
    for start, end in itertools.pairwise(offsets.tolist()):
        hashes[start:end].sort()
    return hashes


def hashes_of(values: pa.Array) -> Hashes:
    """The hash of each value; that of a null means nothing."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        known = np.append(hashes_of(values.dictionary), np.uint64(0))
        found: Hashes = known[np.asarray(values.indices.fill_null(len(values.dictionary)))]
        return found
    if pa.types.is_null(kind):
        return np.zeros(len(values), np.uint64)
    if _is_whole(kind):
        return _hashes_of_numbers(values, kind)
    if pa.types.is_floating(kind):
        return _kernels.hash_numbers(_float_words(values))
    # Strings and bytes as they are; decimals and what else there is as they are written.
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    is_bytes = is_bytes or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind)
    values = values.cast(pa.large_binary() if is_bytes else pa.large_string())
    return _kernels.hash_items(*spans(values))


def _is_whole(kind: pa.DataType) -> bool:
    """Whether values are numbers of at most 64 bits: also points in time, and truth values."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind)
    )


def _hashes_of_numbers(values: pa.Array, kind: pa.DataType) -> Hashes:
    """Some at a time: narrow numbers are made wide for it."""
    found = np.empty(len(values), np.uint64)
    for start in range(0, len(values), LONG):
        some = values.slice(start, LONG)
        found[start : start + LONG] = _kernels.hash_numbers(_words(some, kind))
    return found


def _words(values: pa.Array, kind: pa.DataType) -> Hashes:
    if pa.types.is_temporal(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if values.type != pa.uint64():
        values = values.cast(pa.int64())
    return np.asarray(values.fill_null(0) if values.null_count else values).view(np.uint64)


def _float_words(values: pa.Array) -> Hashes:
    """Zero has one sign, and what is no number is one value."""
    numbers = np.array(values.cast(pa.float64()), np.float64) + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _without_nulls(
    offsets: npt.NDArray[np.int64], hashes: Hashes, values: pa.Array
) -> tuple[npt.NDArray[np.int64], Hashes]:
    valid = np.asarray(values.is_valid())
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(valid)])
    return before[offsets], hashes[valid]


def _validity(lists: pa.Array) -> pa.Buffer | None:
    if not lists.null_count:
        return None
    valid = np.packbits(np.asarray(lists.is_valid()), bitorder="little")
    return pa.py_buffer(valid)
