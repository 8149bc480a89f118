"""Makes a skewed corpus: a twentieth of its documents lie in one bucket.

Generated documents, of which every few begin with the same long passage and end each in its own
words. A document lies in the bucket of the passage when the least values of a whole band (8 rows
by default at 0.8) all come from the passage: `share ** 8` of these documents do, where `share` is
the passage's part of their shingles. In the `far` corpus they are less similar than 0.8, so share
is below 0.88 and a sixth of all documents must begin alike; in the `near` one all are pairs.

    python bench/skewed.py --kind far --documents 50000 -o FILE.parquet
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import generate
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PASSAGE = 100  # words


class Kind(NamedTuple):
    """One document in `every` begins with the passage, and has `own` words of its own after it."""

    every: int
    own: int


KINDS = {"far": Kind(every=6, own=16), "near": Kind(every=17, own=2)}


def documents(kind: Kind, count: int) -> Iterator[str]:
    """The texts: those of `generate.py`, every few of them replaced."""
    plain = (text for batch in generate.batches(count, 1) for text in batch["text"].to_pylist())
    draw = np.random.default_rng(2)
    passage = rare_words(draw, PASSAGE)
    for row, text in enumerate(plain):
        alike = row % kind.every == 0
        yield f"{passage} {rare_words(draw, kind.own)}" if alike else text


def rare_words(draw: np.random.Generator, count: int) -> str:
    """Words of three syllables: long enough that hardly a shingle occurs twice."""
    ranks = draw.integers(generate.VOCABULARY // 2, generate.VOCABULARY, count)
    return " ".join(generate.spell(int(rank)) for rank in ranks)


def write(path: Path, kind: Kind, count: int) -> None:
    """Write the corpus as Parquet; ids are numbers written out."""
    ids = [str(row) for row in range(count)]
    table = pa.table([ids, list(documents(kind, count))], schema=generate.SCHEMA)
    pq.write_table(table, path, row_group_size=generate.BLOCK)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    write(asked.output, KINDS[asked.kind], asked.documents)


if __name__ == "__main__":
    main()
