"""Pairs are compared in parts that fit in memory."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from nearly.documents.local import LocalCorpus
from nearly.engines.local.workshop import Workshop
from nearly.mapping import let_go
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness, Packed, split_pairs
from nearly.stages.verification import COMPARED, cut, verify_block

__all__ = ["compare", "compare_in_parts"]

BYTES_TO_COMPARE = 64  # of a pair: its documents, its place in blocks, how near they are


def compare(shop: Workshop, corpus: LocalCorpus, packed: Packed) -> Nearness:
    """How near all of these are, whatever the threshold."""
    parts = [nearness for _, nearness in compare_in_parts(shop, corpus, packed, None)]
    return np.concatenate([np.empty(0), *parts])


def compare_in_parts(
    shop: Workshop, corpus: LocalCorpus, packed: Packed, threshold: Fraction | None
) -> Iterator[tuple[Packed, Nearness]]:
    """Some pairs at a time, and these block by block, so that no more is held than fits.

    NaN below the threshold.
    """
    shop.progress.stage("verify", len(packed))
    lengths = corpus.lengths()
    at_once = max(1, shop.budget.limit // BYTES_TO_COMPARE)
    for start in range(0, len(packed), at_once):
        part = packed[start : start + at_once]
        first, second = split_pairs(part)
        nearness = np.empty(len(part))
        most = shop.room // (COMPARED * shop.threads)
        blocks = cut(first, second, lengths, most, corpus.measure.together)
        ends = ((first[block], second[block]) for block in blocks)
        verify = partial(_verify, corpus, threshold)
        for block, found in zip(blocks, shop.map(verify, ends), strict=True):
            nearness[block] = found
            shop.progress.advance(len(found))
        yield part, nearness
        let_go()


def _verify(
    corpus: LocalCorpus, threshold: Fraction | None, block: tuple[Documents, Documents]
) -> Nearness:
    return verify_block(corpus.measure, corpus.text_store.take, *block, threshold)
