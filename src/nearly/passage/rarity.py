"""How rare the words of documents are, by their stems: what a word of a passage is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import spans, string_array
from nearly.measures.stop_word import ENGLISH
from nearly.passage.unit import HOLE, Hashes, Numbers, Units, in_slices
from nearly.settings import Stems

__all__ = ["Spelt", "StemCounts"]

#: Rarity: minus the logarithm of a stem's share of all words, from BASE to CAP; 0 where its share
#: is above FREQUENT. A small corpus is taken for one of FEWEST words.
BASE: Final = 4.0
CAP: Final = 10.0
FREQUENT: Final = 0.004
FEWEST: Final = 20_000


class StemCounts(NamedTuple):
    """How often stems stand in some documents; hashes, in ascending order, know the stems."""

    stems: Hashes
    counts: npt.NDArray[np.int64]
    words: int

    @staticmethod
    def joined(parts: Sequence[StemCounts]) -> StemCounts:
        """Those of all parts, of which there is one at least."""
        all_stems = np.concatenate([part.stems for part in parts])
        stems, numbers = np.unique(all_stems, return_inverse=True)
        counts = np.zeros(len(stems), np.int64)
        np.add.at(counts, numbers, np.concatenate([part.counts for part in parts]))
        return StemCounts(stems, counts, sum(part.words for part in parts))

    def of(self, stems: Hashes) -> npt.NDArray[np.int64]:
        """How often each of these stands there."""
        if not len(self.stems):
            return np.zeros(len(stems), np.int64)
        places = np.minimum(np.searchsorted(self.stems, stems), len(self.stems) - 1)
        return np.where(self.stems[places] == stems, self.counts[places], 0)


@dataclass(frozen=True, kw_only=True)
class Spelt:
    """The words of some documents by their stems."""

    units: Units
    stem_of: Numbers  # of each different word
    stems: Hashes
    is_empty: npt.NDArray[np.bool_]  # whether a stop word has the stem

    @staticmethod
    def of(units: Units, stems: Stems) -> Spelt:
        """Each different word is stemmed once."""
        words = units.spelling.to_pylist()
        numbers: dict[str, int] = {}
        roots = _roots(words, stems)
        stem_of = np.array([numbers.setdefault(root, len(numbers)) for root in roots], np.uint32)
        empty = set(_roots(list(ENGLISH), stems))
        return Spelt(
            units=units,
            stem_of=stem_of,
            stems=_hashes(string_array(list(numbers))),
            is_empty=np.array([root in empty for root in numbers], bool),
        )

    def counted(self, words: int, threads: int) -> StemCounts:
        """Of the first so many words; a hole is none, but counts as a word."""
        numbers = self.units.numbers[:words]

        def count(part: slice) -> npt.NDArray[np.int64]:
            here = numbers[part]
            holes = here == HOLE
            return np.bincount(here[~holes] if holes.any() else here, minlength=len(self.stem_of))

        spelt = np.sum(in_slices(count, words, threads), 0)
        counts = np.bincount(self.stem_of, spelt, len(self.stems)).astype(np.int64)
        order = np.argsort(self.stems)
        return StemCounts(self.stems[order], counts[order], words)

    def weighed(self, counts: StemCounts) -> tuple[Numbers, Numbers, npt.NDArray[np.float32]]:
        """A number of each word; and by number its stem, and how rare it is.

        A hole has a number and a stem of its own, and says nothing.
        """
        rarity_of = _rarities(counts.of(self.stems), self.is_empty, counts.words)[self.stem_of]
        holes = np.flatnonzero(self.units.numbers == HOLE)
        if not len(holes):
            return self.units.numbers, self.stem_of, rarity_of
        own = np.arange(len(holes), dtype=np.uint32)
        numbers = self.units.numbers.copy()
        numbers[holes] = own + len(self.stem_of)
        stem_of = np.concatenate([self.stem_of, own + len(self.stems)])
        return numbers, stem_of, np.concatenate([rarity_of, np.zeros(len(holes), np.float32)])


def _rarities(
    counts: npt.NDArray[np.int64], is_empty: npt.NDArray[np.bool_], words: int
) -> npt.NDArray[np.float32]:
    share = np.maximum(counts, 1) / max(words, FEWEST)
    rarity = np.clip(np.minimum(CAP, -np.log(share)) - BASE, 0, None)
    rarity[(share >= FREQUENT) | is_empty] = 0
    return rarity.astype(np.float32)


def _hashes(stems: pa.LargeStringArray) -> Hashes:
    return _kernels.hash_units(*spans(stems))


def _roots(words: list[str], stems: Stems) -> list[str]:
    if stems != "english":
        return words
    import Stemmer

    return Stemmer.Stemmer("english", 0).stemWords(words)  # type: ignore[no-any-return]
