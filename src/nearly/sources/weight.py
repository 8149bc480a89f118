"""Weights of members: from a table of two columns, or from a mapping."""

import os
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa

from nearly.errors import SettingsError, SourceError
from nearly.measures.dropped import Hashes
from nearly.measures.shingle import shingle_sets
from nearly.measures.weight import Weights, given_weights
from nearly.remnant import scratch
from nearly.settings import Settings
from nearly.sources.item import hashes_of
from nearly.sources.opener import read_table

__all__ = ["read_weights", "weights_for"]

#: The column that holds the weights; the other one holds what weighs so much.
WEIGHT = "weight"


def read_weights(given: Any) -> pa.Table | None:
    """A table of members and their weights; None where the corpus decides them, or nothing does."""
    if given is None or given == "idf":
        return None
    if isinstance(given, tuple):
        return _of_mapping(given)
    with scratch() as folder:
        table = read_table(os.fsdecode(given), temporary=folder)
    names = table.column_names
    if len(names) != 2 or WEIGHT not in names:
        raise SourceError(
            f"{given} has the columns {', '.join(map(repr, names))}; weights need two: the shingle "
            f"or item, by any name, and {WEIGHT!r}"
        )
    other = names[1 - names.index(WEIGHT)]
    return pa.table({"member": table[other], WEIGHT: table[WEIGHT]})


def _of_mapping(given: tuple[tuple[Any, Any], ...]) -> pa.Table:
    members, weights = ([pair[place] for pair in given] for place in (0, 1))
    try:
        return pa.table({"member": pa.array(members), WEIGHT: pa.array(list(map(str, weights)))})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SettingsError(
            f"weights has members of several types: {error}; give strings, or numbers"
        ) from None


def weights_for(table: pa.Table | None, settings: Settings, source: Any) -> Weights | None:
    """The same as hashes, made as those of the documents are."""
    if table is None:
        return None
    name = settings.weights if isinstance(settings.weights, str) else "weights"
    members = table["member"].combine_chunks()
    pairs = zip(members.to_pylist(), table[WEIGHT].to_pylist(), strict=True)
    listed: list[Decimal] = []
    others: list[Decimal] = []
    for member, given in pairs:
        (others if member is None else listed).append(_weight(given, member, name))
    if len(others) > 1:
        raise SettingsError(f"{name} has {len(others)} rows without a member; leave one")
    own = members.drop_null()
    if source is not None and source.holds_items:
        hashes = _of_items(own, source.item_type, name)
    else:
        hashes = _of_texts(own, settings, name)
    _check_different(hashes, own, name)
    return given_weights(name, hashes, listed, others[0] if others else None)


def _weight(given: Any, member: Any, name: str) -> Decimal:
    """The number that was written."""
    try:
        weight = Decimal(repr(given) if isinstance(given, float) else str(given).strip())
    except InvalidOperation:
        weight = Decimal("nan")
    if not (weight.is_finite() and weight >= 0):
        whose = "the row without a member" if member is None else repr(member)
        raise SettingsError(
            f"the weight of {whose} in {name} is {given!r}; give a number that is 0 or more"
        )
    return weight


def _of_items(members: pa.Array, kind: pa.DataType, name: str) -> Hashes:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    try:
        return hashes_of(members.cast(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SettingsError(
            f"{name} has members of the type {members.type}, and the items of the documents are "
            f"{kind}; give the items as they are there"
        ) from None


def _of_texts(members: pa.Array, settings: Settings, name: str) -> Hashes:
    """Of each shingle its hash, after the normalisation of the documents."""
    if settings.text.k == "auto":
        raise SettingsError(
            f"weights are those of shingles in {name}, and k is auto; say how long a shingle is, "
            "for example k=1 with unit='word'"
        )
    texts = members.cast(pa.large_string())
    offsets, hashes = shingle_sets(texts, settings.text, settings.seed)
    counts = np.diff(offsets)
    wrong = np.flatnonzero(counts != 1)
    if len(wrong):
        text, count = texts[int(wrong[0])].as_py(), int(counts[wrong[0]])
        raise SettingsError(
            f"{text!r} in {name} is {count} shingles of {settings.text.k} {settings.text.unit}s; "
            "give one shingle in each row"
        )
    return hashes


def _check_different(hashes: Hashes, members: pa.Array, name: str) -> None:
    """Refuse two weights of one member."""
    repeated = [h for h, count in Counter(hashes.tolist()).items() if count > 1]
    if repeated:
        places = np.flatnonzero(hashes == np.uint64(repeated[0]))[:2].tolist()
        first, second = (members[place].as_py() for place in places)
        raise SettingsError(
            f"{first!r} and {second!r} in {name} are the same member; give it one weight"
        )
