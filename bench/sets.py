"""Baskets as sets of items: nearly beside SetSimilaritySearch, and per item beside shingles.

SetSimilaritySearch joins in Python, by prefixes and positions (all_pairs). Both are given the same
lists of items, and have to find the same number of pairs. The peer is stopped when it has taken
--patience seconds: then it takes longer than that, and what it found by then is said. Afterwards
items are compared with shingles: texts whose words are the items, so that a shingle of one word is
an item.

    python bench/sets.py [--threshold 0.5] [--times 5] [--patience 75] [--data DIR]
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import harness
import pyarrow as pa
import pyarrow.parquet as pq

import nearly

PAIRS_AT_HALF = 5_081_632


def by_peer(lists: list[list[str]], threshold: float, patience: float) -> tuple[int, bool]:
    """The number of its pairs, and whether these are all."""
    from SetSimilaritySearch import all_pairs

    end = time.perf_counter() + patience
    count = 0
    for _ in all_pairs(lists, "jaccard", threshold):
        count += 1
        if time.perf_counter() > end:
            return count, False
    return count, True


def median_of(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    runs = [harness.timed(work) for _ in range(times)]
    return harness.median(seconds for seconds, _ in runs), runs[0][1]


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--patience", type=float, default=75)
    options = parser.parse_args()
    path = options.data / "baskets" / "retail.parquet"
    if not path.is_file():
        sys.exit(f"There is no {path}. Give the folder of corpora by --data or NEARLY_DATA.")
    items = pq.read_table(path, columns=["items"])
    lists = [sorted(set(each)) for each in items["items"].to_pylist()]
    how: dict[str, Any] = {"threshold": options.threshold, "method": "exact", "all_pairs": True}
    words = pa.table({"text": [" ".join(each) for each in lists]})
    as_words: dict[str, Any] = {"unit": "word", "k": 1, "raw": True}
    ours, found = median_of(lambda: nearly.find(items, items="items", **how), options.times)
    shingled, same = median_of(lambda: nearly.find(words, **as_words, **how), options.times)
    signed = {**how, "method": "lsh", "bands": 20, "rows": 5, "all_pairs": False}
    of_items, _ = median_of(lambda: nearly.find(items, items="items", **signed), options.times)
    of_words, _ = median_of(lambda: nearly.find(words, **as_words, **signed), options.times)
    theirs, (count, is_all) = harness.timed(
        lambda: by_peer(lists, options.threshold, options.patience)
    )
    assert len(found) == len(same)
    assert len(found) == count if is_all else len(found) > count
    assert options.threshold != 0.5 or len(found) == PAIRS_AT_HALF
    harness.show(
        ["", "seconds", "pairs"],
        [
            ["nearly, items", ours, len(found)],
            ["nearly, the same as words", shingled, len(same)],
            ["nearly, items, hashed", of_items, None],
            ["nearly, words, hashed", of_words, None],
            [f"SetSimilaritySearch{'' if is_all else ', stopped'}", theirs, count],
            [f"times faster{'' if is_all else ', at least'}", theirs / ours, None],
        ],
    )
    harness.save(
        "sets",
        {
            "threshold": options.threshold,
            "sets": len(lists),
            "items": sum(map(len, lists)),
            "pairs": len(found),
            "of_peer": {"pairs": count, "is_all": is_all},
            "seconds": {
                "nearly": ours,
                "nearly, as words": shingled,
                "nearly, hashed": of_items,
                "nearly, as words, hashed": of_words,
                "SetSimilaritySearch": theirs,
            },
        },
    )


if __name__ == "__main__":
    main()
