"""Some documents of all partitions, brought to the driver."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nearly.engines.spark.corpus import SparkCorpus
from nearly.engines.spark.exchange import each, kept
from nearly.engines.spark.partition import copy, search
from nearly.engines.spark.partition.border import Border
from nearly.engines.spark.partition.number import Numbers, by_target
from nearly.engines.spark.partition.verification import Texts, joined_texts, texts_of

if TYPE_CHECKING:
    from pyspark import RDD

__all__ = ["drawn_texts", "everyone_of"]


def everyone_of(
    corpus: SparkCorpus, *, border: Border | None = None
) -> tuple[RDD[Numbers], Sequence[int]]:
    """The representatives of each block, or those beyond a border, and how many they are."""
    step = partial(copy.asking, border=border)
    everyone = each(step, corpus.signed, corpus.repeats, numbered=True)
    if border is None:
        return everyone, corpus.compared
    everyone = kept(everyone)
    return everyone, everyone.map(len).collect()


def drawn_texts(
    corpus: SparkCorpus,
    everyone: RDD[Numbers],
    counts: Sequence[int],
    drawn: npt.NDArray[np.int64],
) -> Texts:
    """The texts of those who were drawn from all representatives, by their places there."""
    starts = np.cumsum([0, *counts])
    blocks = np.searchsorted(starts, drawn, "right") - 1
    places = {
        block: (theirs - starts[block]).tolist() for block, (theirs,) in by_target(blocks, drawn)
    }
    step = partial(search.some_texts, skipped=corpus.nothing_skipped, places=places)
    parts = each(step, corpus.blocks, everyone, numbered=True).collect()
    return texts_of(*joined_texts(parts))
