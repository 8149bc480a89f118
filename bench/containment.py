"""Containment on the licences corpus: nearly, exact and by drawn members, beside LSH Ensemble.

Documents are lower-cased, cut into words at white space, and made sets of runs of three words.
Every tool is given these sets, and nearly also the texts. LSH Ensemble (datasketch) takes one query
after the other; of its answers a pair is kept if the smaller set was the query, as it promises to
find what contains a query. The truth is counted here over an inverted index, without nearly, and
kept in bench/.cache; --prepare does no more than that. The peer takes minutes: some documents are
its queries (--queries), and the time of asking is scaled to all of them.
"""

import collections
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import nearly

THRESHOLD, PERMUTATIONS, PARTITIONS = 0.8, 256, 16
HOW: dict[str, Any] = {"measure": "containment", "threshold": THRESHOLD}
WORDS: dict[str, Any] = {"text": "text", "unit": "word", "k": 3, "raw": True}
METHODS: dict[str, dict[str, Any]] = {
    "nearly, exact": {"items": "items", "method": "exact"},
    "nearly, exact, from texts": {**WORDS, "method": "exact"},
    "nearly, drawn": {"items": "items", "method": "lsh"},
}

Pairs = set[tuple[int, int]]


def texts_of(path: Path) -> list[str]:
    """In lower case."""
    return [text.lower() for text in pq.read_table(path, columns=["text"])["text"].to_pylist()]


def sets_of(texts: list[str]) -> list[list[str]]:
    """Runs of three words of each document; of a shorter one, all its words."""
    lists = []
    for text in texts:
        words = text.split()
        runs = {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}
        lists.append(sorted(runs - {""}))
    return lists


def truth(sets: list[list[str]]) -> Pairs:
    """Every pair whose smaller set is contained: of each set the members it shares with others."""
    holders: dict[str, list[int]] = collections.defaultdict(list)
    order = sorted(range(len(sets)), key=lambda i: (len(sets[i]), i))
    found: Pairs = set()
    for larger in order:
        shared = collections.Counter(i for member in sets[larger] for i in holders[member])
        near = (i for i, count in shared.items() if 5 * count >= 4 * len(sets[i]))
        found.update((min(i, larger), max(i, larger)) for i in near)
        for member in sets[larger]:
            holders[member].append(larger)
    return found


def kept_truth(sets: list[list[str]]) -> Pairs:
    """The same from the cache, where it was counted before."""
    path = harness.CACHE / "licence_containment.npy"
    if not path.exists():
        harness.CACHE.mkdir(exist_ok=True)
        np.save(path, np.array(sorted(truth(sets))))
    return {(a, b) for a, b in np.load(path).tolist()}


def by_nearly(table: pa.Table, method: dict[str, Any]) -> Pairs:
    """All pairs, of exact copies too."""
    pairs = nearly.find(table, all_pairs=True, **HOW, **method).pairs
    return set(zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True))


def by_ensemble(sets: list[list[str]], queries: list[int]) -> tuple[Pairs, float, float]:
    """What it finds for these queries, the seconds to build it, and those to ask it."""
    from datasketch import MinHash, MinHashLSHEnsemble

    def build() -> tuple[Any, list[Any]]:
        encoded = ([member.encode() for member in one] for one in sets)
        signed = list(MinHash.bulk(encoded, num_perm=PERMUTATIONS))
        index = MinHashLSHEnsemble(THRESHOLD, num_perm=PERMUTATIONS, num_part=PARTITIONS)
        index.index((i, signed[i], len(sets[i])) for i in range(len(sets)) if sets[i])
        return index, signed

    def ask() -> Pairs:
        answers = ((i, j) for i in queries for j in index.query(signed[i], len(sets[i])))
        return {(min(i, j), max(i, j)) for i, j in answers if is_contained(sets, i, j)}

    building, (index, signed) = harness.timed(build)
    asking, found = harness.timed(ask)
    return found, building, asking


def is_contained(sets: list[list[str]], smaller: int, larger: int) -> bool:
    """Whether a pair is this query's to find: of two sets of one size either may be."""
    return smaller != larger and len(sets[smaller]) <= len(sets[larger])


def score(found: Pairs, true: Pairs) -> dict[str, float]:
    right = len(found & true)
    return {"recall": right / max(1, len(true)), "precision": right / max(1, len(found))}


def measure_nearly(table: pa.Table, true: Pairs, times: int) -> dict[str, dict[str, float]]:
    """Medians; the pairs of one run of each."""
    measured = {}
    for name, method in METHODS.items():
        work: Callable[[], Any] = lambda method=method: nearly.find(  # noqa: E731
            table, all_pairs=True, **HOW, **method
        )
        seconds = harness.median(harness.timed(work)[0] for _ in range(times))
        measured[name] = {"seconds": seconds, **score(by_nearly(table, method), true)}
    return measured


def main() -> None:
    parser = harness.parser(__doc__)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    texts = texts_of(harness.corpus(options.data, "licences"))
    sets = sets_of(texts)
    table = pa.table({"text": texts, "items": sets})
    true = kept_truth(sets)
    if options.prepare:
        return
    measured = measure_nearly(table, true, options.times)
    queries = random.Random(1).sample([i for i in range(len(sets)) if sets[i]], options.queries)
    found, building, asking = by_ensemble(sets, queries)
    asked = set(queries)
    theirs = {
        (i, j)
        for i, j in true
        if (i in asked and is_contained(sets, i, j)) or (j in asked and is_contained(sets, j, i))
    }
    share = sum(map(bool, sets)) / len(queries)
    measured["LSH Ensemble"] = {"seconds": building + asking * share, **score(found, theirs)}
    headings = ["", "seconds", "recall", "precision"]
    rows = [[name, *line.values()] for name, line in measured.items()]
    harness.show(headings, rows)
    harness.save(
        "containment",
        {"pairs": len(true), "queries": len(queries), "built": building, "tools": measured},
    )


if __name__ == "__main__":
    main()
