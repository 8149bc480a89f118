"""Is the promised recall met? `nearly find` with nothing but a threshold, on every corpus.

Where it chose the exact join, hashing is measured too: the promise of a recall is about hashing.

Truth is exact: texts normalised by the textbook, shingles numbered by a Python dict, joined by
`truth.py`. Exact copies are collapsed first and do not count: they are found by their hash and
would only flatter the result.
"""

from pathlib import Path
from typing import Any

import harness
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from truth import char_shingles, join, number_shingles

import nearly
from nearly.settings import TextSettings
from nearly.textbook import normalise

THRESHOLDS = (0.7, 0.8, 0.9)
#: Fewer pairs say little about a share of 99%.
FEWEST = 100


def promises(data: Path) -> list[dict[str, Any]]:
    """A row for each corpus and threshold with enough pairs."""
    rows = []
    for path in sorted(data.rglob("*.parquet")):
        name = path.relative_to(data).with_suffix("").as_posix()
        # A smaller part of a corpus that is measured whole.
        if name not in ("articles/articles_100", "articles/articles_1000"):
            rows += _promises_of(path, name)
    return rows


def _promises_of(path: Path, name: str) -> list[dict[str, Any]]:
    exact: _Exact | None = None
    rows = []
    for threshold in THRESHOLDS:
        found = nearly.find(path, id="id", text="text", threshold=threshold)
        hashed = nearly.find(path, id="id", text="text", threshold=threshold, method="lsh")
        exact = exact or _Exact(path, found.settings.text)
        row = {
            "corpus": name,
            "documents": found.statistics.documents,
            "k": found.statistics.k,
            "threshold": threshold,
            "method": found.statistics.method,
            **exact.judge(found.pairs, threshold),
            "bands": hashed.statistics.bands,
            "rows": hashed.statistics.rows,
            "hashing": exact.judge(hashed.pairs, threshold),
        }
        print(row, flush=True)
        if row["pairs"] >= FEWEST:
            rows.append(row)
    return rows


class _Exact:
    """All pairs of different normalised texts from the lowest threshold upwards."""

    def __init__(self, path: Path, text: TextSettings) -> None:
        table = pq.read_table(path, columns=["id", "text"])
        first_of: dict[str, int] = {}
        # The number of a text, for every document: copies share it.
        numbers = [
            first_of.setdefault(normalise(document, text), len(first_of))
            for document in table["text"].to_pylist()
        ]
        self._ids = table["id"].combine_chunks()
        self._numbers = np.array(numbers, np.int64)
        pairs = _kept_join(path, list(first_of), text.whole_k)
        self._keys = self._packed(pairs["a"].to_numpy(), pairs["b"].to_numpy())
        self._similarities = pairs["similarity"].to_numpy()

    def judge(self, found: pa.Table, threshold: float) -> dict[str, Any]:
        """Recall, and how many pairs were found that are none: none, by construction."""
        truth = self._keys[self._similarities >= threshold]
        a, b = (
            self._numbers[pc.index_in(found[side], value_set=self._ids).to_numpy()]
            for side in ("id_a", "id_b")
        )
        near = a != b
        keys = np.unique(self._packed(a[near], b[near]))
        true = int(np.isin(keys, truth).sum())
        return {
            "pairs": len(truth),
            "found": true,
            "false": len(keys) - true,
            "recall": true / len(truth) if len(truth) else None,
        }

    def _packed(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
        return low << 32 | high


def _kept_join(path: Path, texts: list[str], k: int) -> pa.Table:
    harness.CACHE.mkdir(exist_ok=True)
    kept = harness.CACHE / f"promise-{path.parent.name}-{path.stem}-{k}-{THRESHOLDS[0]}.parquet"
    if not kept.exists():
        pq.write_table(join(number_shingles(texts, char_shingles, k), THRESHOLDS[0]), kept)
    return pq.read_table(kept)


if __name__ == "__main__":
    promises(harness.parser(__doc__.partition("\n")[0]).parse_args().data)
