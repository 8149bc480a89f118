"""From texts to signatures, in the form that the rest of the pipeline needs.

A signature itself is not kept: its bands are hashed to keys that say in which buckets the
document lies, and two bits of each position make the sketch that tells, before a text is
touched, whether two documents can be similar enough. docs/signatures.md states all of it
bit by bit.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly import _kernels
from nearly.arrays import binary_rows, column_of, spans
from nearly.settings import Settings
from nearly.stages.normalisation import normalise
from nearly.tuning.banding import Banding

__all__ = ["SIGNED_COLUMNS", "measure", "sign", "signatures", "sketch_words"]

#: size: number of shingles, repeats included; content: 128 bits that stand for the whole text;
#: keys: 32 bits a band; sketch: 2 bits a position.
SIGNED_COLUMNS = ("size", "content", "keys", "sketch")


def sign(batch: pa.RecordBatch, settings: Settings, banding: Banding) -> pa.RecordBatch:
    """The signed form of each document's `text`, row by row."""
    text = settings.text
    sizes, contents, keys, sketches = _kernels.sign(
        *spans(normalise(batch.column("text"), text)),
        unit=text.unit,
        k=text.whole_k,
        seed=settings.seed,
        scheme=settings.scheme,
        bands=banding.bands,
        rows=banding.rows,
    )
    packed = [binary_rows(matrix) for matrix in (contents, keys, sketches)]
    columns = [column_of(sizes), *packed]
    return pa.record_batch(columns, names=list(SIGNED_COLUMNS))


def measure(batch: pa.RecordBatch, settings: Settings) -> pa.RecordBatch:
    """Only what does not need a signature: `size` and `content`."""
    text = settings.text
    sizes, contents = _kernels.measure(
        *spans(normalise(batch.column("text"), text)),
        unit=text.unit,
        k=text.whole_k,
        seed=settings.seed,
    )
    return pa.record_batch([column_of(sizes), binary_rows(contents)], names=["size", "content"])


def signatures(
    texts: pa.LargeStringArray, settings: Settings, positions: int
) -> npt.NDArray[np.uint32]:
    """Whole signatures, 32 bits a position: for estimates and for those who want to look."""
    return _kernels.signatures(
        *spans(normalise(texts, settings.text)),
        unit=settings.text.unit,
        k=settings.text.whole_k,
        seed=settings.seed,
        scheme=settings.scheme,
        positions=positions,
    )


def sketch_words(positions: int) -> int:
    """64-bit words in the sketch of a signature: thirty-two positions a word."""
    return (positions + 31) // 32
