"""The words or characters of documents, each with its place in the text as it was given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans
from nearly.measures.normalisation import normalise
from nearly.settings import PassageSettings, TextSettings

__all__ = ["Units", "cut"]

Numbers = npt.NDArray[np.uint32]
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class Units:
    """The units of all documents, one document behind the other."""

    offsets: npt.NDArray[np.int64]  # where the units of each document begin
    hashes: Hashes  # of the normalised units
    starts: Numbers  # code points of the document's text
    ends: Numbers
    begins: npt.NDArray[np.uint8]  # whether a sentence begins with the unit
    dictionary: dict[int, str]  # normalised units by their hashes, if they were asked for

    @property
    def documents(self) -> Numbers:
        """The document of each unit."""
        count = len(self.offsets) - 1
        return np.repeat(np.arange(count, dtype=np.uint32), np.diff(self.offsets))


def cut(
    texts: pa.LargeStringArray,
    settings: PassageSettings,
    *,
    unit: Literal["word", "char"] | None = None,
    collects: bool = False,
) -> Units:
    """Every unit by its normalised form; what has none, such as a lone accent, is left out."""
    offsets, hashes, starts, ends, begins, keys, text_ends, data = _kernels.cut_units(
        *spans(texts),
        words=(unit or settings.unit) == "word",
        folds=settings.case == "fold",
        collects=collects,
    )
    buffers = pa.py_buffer(text_ends), pa.py_buffer(data)
    collected = pa.LargeStringArray.from_buffers(len(keys), *buffers)
    formed = normalise(collected, _of_one_unit(settings.text))
    names = _kernels.hash_units(*spans(formed))
    order = np.argsort(keys)
    hashes = _renamed(hashes, keys[order], names[order])
    units = Units(
        offsets=offsets,
        hashes=hashes,
        starts=starts,
        ends=ends,
        begins=begins,
        dictionary=dict(zip(names.tolist(), formed.to_pylist(), strict=True)) if collects else {},
    )
    return units if hashes.all() else _without_empty(units)


def _of_one_unit(text: TextSettings) -> TextSettings:
    return replace(text, space="keep")


def _renamed(hashes: Hashes, keys: Hashes, names: Hashes) -> Hashes:
    """The names of those that are among the keys, which ascend; all others as they are."""
    if not len(keys):
        return hashes
    places = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
    return np.where(keys[places] == hashes, names[places], hashes)


def _without_empty(units: Units) -> Units:
    kept = units.hashes != 0
    counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    return Units(
        offsets=counts[units.offsets],
        hashes=units.hashes[kept],
        starts=units.starts[kept],
        ends=units.ends[kept],
        begins=units.begins[kept],
        dictionary=units.dictionary,
    )
