"""The exact join against a plain one, and against SetSimilaritySearch.

On the debian corpus, threshold 0.8, from sets of shingles to pairs: nearly's join (with making its
sets, two threads and one), the plain prefix-filter join of `join.cpp` (one thread, its sets ready
made), and `SetSimilaritySearch.all_pairs` on as many documents as it can do. In turn, medians.

    python bench/exact.py [--data DIR] [--repeat 5]
"""

import statistics
from pathlib import Path
from typing import Any

import harness
import pyarrow.parquet as pq
import truth
from SetSimilaritySearch import all_pairs

import nearly

THRESHOLD, K = 0.8, 5
PART = 20_000


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    path = harness.corpus(asked.data, "debian")
    results = {unit: measure(path, unit, asked.repeat) for unit in ("char", "word")}
    rows = [
        [unit, name, *(result[name][key] for key in ("seconds", "pairs"))]
        for unit, result in results.items()
        for name in result
    ]
    harness.show(["unit", "contender", "seconds", "pairs"], rows)
    harness.save("exact", results)


def measure(path: Path, unit: str, repeat: int) -> dict[str, Any]:
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    sets = truth.number_shingles(texts, truth.SHINGLES[unit], K)
    part = texts[:PART]
    shingles = [truth.SHINGLES[unit](text, K) for text in part]
    contenders = {
        "nearly, two threads": lambda: joined(texts, unit, 2),
        "nearly, one thread": lambda: joined(texts, unit, 1),
        "plain join, one thread": lambda: truth.join(sets, THRESHOLD).num_rows,
        f"nearly, {PART} documents": lambda: joined(part, unit, 2),
        f"SetSimilaritySearch, {PART} documents": lambda: sum(
            1 for _ in all_pairs(shingles, "jaccard", THRESHOLD)
        ),
    }
    runs: dict[str, list[tuple[float, int]]] = {name: [] for name in contenders}
    for _ in range(repeat):
        for name, work in contenders.items():
            if name.startswith("Set") and runs[name]:
                continue  # minutes long: once
            runs[name].append(harness.timed(work))
    return {
        name: {
            "seconds": statistics.median(seconds for seconds, _ in taken),
            "all": [seconds for seconds, _ in taken],
            "pairs": taken[0][1],
        }
        for name, taken in runs.items()
    }


def joined(texts: list[str], unit: str, threads: int) -> int:
    settings = {"unit": unit, "k": K, "threshold": THRESHOLD, "raw": True, "method": "exact"}
    return len(nearly.find(texts, all_pairs=True, threads=threads, **settings))


if __name__ == "__main__":
    main()
