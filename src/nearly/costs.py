"""What a run over a whole corpus costs: seconds, and bytes of memory.

Reading and signing are measured on the corpus itself; the rest is counted and multiplied by what
one step took on the machine of the benchmarks. Good for planning, not for timing.
"""

from dataclasses import dataclass

from nearly.tuning import SECONDS_A_BAND, SECONDS_A_CANDIDATE, SECONDS_A_POSITION, Banding

__all__ = ["Corpus", "Work", "memory", "seconds", "signing_seconds"]

#: One core finds, sorts and keeps a shingle of a document that is verified.
SECONDS_A_SHINGLE = 15e-9
#: One core compares a shingle of a candidate with those of the other document.
SECONDS_A_COMPARISON = 1.5e-9

#: The interpreter and its libraries.
BYTES_AT_START = 130 * 2**20
#: Of a document, beyond its text, keys and sketch: offsets, length, row, id and hashes.
BYTES_A_DOCUMENT = 90
#: Of a pair that is verified: its two documents, twice, and its similarity.
BYTES_A_PAIR = 32
#: Shingles are held as 64-bit hashes, for no more text than this at once.
BYTES_A_SHINGLE = 8
MOST_TEXT_IN_SETS = 2**27


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


def signing_seconds(corpus: Corpus, banding: Banding) -> float:
    """What signing should take, where it was not measured."""
    return corpus.documents * banding.permutations * SECONDS_A_POSITION / corpus.threads


def seconds(corpus: Corpus, work: Work) -> float:
    """Reading, signing, sorting the bands, looking at what meets, and verifying."""
    bands = corpus.documents * work.banding.bands * SECONDS_A_BAND
    looking = work.meetings * SECONDS_A_CANDIDATE
    compared = _text_compared(corpus, work)
    # Verification goes block by block, and each block cuts its documents into shingles anew.
    blocks = 1 + compared // MOST_TEXT_IN_SETS
    shingled = min(compared, blocks * corpus.text)
    verifying = shingled * SECONDS_A_SHINGLE + compared * SECONDS_A_COMPARISON
    return corpus.reading + work.signing + (bands + looking + verifying) / corpus.threads


def _text_compared(corpus: Corpus, work: Work) -> float:
    """Bytes of the texts of all pairs that are verified."""
    return 2 * work.verified * corpus.text / max(1, corpus.documents)


def memory(corpus: Corpus, work: Work) -> int:
    """Bytes at the peak, if nothing has to be spilled to disk."""
    banding = work.banding
    sketch = 8 * -(-banding.permutations // 32)
    documents = corpus.documents * (BYTES_A_DOCUMENT + 4 * banding.bands + sketch)
    pairs = int(work.verified) * BYTES_A_PAIR
    held = min(_text_compared(corpus, work), corpus.text, MOST_TEXT_IN_SETS)
    sets = int(BYTES_A_SHINGLE * held)
    return BYTES_AT_START + corpus.text + documents + pairs + sets
