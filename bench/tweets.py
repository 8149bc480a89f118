"""Manfredi's test set on real tweets: texts that differ only in their mentions.

Measured at his settings and at ours, over all such pairs and over those whose true similarity,
computed by the textbook, reaches the threshold. By hashing throughout: the exact join, which
nearly takes for small corpora, misses nothing.
"""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import nearly
from nearly.evaluation import agreement
from nearly.evaluation.linkage import link
from nearly.evaluation.mention import differing_in_mentions
from nearly.settings import TextSettings
from nearly.textbook import jaccard, normalise, shingles

#: What his system found of his test set.
MANFREDI_FOUND = 0.8545

#: How he makes shingles of a tweet: small letters only, but mentions and hashtags kept.
MANFREDI_TEXT: dict[str, Any] = {
    "unit": "char",
    "k": 5,
    "case": "fold",
    "punctuation": "drop",
    "mentions": "keep",
    "digits": "drop",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "Manfredi's": MANFREDI_TEXT | {"threshold": 0.7, "bands": 10, "rows": 10},
    "Manfredi's, but nearly's bands": MANFREDI_TEXT | {"threshold": 0.7},
    "nearly's, threshold 0.7": {"threshold": 0.7},
    "nearly's, threshold 0.8": {"threshold": 0.8},
}


def mentions(data: Path) -> list[dict[str, Any]]:
    """A row for each corpus of tweets and each way to search it."""
    rows = []
    for name in ("disaster", "troll-300k"):
        table = pq.read_table(data / "tweets" / f"{name}.parquet", columns=["id", "text"])
        texts = dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
        pairs = _pairs(differing_in_mentions(texts.items()))
        for title, settings in SETTINGS.items():
            rows.append({"corpus": name, "settings": title, **_measure(texts, pairs, settings)})
            print(rows[-1], flush=True)
    return rows


def _pairs(groups: pa.Table) -> list[tuple[str, str]]:
    members: dict[int, list[str]] = {}
    for row in groups.to_pylist():
        members.setdefault(row["cluster"], []).append(row["id"])
    return [pair for group in members.values() for pair in combinations(group, 2)]


def _measure(
    texts: dict[str, str], pairs: list[tuple[str, str]], settings: dict[str, Any]
) -> dict[str, Any]:
    found = nearly.find(texts, method="lsh", **settings)
    similarity = _similarities(texts, pairs, found.settings.text)
    reaching = [p for p, s in zip(pairs, similarity, strict=True) if s >= settings["threshold"]]
    bands, rows = found.statistics.bands, found.statistics.rows
    expected = 1 - (1 - similarity[similarity >= settings["threshold"]] ** rows) ** bands
    return {
        "k": found.statistics.k,
        "bands": bands,
        "rows": rows,
        "pairs": len(pairs),
        "recall": _recall(found.pairs, pairs),
        "reaching": len(reaching),
        "recall_of_reaching": _recall(found.pairs, reaching),
        "expected_of_reaching": float(expected.mean()),
    }


def _similarities(
    texts: dict[str, str], pairs: list[tuple[str, str]], settings: TextSettings
) -> np.ndarray:
    sets = {
        name: shingles(normalise(texts[name], settings), settings.unit, settings.whole_k)
        for name in {name for pair in pairs for name in pair}
    }
    return np.array([float(jaccard(sets[a], sets[b])) for a, b in pairs])


def _recall(found: pa.Table, pairs: list[tuple[str, str]]) -> float | None:
    gold = pa.table({"id_a": [a for a, _ in pairs], "id_b": [b for _, b in pairs]})
    linked = link(found, gold)
    return agreement.evaluate(linked.found, linked.gold).pairs.recall
