"""Table 6.1 of Chauhan's thesis again: ways to fill a characteristic matrix, at its sizes and more.

Four files of news; shingles of five words. Every shingle of their union is searched in each file:
in a list, a sorted list, a hash set, and a Bloom filter, one by one and in bulk. Time to make
what is searched counts. Where a list would take too long, a sample of its searches is timed.

    python bench/thesis.py [--sizes 4 16 55] [--times 1 1000]
"""

import random
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import harness
import pyarrow as pa
import pyarrow.parquet as pq

import nearly

FILES, WORDS, ERROR = 4, 5, 0.01
#: Searches of a list that are timed where all would take too long, and comparisons that may take.
SAMPLE, MOST_COMPARISONS = 30, 3 * 10**8
MOST_ONE_BY_ONE = 20_000


def files_of(text: str, size: int) -> list[list[str]]:
    """The shingles of four files of this size together: half of each is the same in all."""
    half = size // FILES // 2
    common = text[:half]
    own = [text[half * i : half * (i + 1)] for i in range(1, FILES + 1)]
    return [_shingles(common + " " + part) for part in own]


def _shingles(text: str) -> list[str]:
    words = text.split()
    return list(dict.fromkeys(map(" ".join, zip(*(words[i:] for i in range(WORDS)), strict=False))))


def sequential(files: list[list[str]], union: list[str]) -> tuple[float, int, bool]:
    """Seconds, ones in the matrix, and whether they were estimated from a sample."""
    sizes = sum(map(len, files))
    if len(union) * sizes <= MOST_COMPARISONS:
        seconds, ones = harness.timed(lambda: sum(s in each for s in union for each in files))
        return seconds, ones, False
    sample = random.Random(1).sample(union, SAMPLE)
    seconds, ones = harness.timed(lambda: sum(s in each for s in sample for each in files))
    return seconds * len(union) / SAMPLE, round(ones * len(union) / SAMPLE), True


def in_sorted(files: list[list[str]], union: list[str]) -> int:
    """Binary search."""
    ones = 0
    for each in map(sorted, files):
        size = len(each)
        for shingle in union:
            place = bisect_left(each, shingle)
            ones += place < size and each[place] == shingle
    return ones


def in_set(files: list[list[str]], union: list[str]) -> int:
    """A hash set."""
    return sum(shingle in each for each in map(set, files) for shingle in union)


def filters_of(files: list[list[str]]) -> list[nearly.BloomFilter]:
    """The thesis's way: a Bloom filter for each file."""
    made = []
    for each in files:
        made.append(nearly.BloomFilter(len(each), ERROR))
        made[-1].add(each)
    return made


def in_filter_in_bulk(files: list[list[str]], union: list[str]) -> int:
    """All at once."""
    column = pa.array(union)
    return sum(int(each.contains(column).sum()) for each in filters_of(files))


def in_filter_one_by_one(files: list[list[str]], union: list[str]) -> float:
    """Seconds as the thesis writes it; of very many searches, a sample is timed."""
    making, filters = harness.timed(lambda: filters_of(files))
    sample = union if len(union) < MOST_ONE_BY_ONE else random.Random(1).sample(union, 5_000)
    searching, _ = harness.timed(lambda: sum(s in each for each in filters for s in sample))
    return making + searching * len(union) / len(sample)


WAYS: dict[str, Callable[[list[list[str]], list[str]], int]] = {
    "sorted": in_sorted,
    "hash set": in_set,
    "Bloom, in bulk": in_filter_in_bulk,
}


def measure(text: str, size: int) -> dict[str, Any]:
    """Milliseconds of every way on files of this size together."""
    files = files_of(text, size)
    union = list(dict.fromkeys(shingle for each in files for shingle in each))
    seconds, ones, is_estimated = sequential(files, union)
    measured: dict[str, Any] = {
        "bytes": size,
        "shingles": len(union),
        "milliseconds": {"sequential": seconds * 1000},
        "is_estimated": is_estimated,
    }
    found = {}
    for name, way in WAYS.items():
        runs = []
        while sum(runs) < 0.5 and len(runs) < 5:
            start = time.perf_counter()
            found[name] = way(files, union)
            runs.append(time.perf_counter() - start)
        measured["milliseconds"][name] = harness.median(runs) * 1000
    assert found["sorted"] == found["hash set"] == (found["sorted"] if is_estimated else ones)
    measured["milliseconds"]["Bloom, one by one"] = in_filter_one_by_one(files, union) * 1000
    measured["ones"] = found["hash set"]
    measured["wrong_ones"] = found["Bloom, in bulk"] - found["hash set"]
    return measured


def news(data: Path) -> str:
    """Text enough for the largest size."""
    tables = [pq.read_table(harness.corpus(data, name)) for name in ("newsgroups", "debian")]
    return " ".join(text for table in tables for text in table["text"].to_pylist() if text)


def main(given: Sequence[str] | None = None) -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 16, 55])
    parser.add_argument("--times", type=int, nargs="+", default=[1, 1000])
    asked = parser.parse_args(given)
    text = news(asked.data)
    sizes = [times * size * 1000 for times in asked.times for size in asked.sizes]
    assert len(text) > max(sizes) * 5 // 8
    rows = [measure(text, size) for size in sizes]
    harness.show(
        ["bytes", "shingles", *rows[0]["milliseconds"], "wrong 1s"],
        [
            [row["bytes"], row["shingles"], *row["milliseconds"].values(), row["wrong_ones"]]
            for row in rows
        ],
    )
    harness.save("thesis", {"error": ERROR, "words": WORDS, "rows": rows})


if __name__ == "__main__":
    main()
