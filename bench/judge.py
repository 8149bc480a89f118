"""Measures an answer by the exact truth: recall, precision, and whether similarities are exact."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from truth import truth

Numbers = npt.NDArray[np.int64]


class Judge:
    """Holds the exact truth of one corpus and measures answers by it."""

    def __init__(
        self,
        path: Path,
        unit: str,
        k: int,
        threshold: float,
        first: int | None = None,
        exact: pa.Table | None = None,
    ) -> None:
        exact = truth(path, unit, k, threshold) if exact is None else exact
        if first is not None:  # an answer about the first documents only
            exact = exact.filter(pc.less(exact["b"], first))
        ids = pq.read_table(path, columns=["id"])["id"].to_pylist()
        self.rows = {name: row for row, name in enumerate(ids)}
        self.keys = exact["a"].to_numpy().astype(np.int64) * len(ids) + exact["b"].to_numpy()
        self.similarities = exact["similarity"].to_numpy()

    def quality(self, answer: pa.Table | list[list[int]]) -> dict[str, Any]:
        """Recall and precision; of a table with similarities, also whether they are exact."""
        if isinstance(answer, list):
            return self._shares(np.unique(self._keys(*_flatten(answer))))
        a, b = (
            np.array([self.rows[name] for name in answer[side].to_pylist()], np.int64)
            for side in ("id_a", "id_b")
        )
        keys, first = np.unique(self._keys(a, b), return_index=True)
        said = answer["similarity"].to_numpy()[first]
        known = np.isin(keys, self.keys)
        real = self.similarities[np.searchsorted(self.keys, keys[known])]
        worst = float(np.abs(said[known] - real).max(initial=0))
        return {**self._shares(keys), "worst_similarity_error": worst}

    def quality_of_rows(self, pairs: Numbers) -> dict[str, Any]:
        """Recall and precision of pairs of rows."""
        return self._shares(np.unique(self._keys(pairs[:, 0], pairs[:, 1])))

    def _keys(self, a: Numbers, b: Numbers) -> Numbers:
        distinct = a != b  # a peer also finds the document itself
        a, b = a[distinct], b[distinct]
        return np.minimum(a, b) * len(self.rows) + np.maximum(a, b)

    def _shares(self, keys: Numbers) -> dict[str, Any]:
        right = int(np.isin(keys, self.keys).sum())
        precision = right / len(keys) if len(keys) else 1.0
        return {"pairs": len(keys), "recall": right / len(self.keys), "precision": precision}


def _flatten(neighbours: list[list[int]]) -> tuple[Numbers, Numbers]:
    counts = [len(found) for found in neighbours]
    b = np.fromiter((n for found in neighbours for n in found), np.int64, sum(counts))
    return np.repeat(np.arange(len(neighbours)), counts), b
