"""Template text: words that many documents have in a row, such as a task that all essays repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.arrays import string_array
from nearly.passage.unit import Hashes, Units, cut
from nearly.settings import PassageSettings, Settings
from nearly.text.match import Piece

__all__ = ["share_of", "template_runs", "template_spans", "with_template"]

#: Words in a row that are looked at.
RUN: Final = 4
#: The share of the documents that have template text, unless the run said it (`--common`).
SHARE: Final = 0.2
#: Fewer documents that share something may as well have copied it.
LEAST: Final = 10
#: Characters of template text: where each character is a word, four of them are an ordinary word.
SHORTEST: Final = 12
#: Odd, so that the place of a word counts, and nothing is lost.
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)

Span = tuple[int, int]


def share_of(settings: Settings) -> float:
    """The share of the documents from which text is a template."""
    return SHARE if settings.share is None else settings.share


def template_runs(texts: pa.Array, share: float) -> Hashes:
    """The runs of words that at least this share of the documents have, by their hashes."""
    units = cut(texts, PassageSettings())
    runs, documents = _runs(units)
    # Each run of a document once: both as one number, which is much faster to sort than two.
    _, firsts = np.unique(runs ^ (documents * _FACTOR), return_index=True)
    found, counts = np.unique(runs[firsts], return_counts=True)
    is_common = (counts >= max(LEAST, share * len(texts))) & (found != 0)
    common: Hashes = found[is_common]
    return common


def _runs(units: Units) -> tuple[Hashes, npt.NDArray[np.uint64]]:
    """A hash for each run that lies in one document, and the document."""
    size = len(units.hashes) - RUN + 1
    documents = units.documents.astype(np.uint64)
    if size <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    runs = np.zeros(size, np.uint64)
    for place in range(RUN):
        runs = runs * _FACTOR + units.hashes[place : place + size]
    whole = documents[:size] == documents[RUN - 1 :]
    # A run across two documents is none; 0 stands for it, and no document has it.
    return np.where(whole, runs, np.uint64(0)), documents[:size]


def template_spans(text: str, common: Hashes) -> list[Span]:
    """Where template text stands, in characters; spans do not touch each other."""
    if not len(common):
        return []
    units = cut(string_array([text]), PassageSettings())
    runs, _ = _runs(units)
    spans: list[list[int]] = []
    for place in np.flatnonzero(np.isin(runs, common) & (runs != 0)).tolist():
        start, stop = int(units.starts[place]), int(units.ends[place + RUN - 1])
        if spans and start <= spans[-1][1]:
            spans[-1][1] = stop
        else:
            spans.append([start, stop])
    return [(start, stop) for start, stop in spans if stop - start >= SHORTEST]


def with_template(pieces: Sequence[Piece], spans: Sequence[Span]) -> tuple[Piece, ...]:
    """The same pieces, cut where template text begins or ends, and marked there."""
    return tuple(_marked(pieces, spans)) if spans else tuple(pieces)


def _marked(pieces: Sequence[Piece], spans: Sequence[Span]) -> Iterator[Piece]:
    borders = np.array([border for span in spans for border in span])
    for piece in pieces:
        low, high = np.searchsorted(borders, [piece.start, piece.stop], "right").tolist()
        inside = [b for b in borders[low:high].tolist() if piece.start < b < piece.stop]
        for start, stop in pairwise([piece.start, *inside, piece.stop]):
            # Behind an odd number of borders lies template text.
            is_template = bool(np.searchsorted(borders, start, "right") % 2)
            yield piece._replace(start=start, stop=stop, is_template=is_template)
