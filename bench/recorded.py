"""What `find` and `dedup` answer on real corpora, as hashes: before and after a refactoring.

    python bench/recorded.py           # runs everything, and writes results/recorded.json
    python bench/recorded.py --check   # runs everything, and compares; exits with 1 on a difference

A hash covers the names of the columns and every value of every row, in order. It does not depend
on how Arrow or Spark store a value. Numbers that only say how the work went are left out: seconds,
candidates, and what was compared on the way.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import nearly

HERE = Path(__file__).resolve().parent
#: Columns that every corpus gets: its order, for a frame of Spark, and something to keep by.
ROW, RANK = "row", "rank"
PARTITIONS = 3
#: Settings that Spark is given a frame for, cut by rows; the others leave the cutting to nearly.
FRAMED = ("dedup-last-leader", "dedup-max")
#: Few partitions for small corpora: Spark takes 200 by default.
SPARK = {
    "engine": "spark",
    "master": "local[2]",
    "spark_conf": {"spark.sql.shuffle.partitions": "4", "spark.ui.enabled": "false"},
}

#: Counts of data, and choices that follow from data: the same on every engine.
COUNTED = (
    "documents",
    "skipped",
    "empty",
    "copies",
    "k",
    "method",
    "bands",
    "rows",
    "pairs",
    "clusters",
    "removed",
    "hubs",
    "audit",
)
TABLES = ("pairs", "clusters", "removed", "kept")

WORD_PAIRS = {"unit": "word", "k": 2}
STOP_WORDS = ("the", "a", "of", "and", "to", "in", "is")

#: name: (what to call, its options)
SETTINGS: Mapping[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "default": (nearly.find, {}),
    "raw-lsh": (nearly.find, {"raw": True, "k": 5, "method": "lsh"}),
    "words-exact": (nearly.find, {"unit": "word", "k": 3, "threshold": 0.5, "method": "exact"}),
    "words-all-pairs": (nearly.find, {"unit": "word", "k": 5, "raw": True, "all_pairs": True}),
    "leader-0.5": (nearly.find, {"threshold": 0.5, "cluster": "leader", "method": "lsh"}),
    "independent": (nearly.find, {**WORD_PAIRS, "scheme": "independent", "method": "lsh"}),
    "dropped": (
        nearly.find,
        {
            **WORD_PAIRS,
            "threshold": 0.5,
            "stop_words": STOP_WORDS,
            "punctuation": "drop",
            "accents": "drop",
            "digits": "drop",
            "mentions": "drop",
        },
    ),
    "audited": (nearly.find, {"method": "lsh", "recall": 0.9, "seed": 7, "audit": 60}),
    "dedup-longest": (nearly.dedup, {"keep": "longest"}),
    "dedup-last-leader": (
        nearly.dedup,
        {"keep": "last", "cluster": "leader", "threshold": 0.5, "method": "lsh"},
    ),
    "dedup-max": (nearly.dedup, {"keep": f"max:{RANK}", **WORD_PAIRS, "bands": 20, "rows": 4}),
    "dedup-shortest-exact": (
        nearly.dedup,
        {"keep": "shortest", "method": "exact", "threshold": 0.5, **WORD_PAIRS},
    ),
    "dedup-oldest-lsh": (
        nearly.dedup,
        {"keep": f"oldest:{RANK}", "method": "lsh", "raw": True, "space": "keep"},
    ),
}


@dataclass(frozen=True)
class Corpus:
    """A file of the data folder, perhaps only its first rows, and which engines read it."""

    file: str
    first: int | None = None
    engines: tuple[str, ...] = ("local",)

    @property
    def name(self) -> str:
        return self.file.removesuffix(".parquet") + (f"[:{self.first}]" if self.first else "")

    def read(self, data: Path) -> pa.Table:
        table = pq.read_table(data / self.file)
        table = table if self.first is None else table.slice(0, self.first)
        rows = range(table.num_rows)
        ranks = [row * 7_919 % 1_013 for row in rows]
        table = table.append_column(ROW, pa.array(rows, pa.int64()))
        return table.append_column(RANK, pa.array(ranks, pa.int64()))


BOTH = ("local", "spark")
CORPORA = (
    Corpus("articles/articles_1000.parquet", engines=BOTH),
    Corpus("plagiarism-answers/docs.parquet", engines=BOTH),
    Corpus("records/restaurants-dirty.parquet", engines=BOTH),
    Corpus("tweets/disaster.parquet", engines=BOTH),
    Corpus("debian/docs.parquet", first=6_000, engines=BOTH),
    Corpus("chinese/lcqmc.docs.parquet", first=4_000, engines=BOTH),
    Corpus("debian/docs.parquet", first=25_000),
    Corpus("debian-i18n/ja.parquet"),
    Corpus("debian-i18n/fr.parquet"),
    Corpus("chinese/lcqmc.docs.parquet"),
    Corpus("records/cora.parquet"),
    Corpus("java/docs.parquet"),
    Corpus("newsgroups/docs.parquet", first=6_000),
    Corpus("licences/docs.parquet", first=5_000),
    Corpus("tweets/troll-300k.parquet", first=150_000),
)


def main() -> None:
    asked = arguments()
    results: Path = asked.results
    found = dict(recorded(asked.data, asked.only))
    if asked.check:
        kept = json.loads(results.read_text())
        kept = {name: case for name, case in kept.items() if asked.only in name}
        sys.exit(report(list(differences(kept, found)), len(found)))
    sys.exit(disagreement(found) or save(results, found))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("NEARLY_DATA", HERE.parent.parent / "shared" / "data")),
        help="folder of corpora (default: $NEARLY_DATA, or ../shared/data beside the repository)",
    )
    parser.add_argument("--check", action="store_true", help="compare with what was recorded")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only cases whose name contains TEXT"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=HERE / "results" / "recorded.json",
        help="the file of hashes (default: results/recorded.json beside this script)",
    )
    asked = parser.parse_args()
    if asked.only and not asked.check:
        parser.error("--only leaves cases out: give --check too")
    return asked


def recorded(data: Path, only: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every case by its name: corpus, setting, engine."""
    for corpus in CORPORA:
        for engine in corpus.engines:
            names = [n for n in SETTINGS if only in f"{corpus.name} {n} {engine}"]
            table = corpus.read(data) if names else None
            for name in names:
                start = time.perf_counter()
                case = run(table, name, engine)
                seconds = time.perf_counter() - start
                print(f"{seconds:6.2f} s  {corpus.name} {name} {engine}", flush=True)
                yield f"{corpus.name} {name} {engine}", case


