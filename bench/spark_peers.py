"""The whole job in one Spark session: nearly against MLlib's MinHashLSH and plain map-reduce.

All contenders take the same DataFrame, held in memory in even partitions, and bring their pairs
to the driver. The session's start and one run of each over a thousand documents come before the
clock. Recall and precision are against the exact truth of `truth.py`.

MLlib does not join the whole debian corpus by characters in minutes: documents meet where they
agree in one value, and most that do are strangers. So it is measured on the first documents, and
on the whole corpus by words, where few meet; nearly is measured on the same documents each time.

    python bench/spark_peers.py [--data DIR] [--repeat 3] [--some 8000] [--only mllib]
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import harness
import mapreduce
import mllib
import pyarrow as pa
import pyarrow.parquet as pq
from judge import Judge
from pyspark.sql import DataFrame, SparkSession
from session import documents, session

K = 5
THRESHOLD = 0.8
#: By how many hash tables MLlib is run: the fewest, and enough for a recall of 0.99.
TABLES = (1, 3)
WARM_UP = 1_000
#: A contender that takes longer runs once: its noise is small beside the ratio.
LONG = 60  # seconds

#: Documents in, pairs out: a table with similarities, or (map-reduce) pairs of ids.
Contender = Callable[[DataFrame], pa.Table | list[tuple[str, str]]]


class Job(NamedTuple):
    """How documents are cut, how many of the corpus there are, and who is measured on them."""

    unit: str
    first: int | None
    contenders: dict[str, Contender]


def by_nearly(unit: str, frame: DataFrame) -> pa.Table:
    """nearly with nothing but the threshold, every pair listed as the others list them."""
    import nearly

    settings = {"unit": unit, "k": K, "threshold": THRESHOLD, "raw": True, "all_pairs": True}
    return nearly.find(frame, id="id", text="text", **settings).pairs.toArrow()


def by_mllib(unit: str, tables: int, frame: DataFrame) -> pa.Table:
    return mllib.near_pairs(frame, unit=unit, k=K, threshold=THRESHOLD, tables=tables)


def by_map_reduce(frame: DataFrame) -> list[tuple[str, str]]:
    return mapreduce.near_pairs(frame.rdd.map(tuple), K, THRESHOLD)


def all_jobs(some: int) -> list[Job]:
    """Who is measured on what."""

    def mllib_and_nearly(unit: str, first: int | None) -> Job:
        peers = {f"mllib, numHashTables={n}": partial(by_mllib, unit, n) for n in TABLES}
        return Job(unit, first, {"nearly": partial(by_nearly, unit), **peers})

    return [
        Job("char", None, {"nearly": partial(by_nearly, "char"), "map-reduce": by_map_reduce}),
        mllib_and_nearly("char", some),
        mllib_and_nearly("word", None),
    ]


def measure(spark: SparkSession, path: Path, job: Job, repeat: int) -> dict[str, Any]:
    """Seconds of every repetition, taken in turn, and the quality of each answer."""
    few, frame = documents(spark, path, WARM_UP), documents(spark, path, job.first)
    for contender in job.contenders.values():
        contender(few)
    judge = Judge(path, job.unit, K, THRESHOLD, job.first)
    measured: dict[str, Any] = {name: {"seconds": []} for name in job.contenders}
    for _ in range(repeat):
        for name, contender in job.contenders.items():
            taken = measured[name]["seconds"]
            if not taken or taken[0] < LONG:
                seconds, answer = harness.timed(partial(contender, frame))
                taken.append(seconds)
                measured[name].update(judge.quality(as_judged(answer, path)))
    for unneeded in (few, frame):
        unneeded.unpersist()
    return {name: {**m, "median": harness.median(m["seconds"])} for name, m in measured.items()}


def as_judged(answer: pa.Table | list[tuple[str, str]], path: Path) -> pa.Table | list[list[int]]:
    """A table as it is; of pairs without copies, the neighbours of every row, copies and all."""
    if not isinstance(answer, list):
        return answer
    corpus = pq.read_table(path, columns=["id", "text"])
    rows = {name: row for row, name in enumerate(corpus["id"].to_pylist())}
    neighbours: list[list[int]] = [[] for _ in rows]
    pairs = ((rows[a], rows[b]) for a, b in answer)
    for a, b in spell_out_copies(pairs, corpus["text"].to_pylist()):
        neighbours[a].append(b)
    return neighbours


def spell_out_copies(
    pairs: Iterable[tuple[int, int]], texts: list[str]
) -> Iterator[tuple[int, int]]:
    """Pairs of rows as if no copy had been dropped: copies are pairs, and pair like each other."""
    like: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        like.setdefault(text, []).append(row)
    for rows in like.values():
        yield from ((a, b) for a in rows for b in rows if a < b)
    for a, b in pairs:
        yield from ((x, y) for x in like[texts[a]] for y in like[texts[b]])


def report(job: Job, measured: dict[str, Any]) -> None:
    """The table of one job, with how many times faster nearly is."""
    print(f"\n{job.unit} k={K}, threshold {THRESHOLD}, {job.first or 'all'} documents")
    ours = measured.get("nearly", {}).get("median")
    harness.show(
        ["contender", "median s", "pairs", "recall", "precision", "it / nearly"],
        [
            [
                name,
                m["median"],
                m["pairs"],
                m["recall"],
                m["precision"],
                ours and m["median"] / ours,
            ]
            for name, m in measured.items()
        ],
    )


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--some", type=int, default=8_000, help="documents for MLlib by characters")
    parser.add_argument("--only", nargs="+", default=["nearly", "mllib", "map-reduce"])
    asked = parser.parse_args()
    path = harness.corpus(asked.data, "debian")
    results = []
    with session() as spark:
        spark.sparkContext.addPyFile(mapreduce.__file__)  # its functions run in the executors
        for job in all_jobs(asked.some):
            chosen = {n: c for n, c in job.contenders.items() if n.startswith(tuple(asked.only))}
            measured = measure(spark, path, job._replace(contenders=chosen), asked.repeat)
            report(job, measured)
            results.append({"unit": job.unit, "first": job.first, "contenders": measured})
    harness.save("spark_peers", {"threshold": THRESHOLD, "k": K, "jobs": results})


if __name__ == "__main__":
    main()
