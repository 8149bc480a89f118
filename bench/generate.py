"""Makes a corpus of any size: the same seed gives the same documents, everywhere.

Words follow Zipf's law, and frequent words are short. One document in ten is a copy of an
earlier one: a fifth of the copies are exact, the others have up to 15% of their words replaced,
so that similarities fall on both sides of any usual threshold. Block b copies from block b // 2:
copies lie far from their originals, clusters stay small, and pairs grow in step with documents.
Only whole numbers are drawn, since rounding may differ between machines. The first n documents
are the same however many follow, and memory does not grow with their number.

    python bench/generate.py --documents 1000000 -o FILE.parquet [--seed 1] [--first 0]
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

BLOCK = 50_000
COPIES = BLOCK // 10
EXACT_COPIES = COPIES // 5
MOST_REPLACED = 150  # words in a thousand
VOCABULARY = 100_000
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string())])

Lengths = npt.NDArray[np.int64]
Words = npt.NDArray[np.int32]


class Generator:
    """Draws blocks of documents; a document is a run of word numbers until it is spelt."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.words = pa.array([spell(rank) for rank in range(VOCABULARY)])
        # The word of rank r fills 1/r as many slots as the first: a uniform slot is a Zipf word.
        shares = VOCABULARY // np.arange(1, VOCABULARY + 1)
        self.slots = np.repeat(np.arange(VOCABULARY, dtype=np.int32), shares)

    def block(self, number: int) -> pa.Array:
        """The texts of one block: originals, then copies."""
        lengths, words = self._originals(number)
        copied_lengths, copied_words = self._copies(number)
        ends = np.cumsum(np.concatenate([[0], lengths, copied_lengths]))
        drawn = np.concatenate([words, copied_words])
        spelt = pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), self.words.take(pa.array(drawn))
        )
        return pc.binary_join(spelt, " ")

    def _originals(self, number: int) -> tuple[Lengths, Words]:
        draw = np.random.default_rng([self.seed, number, 0])
        count = BLOCK - COPIES
        # A product of uniforms has the long tail that lengths of real documents have.
        lengths = 16 + draw.integers(0, 31, count) * draw.integers(0, 31, count) // 4
        return lengths, self._words(draw, int(lengths.sum()))

    def _copies(self, number: int) -> tuple[Lengths, Words]:
        draw = np.random.default_rng([self.seed, number, 1])
        lengths, words = self._originals(number // 2)
        sources = draw.integers(0, len(lengths), COPIES)
        starts = (np.cumsum(lengths) - lengths)[sources]
        lengths = lengths[sources]
        before = np.cumsum(lengths) - lengths
        words = words[np.arange(lengths.sum()) + np.repeat(starts - before, lengths)]
        replaced_in_thousand = draw.integers(1, MOST_REPLACED + 1, COPIES)
        replaced_in_thousand[:EXACT_COPIES] = 0
        chances = np.repeat(replaced_in_thousand, lengths)
        replaced = draw.integers(0, 1000, len(words)) < chances
        words[replaced] = self._words(draw, int(replaced.sum()))
        return lengths, words

    def _words(self, draw: np.random.Generator, count: int) -> Words:
        chosen = draw.integers(0, len(self.slots), count, dtype=np.uint32)
        return self.slots[chosen]


def spell(rank: int) -> str:
    """The word of a rank: syllables as digits, so that words differ and rare ones are long."""
    syllables = ""
    rank += 1
    while rank:
        rank, digit = divmod(rank - 1, 100)
        syllables += "bcdfghjklmnpqrstvwxz"[digit // 5] + "aeiou"[digit % 5]
    return syllables


def batches(documents: int, seed: int, first: int = 0) -> Iterator[pa.RecordBatch]:
    """The corpus from a document on that begins a block, block by block; ids are numbers."""
    generator = Generator(seed)
    for start in range(first, first + documents, BLOCK):
        count = min(BLOCK, first + documents - start)
        ids = pc.cast(pa.array(np.arange(start, start + count)), pa.string())
        texts = generator.block(start // BLOCK).slice(0, count)
        yield pa.RecordBatch.from_arrays([ids, texts], schema=SCHEMA)


def write(path: Path, documents: int, seed: int = 1, first: int = 0) -> int:
    """Write the corpus as Parquet, one row group a block; gives the bytes of text."""
    size = 0
    with pq.ParquetWriter(path, SCHEMA, use_dictionary=False) as writer:
        for batch in batches(documents, seed, first):
            writer.write_batch(batch)
            size += pc.sum(pc.binary_length(batch["text"])).as_py()
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help=f"a multiple of {BLOCK:,}")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--bytes", type=Path, help="file to write the bytes of text to")
    asked = parser.parse_args()
    size = write(asked.output, asked.documents, asked.seed, asked.first)
    if asked.bytes:
        asked.bytes.write_text(f"{size}\n")
    print(f"{asked.documents:,} documents, {size:,} bytes of text")


if __name__ == "__main__":
    main()
