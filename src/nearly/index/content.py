"""What an index keeps of a content, to verify answers with: the text, or the set it is made of."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearly.errors import SettingsError
from nearly.measures.base import Measure
from nearly.measures.item_jaccard import lists_of
from nearly.measures.number import Documents
from nearly.measures.pair import Nearness
from nearly.measures.set_measure import SetMeasure, Sets

__all__ = ["Keeping", "keeping_of"]


@dataclass(frozen=True)
class Keeping:
    """What is kept of contents, and how it is compared with others."""

    is_text: bool
    #: The hashes of what a document is made of, in order: no text can be read from them.
    as_sets: bool = False

    def kept(self, measure: Measure, contents: pa.Array) -> pa.Array:
        """What is kept of contents."""
        if not self.as_sets:
            return contents
        offsets, hashes = of_sets(measure).sets(contents, in_order=True)
        buffers = [None, pa.py_buffer(offsets * 8), pa.py_buffer(np.ascontiguousarray(hashes))]
        return pa.Array.from_buffers(pa.large_binary(), len(contents), buffers)

    def sets(self, measure: Measure, kept: pa.Array) -> Sets:
        """The sets of what was kept."""
        return lists_of(kept) if self.as_sets else of_sets(measure).sets(kept)

    def compare(
        self,
        measure: Measure,
        asked: pa.Array,
        first: Documents,
        kept: pa.Array,
        second: Documents,
        threshold: Fraction | None,
    ) -> Nearness:
        """Exact nearness of contents and of what was kept of others, by places in both."""
        both = pa.concat_arrays([self.kept(measure, asked), kept])
        places = (second + np.uint32(len(asked))).astype(np.uint32)
        if not self.as_sets:
            return measure.compare(both, first, places, threshold)
        return of_sets(measure).compare_sets(lists_of(both), first, places, threshold)


def of_sets(measure: Measure) -> SetMeasure:
    """The measure, if it compares sets."""
    if not isinstance(measure, SetMeasure):
        raise SettingsError(
            f"texts is False, which keeps sets instead, and {measure.name} compares no sets; "
            "leave texts out"
        )
    return measure


def keeping_of(measure: Measure, *, texts: bool, is_text: bool) -> Keeping:
    """As an index was told when it was made."""
    if texts:
        return Keeping(is_text=is_text)
    of_sets(measure)
    return Keeping(is_text=False, as_sets=True)
