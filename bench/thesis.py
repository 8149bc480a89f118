"""Table 6.1 of Chauhan's thesis again: ways to fill a characteristic matrix, at its sizes and more.

Four files of news; shingles of five words. Every shingle of their union is searched in each file:
in a list, a sorted list, a hash set, and a Bloom filter, one by one and in bulk. Time to make
what is searched counts. Where all searches would take too long, a sample of them is timed. All
times are those of the processor: every way takes one core, and others may use the machine.

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
#: The same of the other ways, but for those in bulk.
MOST_SEARCHED = 50_000


def files_of(text: str, size: int) -> list[list[str]]:
    """The shingles of four files of this size together: half of each is the same in all."""
    half = size // FILES // 2
    common = text[:half]
    own = [text[half * i : half * (i + 1)] for i in range(1, FILES + 1)]
    return [_shingles(common + " " + part) for part in own]


def _shingles(text: str) -> list[str]:
    words = text.split()
    return list(dict.fromkeys(map(" ".join, zip(*(words[i:] for i in range(WORDS)), strict=False))))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and what the work gave."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def sequential(files: list[list[str]], union: list[str]) -> tuple[float, int, bool]:
    """Seconds, ones in the matrix, and whether they were estimated from a sample."""
    sizes = sum(map(len, files))
    if len(union) * sizes <= MOST_COMPARISONS:
        seconds, ones = timed(lambda: sum(s in each for s in union for each in files))
        return seconds, ones, False
    sample = random.Random(1).sample(union, SAMPLE)
    seconds, ones = timed(lambda: sum(s in each for s in sample for each in files))
    return seconds * len(union) / SAMPLE, round(ones * len(union) / SAMPLE), True


def in_sorted(files: list[list[str]], union: list[str]) -> tuple[float, int]:
    """Binary search: seconds, and ones in the matrix."""
    making, ordered = timed(lambda: list(map(sorted, files)))

    def search(some: Sequence[str]) -> int:
        ones = 0
        for each in ordered:
            size = len(each)
            for shingle in some:
                place = bisect_left(each, shingle)
                ones += place < size and each[place] == shingle
        return ones

    return scaled(making, search, union)


def in_set(files: list[list[str]], union: list[str]) -> tuple[float, int]:
    """A hash set."""
    making, sets = timed(lambda: list(map(set, files)))
    return scaled(making, lambda some: sum(s in each for each in sets for s in some), union)


def filters_of(files: list[list[str]]) -> list[nearly.BloomFilter]:
    """The thesis's way: a Bloom filter for each file."""
    made = []
    for each in files:
        made.append(nearly.BloomFilter(len(each), ERROR))
        made[-1].add(each)
    return made


def in_filter_in_bulk(files: list[list[str]], union: list[str]) -> tuple[float, int]:
    """All at once."""

    def fill() -> int:
        column = pa.array(union)
        return sum(int(each.contains(column).sum()) for each in filters_of(files))

    return timed(fill)


def in_filter_one_by_one(files: list[list[str]], union: list[str]) -> tuple[float, int]:
    """As the thesis writes it."""
    making, filters = timed(lambda: filters_of(files))
    return scaled(making, lambda some: sum(s in each for each in filters for s in some), union)


def scaled(
    making: float, search: Callable[[Sequence[str]], int], union: list[str]
) -> tuple[float, int]:
    """Seconds to make something and to search it for all; of very many, a sample is searched."""
    sample = union
    if len(union) > MOST_SEARCHED:
        sample = random.Random(1).sample(union, MOST_SEARCHED)
    searching, ones = timed(lambda: search(sample))
    times = len(union) / len(sample)
    return making + searching * times, round(ones * times)


WAYS: dict[str, Callable[[list[list[str]], list[str]], tuple[float, int]]] = {
    "sorted": in_sorted,
    "hash set": in_set,
    "Bloom, in bulk": in_filter_in_bulk,
    "Bloom, one by one": in_filter_one_by_one,
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
        runs: list[float] = []
        while sum(runs) < 0.5 and len(runs) < 5:
            seconds, found[name] = way(files, union)
            runs.append(seconds)
        measured["milliseconds"][name] = harness.median(runs) * 1000
    true = sum(map(len, files))  # each shingle of a file once
    assert is_estimated or found["sorted"] == found["hash set"] == ones == true
    measured["ones"] = true
    measured["wrong_ones"] = found["Bloom, in bulk"] - true
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
