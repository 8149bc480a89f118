"""Labelled sets: what `nearly find` finds, against what people (or metadata) say is the same.

Each set is searched once at its lowest threshold; a sweep cuts that answer at every threshold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

import nearly
from nearly.evaluation import agreement
from nearly.evaluation.agreement import Cut, PairCounts
from nearly.evaluation.linkage import link

#: What the truth speaks of: every pair; those it labels; those across two tables; or it knows
#: only some of the true pairs, so that nothing found can be called false.
Scope = Literal["every pair", "labelled pairs", "across the sides", "recall only"]


@dataclass(frozen=True, kw_only=True)
class LabelledSet:
    """Documents, their truth, and how they are searched."""

    name: str
    documents: str
    gold: str
    scope: Scope
    settings: Mapping[str, Any]
    stated: float
    lowest: float = 0.2
    labels: str | None = None
    #: A column of the truth that says how hard a pair is.
    levels: str | None = None
    keep: Callable[[pa.Table], pa.Table] = field(default=lambda gold: gold)


WORDS = {"unit": "word", "k": 1, "punctuation": "drop"}
WORD_TRIPLES = {"unit": "word", "k": 3, "punctuation": "drop"}


def _records(name: str, scope: Scope, lowest: float = 0.2) -> LabelledSet:
    return LabelledSet(
        name=f"records/{name}",
        documents=f"records/{name}.parquet",
        gold=f"records/{name}.gold.csv",
        scope=scope,
        settings=WORDS,
        stated=0.5,
        lowest=lowest,
    )


def _articles(count: int) -> LabelledSet:
    return LabelledSet(
        name=f"articles/{count}",
        documents=f"articles/articles_{count}.parquet",
        gold=f"articles/articles_{count}.gold.csv",
        scope="every pair",
        settings=WORD_TRIPLES,
        stated=0.5,
        lowest=0.1,
    )


SETS = (
    *map(_articles, (100, 1000, 2500)),
    LabelledSet(
        name="plagiarism-answers",
        documents="plagiarism-answers/docs.parquet",
        gold="plagiarism-answers/gold.csv",
        labels="plagiarism-answers/labels.csv",
        levels="level",
        scope="labelled pairs",
        settings={"unit": "char", "k": 5},
        stated=0.2,
        lowest=0.05,
    ),
    _records("cora", "every pair"),
    _records("dblp-acm", "across the sides"),
    _records("restaurants-dirty", "every pair"),
    _records("abt-buy", "across the sides", lowest=0.1),
    _records("amazon-google", "across the sides", lowest=0.1),
    LabelledSet(
        name="java",
        documents="java/docs.parquet",
        gold="java/gold.csv",
        labels="java/labels.csv",
        levels="level",
        scope="labelled pairs",
        settings={"unit": "char", "k": 5},
        stated=0.5,
        lowest=0.1,
    ),
    LabelledSet(
        name="chinese",
        documents="chinese/lcqmc.docs.parquet",
        gold="chinese/lcqmc.gold.csv",
        labels="chinese/lcqmc.labels.csv",
        scope="labelled pairs",
        settings={"unit": "char", "k": 1, "punctuation": "drop"},
        stated=0.6,
        lowest=0.4,
    ),
    LabelledSet(
        name="newsgroups",
        documents="newsgroups/docs.parquet",
        gold="newsgroups/gold_crossposts.csv",
        scope="recall only",
        settings=WORD_TRIPLES,
        stated=0.8,
        lowest=0.3,
    ),
    LabelledSet(
        name="licences",
        documents="licences/docs.parquet",
        gold="licences/gold_licence_text.csv",
        scope="recall only",
        settings=WORD_TRIPLES,
        stated=0.8,
        lowest=0.6,
        keep=lambda gold: gold.filter(pc.greater_equal(gold["jaccard_w3"], 0.8)),
    ),
)


def labelled(data: Path) -> list[dict[str, Any]]:
    """Everything that is measured of every set."""
    return [_measure(data, each) for each in SETS]


def best_of(data: Path, each: LabelledSet, lowest: float, **how: Any) -> dict[str, Any]:
    """The best F1 from a threshold upwards, by any way to compare documents."""
    _, _, _, _, _, cuts = _sweep(data, each, lowest, how)
    return _point(_best(cuts))


def _sweep(data: Path, each: LabelledSet, lowest: float, how: Mapping[str, Any]) -> Any:
    """Everything down to a threshold, found once and cut at every higher one."""
    table = pq.read_table(data / each.documents)
    gold = each.keep(_read(data / each.gold, table))
    found = nearly.find(table, id="id", text="text", threshold=lowest, all_pairs=True, **how)
    pairs = _in_scope(found.pairs, data, each, table)
    linked = link(pairs, gold, table["id"])
    thresholds = [n / 20 for n in range(round(lowest * 20), 20)]
    cuts = agreement.sweep(linked.found, linked.gold, thresholds)
    return table, gold, found, pairs, linked, cuts


def _measure(data: Path, each: LabelledSet) -> dict[str, Any]:
    table, gold, found, pairs, linked, cuts = _sweep(data, each, each.lowest, each.settings)
    stated = next(cut for cut in cuts if cut.threshold == each.stated)
    at_stated = pairs.filter(pc.greater_equal(pairs["similarity"], each.stated))
    whole = agreement.evaluate(link(at_stated, gold, table["id"]).found, linked.gold)
    row = {
        "set": each.name,
        "documents": table.num_rows,
        "gold": linked.gold.weights.sum().item(),
        "unknown_ids": len(linked.unknown),
        "scope": each.scope,
        "settings": dict(each.settings),
        "lowest": each.lowest,
        "method": found.statistics.method,
        "stated": _point(stated),
        "best": None if each.scope == "recall only" else _point(_best(cuts)),
        "adjusted_rand": whole.clusters.adjusted_rand,
        "b_cubed_f1": whole.clusters.f1,
        "levels": _levels(gold, at_stated, each),
        "sweep": [_point(cut) for cut in cuts],
    }
    print({name: row[name] for name in ("set", "gold", "stated", "best", "levels")}, flush=True)
    return row


def _read(path: Path, documents: pa.Table) -> pa.Table:
    """A CSV file whose ids are as the documents have them, not as they look."""
    kind = documents["id"].type
    types = pa.csv.ConvertOptions(column_types={"id_a": kind, "id_b": kind})
    return pa.csv.read_csv(path, convert_options=types)


def _in_scope(pairs: pa.Table, data: Path, each: LabelledSet, documents: pa.Table) -> pa.Table:
    """Of the pairs that were found, those of which the truth speaks."""
    if each.scope == "labelled pairs":
        return pairs.filter(_among(pairs, _read(data / each.labels, documents)))
    if each.scope == "across the sides":
        a, b = (
            documents["side"].take(pc.index_in(pairs[name], value_set=documents["id"]))
            for name in ("id_a", "id_b")
        )
        return pairs.filter(pc.not_equal(a, b))
    return pairs


def _among(pairs: pa.Table, others: pa.Table) -> pa.Array:
    """Which pairs stand among the others, whatever their order."""
    known = {frozenset(pair) for pair in _ids(others)}
    return pa.array([frozenset(pair) in known for pair in _ids(pairs)], pa.bool_())


def _ids(pairs: pa.Table) -> list[tuple[str, str]]:
    return list(zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True))


def _levels(gold: pa.Table, found: pa.Table, each: LabelledSet) -> dict[str, Any]:
    """Recall at the stated threshold by level of the truth."""
    if each.levels is None:
        return {}
    levels = np.array(gold[each.levels].to_pylist())
    hits = np.array(_among(gold, found).to_pylist())
    return {
        level: {"gold": int((levels == level).sum()), "found": int(hits[levels == level].sum())}
        for level in sorted(set(levels.tolist()))
    }


def _best(cuts: list[Cut]) -> Cut:
    """The best F1; of equals, the highest threshold, which is the safest."""
    return max(cuts, key=lambda cut: (cut.pairs.f1 or 0, cut.threshold))


def _point(cut: Cut) -> dict[str, Any]:
    counts: PairCounts = cut.pairs
    return {
        "threshold": cut.threshold,
        "found": counts.found,
        "true": counts.true,
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
    }
