"""What a run over a whole corpus costs: seconds, and bytes of memory.

Reading and signing are measured on the corpus itself; the rest is counted and multiplied by what
one step took on the machine of the benchmarks. Good for planning, not for timing.
"""

from dataclasses import dataclass

from nearly.tuning.banding import SECONDS_A_BAND, SECONDS_A_POSITION, Banding

__all__ = ["Corpus", "Work", "memory", "seconds", "signing_seconds"]

#: One core looks at two documents that meet in a bucket.
SECONDS_A_MEETING = 50e-9
#: One core verifies a pair, for each byte of its two texts: 2 ns where similar documents lie near
#: each other in the corpus, and are cut into shingles once for many pairs; up to 17 where not.
SECONDS_A_BYTE = 3e-9

#: The interpreter, its libraries, and what is in work at any time.
BYTES_AT_START = 180 * 2**20
#: Of a document, beyond its text, keys and sketch: offsets, length, row, id and hashes.
BYTES_A_DOCUMENT = 90
#: Of a pair that is verified: its two documents, packed, sorted and apart, and its similarity.
BYTES_A_PAIR = 64


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The size of a corpus, and what is there to work on it."""

    documents: int
    text: int  # bytes
    reading: float  # seconds
    threads: int


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a setting makes of a corpus."""

    banding: Banding
    signing: float  # seconds
    meetings: float  # of two documents in a bucket, all bands together
    verified: float  # pairs that pass the agreement filter
    verified_text: float  # bytes of both texts of each of them


def signing_seconds(corpus: Corpus, banding: Banding) -> float:
    """What signing should take, where it was not measured."""
    return corpus.documents * banding.permutations * SECONDS_A_POSITION / corpus.threads


def seconds(corpus: Corpus, work: Work) -> float:
    """Reading, signing, sorting the bands, looking at what meets, and verifying."""
    bands = corpus.documents * work.banding.bands * SECONDS_A_BAND
    looking = work.meetings * SECONDS_A_MEETING
    verifying = work.verified_text * SECONDS_A_BYTE
    return corpus.reading + work.signing + (bands + looking + verifying) / corpus.threads


def memory(corpus: Corpus, work: Work) -> int:
    """Bytes at the peak, if nothing has to be spilled to disk."""
    banding = work.banding
    sketch = 8 * banding.hashing.sketch_words(banding.permutations)
    documents = corpus.documents * (BYTES_A_DOCUMENT + 4 * banding.bands + sketch)
    pairs = int(work.verified) * BYTES_A_PAIR
    return BYTES_AT_START + corpus.text + documents + pairs
