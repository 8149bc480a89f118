"""Exact truth: every pair of a corpus that reaches a threshold, found without hashing.

Nothing of nearly is used here, so that it can be judged by it. Shingles are numbered by a
plain Python dict (no hash can collide), rare ones first, and joined by `join.cpp`, an exact
prefix-filter join. Text is taken as it stands: `char` shingles are k code points, `word`
shingles k words between white space; a shorter document is one shingle.

    python bench/truth.py [--data DIR] [--corpus debian] [--unit char] [--k 5] [--threshold 0.8]
"""

import struct
import subprocess
from array import array
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import harness
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Known answers: debian by 5-shingles at 0.8.
EXPECTED = {("debian", "char", 5, 0.8): 82_674, ("debian", "word", 5, 0.8): 28_482}

FOUND = np.dtype([("a", "<u4"), ("b", "<u4"), ("similarity", "<f8")])


def truth(path: Path, unit: str, k: int, threshold: float) -> pa.Table:
    """All pairs of row numbers (a < b) with their exact similarity; kept in the cache."""
    harness.CACHE.mkdir(exist_ok=True)
    kept = harness.CACHE / f"truth-{path.parent.name}-{unit}-{k}-{threshold}.parquet"
    if not kept.exists():
        texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
        pq.write_table(join(number_shingles(texts, SHINGLES[unit], k), threshold), kept)
    return pq.read_table(kept)


def char_shingles(text: str, k: int) -> set[str]:
    """Every k code points in a row; a shorter text is one shingle."""
    return {text[i : i + k] for i in range(max(len(text) - k + 1, 1))} if text else set()


def word_shingles(text: str, k: int) -> set[str]:
    """Every k words in a row; fewer words are one shingle."""
    words = text.split()
    if not words:
        return set()
    return {" ".join(words[i : i + k]) for i in range(max(len(words) - k + 1, 1))}


SHINGLES: dict[str, Callable[[str, int], set[str]]] = {"char": char_shingles, "word": word_shingles}


def number_shingles(
    texts: list[str], shingle: Callable[[str, int], set[str]], k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and members of one set a document, ascending, rare shingles numbered first."""
    numbers: dict[str, int] = {}
    offsets, members = array("Q", [0]), array("I")
    for text in texts:
        members.extend(numbers.setdefault(s, len(numbers)) for s in shingle(text, k))
        offsets.append(len(members))
    first_numbers = np.frombuffer(members, np.uint32)
    rarest = np.argsort(np.bincount(first_numbers, minlength=len(numbers)), kind="stable")
    by_rarity = np.empty(len(numbers), np.uint32)
    by_rarity[rarest] = np.arange(len(numbers), dtype=np.uint32)
    ranked = by_rarity[first_numbers]
    for start, end in pairwise(offsets):
        ranked[start:end].sort()
    return np.frombuffer(offsets, np.uint64), ranked


def join(sets: tuple[np.ndarray, np.ndarray], threshold: float) -> pa.Table:
    """Run the exact join over numbered sets."""
    offsets, members = sets
    given = struct.pack("<Qd", len(offsets) - 1, threshold) + offsets.tobytes() + members.tobytes()
    said = subprocess.run(
        [harness.compiled("join.cpp")], input=given, stdout=subprocess.PIPE, check=True
    )
    pairs = np.sort(np.frombuffer(said.stdout, FOUND), order=["a", "b"])
    return pa.table({name: np.ascontiguousarray(pairs[name]) for name in ("a", "b", "similarity")})


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--corpus", default="debian")
    parser.add_argument("--unit", choices=sorted(SHINGLES), default="char")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--threshold", type=float, default=0.8)
    asked = parser.parse_args()
    path = harness.corpus(asked.data, asked.corpus)
    seconds, pairs = harness.timed(lambda: truth(path, asked.unit, asked.k, asked.threshold))
    print(f"{len(pairs):,} pairs in {seconds:.1f} s")
    expected = EXPECTED.get((asked.corpus, asked.unit, asked.k, asked.threshold), len(pairs))
    assert len(pairs) == expected, f"{expected:,} pairs were expected"


if __name__ == "__main__":
    main()
