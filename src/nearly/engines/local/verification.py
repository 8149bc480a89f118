"""Pairs are compared in parts that fit in memory."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearly.documents.local import LocalCorpus
from nearly.engines.local.workshop import Workshop
from nearly.mapping import let_go
from nearly.measures.number import Documents, different
from nearly.measures.pair import Block, Nearness, Packed, split_pairs
from nearly.measures.work import Workers
from nearly.stages.verification import COMPARED, Places, are_together, cut, verify_block

__all__ = ["Verifier", "compare"]

#: Pairs per document from which on documents would be in several blocks, and made again for each.
MANY = 10
#: Bytes that may be held so that they are not.
MOST_HELD = 2**29
PARTS = 32  # of such pairs, for each thread: long documents stand together
BYTES_TO_COMPARE = 64  # of a pair: its documents, its place in blocks, how near they are


def compare(shop: Workshop, corpus: LocalCorpus, packed: Packed) -> Nearness:
    """How near all of these are, whatever the threshold."""
    parts = [nearness for _, nearness in Verifier(shop, corpus, None).in_parts(packed)]
    return np.concatenate([np.empty(0), *parts])


class Verifier:
    """Compares pairs of a corpus."""

    def __init__(self, shop: Workshop, corpus: LocalCorpus, threshold: Fraction | None):
        self._shop, self._corpus, self._threshold = shop, corpus, threshold
        self._lengths = corpus.lengths()
        self._most = shop.room // (COMPARED * shop.threads)
        self._everything: pa.Array | None = None

    def in_parts(self, packed: Packed) -> Iterator[tuple[Packed, Nearness]]:
        """Some pairs at a time, and these block by block, so that no more is held than fits.

        NaN below the threshold.
        """
        self._shop.progress.stage("verify", len(packed))
        self._hold(len(packed))
        at_once = max(1, self._shop.budget.limit // BYTES_TO_COMPARE)
        for start in range(0, len(packed), at_once):
            part = packed[start : start + at_once]
            yield part, self._compare(*split_pairs(part))
            let_go()

    def _hold(self, pairs: int) -> None:
        """Read the contents of all documents once, where they fit and most of them are needed."""
        lengths, together = self._lengths, self._corpus.measure.together
        is_needed = self._everything is None and pairs >= len(lengths)
        if is_needed and are_together(lengths, self._most, together):
            everyone = np.arange(len(lengths), dtype=np.uint32)
            self._everything = self._corpus.text_store.take(everyone)

    def _compare(self, first: Documents, second: Documents) -> Nearness:
        nearness = np.empty(len(first))
        work = self._held(first, second)
        if work is None:
            work = self._in_blocks(first, second)
        for block, found in work:
            nearness[block] = found
            self._shop.progress.advance(len(found))
        return nearness

    def _held(
        self, first: Documents, second: Documents
    ) -> Iterator[tuple[Places, Nearness]] | None:
        """Pairs of the same documents again and again: what these are compared by is made once."""
        documents, (a, b) = different(first, second)
        text = int(self._lengths[documents].sum())
        if len(a) < MANY * len(documents) or COMPARED * text > min(MOST_HELD, self._shop.room):
            return None
        take = self._corpus.text_store.take
        block = Block(
            documents=documents,
            read=lambda start, stop: take(documents[start:stop]),
            size=int(self._corpus.sizes[documents].sum(dtype=np.int64)),
        )
        workers = Workers(self._shop.map, self._shop.threads)
        compare = self._corpus.measure.comparer(block, workers)
        if compare is None:
            return None
        parts = [slice(*part) for part in workers.split(len(a), PARTS)]

        def of_part(part: slice) -> Nearness:
            return compare(a[part], b[part], self._threshold)

        return zip(parts, self._shop.map(of_part, parts), strict=True)

    def _in_blocks(self, first: Documents, second: Documents) -> Iterator[tuple[Places, Nearness]]:
        together = self._corpus.measure.together
        blocks = cut(first, second, self._lengths, self._most, together)
        ends = ((first[block], second[block]) for block in blocks)
        return zip(blocks, self._shop.map(self._verify, ends), strict=True)

    def _verify(self, block: tuple[Documents, Documents]) -> Nearness:
        measure = self._corpus.measure
        if self._everything is not None:
            return measure.compare(self._everything, *block, self._threshold)
        return verify_block(measure, self._corpus.text_store.take, *block, self._threshold)