def run(table: pa.Table, name: str, engine: str) -> dict[str, Any]:
    """One call, as the hashes of its tables and its counts."""
    call, options = SETTINGS[name]
    where = SPARK if engine == "spark" else {}
    if engine == "spark" and name in FRAMED:
        table, where = frame_of(table), {}
    result = call(table, id="id", text="text", **where, **options)
    statistics = result.statistics.to_dict()
    tables = {name: hashed(getattr(result, name)) for name in TABLES if hasattr(result, name)}
    return {**{n: statistics[n] for n in COUNTED if n in statistics}, **tables}


def frame_of(table: pa.Table) -> Any:
    """The same rows as a frame of several partitions, in the session that an earlier run opened."""
    from pyspark.sql import SparkSession

    frame = SparkSession.builder.getOrCreate().createDataFrame(table)
    return frame.repartitionByRange(PARTITIONS, ROW).sortWithinPartitions(ROW)


def hashed(table: Any) -> str:
    """SHA-256 of the columns' names and the rows, each a line of JSON."""
    arrow = table if isinstance(table, pa.Table) else table.toArrow()
    digest = hashlib.sha256(line(arrow.column_names))
    for batch in arrow.to_batches(max_chunksize=10_000):
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            digest.update(line(row))
    return digest.hexdigest()


def line(values: Any) -> bytes:
    """JSON writes a float so that it reads back as the same float."""
    return json.dumps(values, default=str).encode() + b"\n"


def disagreement(found: Mapping[str, Mapping[str, Any]]) -> int:
    """Both engines have to give the same before it is worth recording."""
    on_spark = {n: case for n, case in found.items() if n.endswith(" spark")}
    here = {n: found[n.removesuffix("spark") + "local"] for n in on_spark}
    return report(list(differences(here, on_spark)), len(on_spark))


def differences(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """One line for each case that is missing, and each number or hash that is another."""
    for name in sorted(before.keys() | after.keys()):
        if name not in after or name not in before:
            yield f"{name}: {'is missing' if name in before else 'was not recorded'}"
            continue
        was, now = before[name], after[name]
        for part in [*was, *(part for part in now if part not in was)]:
            if was.get(part) != now.get(part):
                yield f"{name}: {part} was {was.get(part)}, is {now.get(part)}"


def report(lines: list[str], cases: int) -> int:
    """Print what differs; the exit code."""
    for each in lines:
        print(each)
    print(f"{cases} cases compared, {len(lines)} differences")
    return 1 if lines or not cases else 0


def save(results: Path, found: Mapping[str, Mapping[str, Any]]) -> int:
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(case)}" for name, case in found.items())
    results.write_text("{\n" + lines + "\n}\n")
    print(f"{len(found)} cases written to {results}")
    return 0


if __name__ == "__main__":
    main()
