"""Makes corpora that do not fit in a small memory: the same seed gives the same documents.

Tweets are many and short, long texts have lengths that differ by a factor of hundred, and
near-copies are all long: five of each text, far from each other. Documents are written as they are
made, so that this takes little memory however many there are; but large texts, which are all
of one length, lie in one row group, as in a file that was written at once.

    python bench/oversized.py near-copies --documents 1000 -o FILE.parquet
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import generate
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

TWEET = 140  # characters
COPY_BYTES = 267_000
LARGE_WORDS = 14_000  # some 62 KB
COPIES = 5  # of each text
REPLACED = 2  # words in a hundred
#: Words of the shortest long text, and how many times as long others are.
SHORTEST, MOST_TIMES = 1_000, 100
IN_BLOCK = 100  # long documents that are written together

Words = npt.NDArray[np.int32]


def tweets(path: Path, documents: int) -> None:
    """CSV: what `generate.py` makes, cut as tweets are."""
    with pa.csv.CSVWriter(path, generate.SCHEMA) as writer:
        for batch in generate.batches(documents, seed=1):
            cut = pc.utf8_slice_codeunits(batch["text"], 0, TWEET)
            writer.write_batch(pa.record_batch([batch["id"], cut], schema=generate.SCHEMA))


def near_copies(path: Path, documents: int) -> None:
    """Parquet: text `i` comes again every `documents // COPIES` documents, edited."""
    with pq.ParquetWriter(path, generate.SCHEMA, use_dictionary=False) as writer:
        texts = _edited_texts(documents, documents // COPIES, lambda _: COPY_BYTES // 5)
        for start in range(0, documents, IN_BLOCK):
            some = [next(texts)[:COPY_BYTES] for _ in range(min(IN_BLOCK, documents - start))]
            ids = [str(start + i) for i in range(len(some))]
            writer.write_batch(pa.record_batch([ids, some], schema=generate.SCHEMA))


def large_texts(path: Path, documents: int) -> None:
    """Parquet, one row group: the last tenth are edited copies."""
    texts = _edited_texts(documents, documents * 9 // 10, lambda _: LARGE_WORDS)
    ids = [str(i) for i in range(documents)]
    pq.write_table(pa.table([ids, list(texts)], schema=generate.SCHEMA), path)


def long_texts(path: Path, documents: int) -> None:
    """JSONL: some 50 KB each on the average; the last tenth of them are edited copies."""
    with path.open("w") as file:
        texts = _edited_texts(documents, documents * 9 // 10, _long_tailed)
        for number, text in enumerate(texts):
            file.write(json.dumps({"id": number, "text": text}) + "\n")


def _long_tailed(draw: np.random.Generator) -> int:
    return SHORTEST * MOST_TIMES // int(draw.integers(1, MOST_TIMES, endpoint=True)) * 2


def _edited_texts(
    documents: int, originals: int, length: Callable[[np.random.Generator], int]
) -> Iterator[str]:
    """Document `i` is an edited copy of document `i - originals`, if there is one."""
    generator = generate.Generator(seed=1)
    spelt = np.array(generator.words.to_pylist(), object)
    for number in range(documents):
        draw = np.random.default_rng([1, number % originals])
        words = _drawn(draw, generator.slots, length(draw))
        edit = np.random.default_rng([2, number])
        replaced = edit.integers(0, 100, len(words)) < REPLACED
        words[replaced] = _drawn(edit, generator.slots, int(replaced.sum()))
        yield " ".join(spelt[words])


def _drawn(draw: np.random.Generator, slots: Words, count: int) -> Words:
    return slots[draw.integers(0, len(slots), count, dtype=np.uint32)]


MAKERS = {
    "tweets": tweets,
    "near-copies": near_copies,
    "large-texts": large_texts,
    "long-texts": long_texts,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=MAKERS)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    MAKERS[asked.kind](asked.output, asked.documents)


if __name__ == "__main__":
    main()
