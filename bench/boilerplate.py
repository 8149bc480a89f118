"""Documents with a common header, beside as many random ones: how much work does `find` waste?

Every document begins with the same passage and ends in words of its own, so that two of them are
0.5 to 0.79 similar: below the threshold of 0.8, but near enough to share a bucket. One in a hundred
is a near-copy of an earlier one: these are the pairs. The random documents are as long, and have as
many near-copies. A run that is too slow is given up, and says so.

    python bench/boilerplate.py [--documents 10000 200000]      # writes results/boilerplate.json
    python bench/boilerplate.py --kind header --documents 10000 -o FILE.parquet
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import harness
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

KINDS = ("header", "random")
PASSAGE = 40  # words
FEWEST_OWN, MOST_OWN = 6, 20  # words after the passage
COPIED = 100  # one document in so many is a near-copy
VOCABULARY, LETTERS = 50_000, 6
#: How often letters occur in English, in a thousand.
FREQUENCIES = dict(
    zip("etaoinshrdlcumwfgypbvk", (127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24,
                                   22, 20, 20, 19, 15, 10, 11), strict=True)
)  # fmt: skip
#: What is run on each corpus, by name. The large one is not run by the method that is wrong for it.
RUNS: dict[str, dict[str, Any]] = {
    "find": {},
    "find, hashed": {"method": "lsh"},
    "find, joined": {"method": "exact"},
    "dedup": {},
}
MOST_BY_REQUEST = 50_000
PATIENCE = 100  # seconds

Words = npt.NDArray[np.int64]


def texts(kind: str, count: int) -> pa.Array:
    """Seeded: the same documents everywhere."""
    draw = np.random.default_rng([3, KINDS.index(kind)])
    lengths = PASSAGE + draw.integers(FEWEST_OWN, MOST_OWN + 1, count)
    ends = np.cumsum(np.append(0, lengths))
    words = draw.integers(0, VOCABULARY, int(ends[-1]))
    if kind == "header":
        words[ends[:-1, None] + np.arange(PASSAGE)] = draw.integers(0, VOCABULARY, PASSAGE)
    documents = np.split(words, ends[1:-1])
    for copy in range(COPIED, count, COPIED):
        documents[copy] = documents[int(draw.integers(0, copy))].copy()
        documents[copy][-1] = draw.integers(0, VOCABULARY)
    spelt = vocabulary().take(pa.array(np.concatenate(documents)))
    ends = np.cumsum([0, *map(len, documents)])
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(ends, pa.int32()), spelt), " ")


def vocabulary() -> pa.Array:
    """Words of random letters, common letters more often."""
    slots = np.repeat(list(FREQUENCIES), list(FREQUENCIES.values()))
    letters = np.random.default_rng(3).integers(0, len(slots), (VOCABULARY, LETTERS))
    return pa.array(["".join(word) for word in slots[letters]])


def write(path: Path, kind: str, count: int) -> None:
    """Write the corpus as Parquet; ids are numbers written out."""
    ids = pa.array([str(row) for row in range(count)])
    pq.write_table(pa.table({"id": ids, "text": texts(kind, count)}), path)


def corpus(kind: str, count: int) -> Path:
    """The corpus in the cache, made in another process when it is not there."""
    harness.CACHE.mkdir(exist_ok=True)
    path = harness.CACHE / f"boilerplate-{kind}-{count}.parquet"
    if not path.exists():
        asked = ["--kind", kind, "--documents", str(count), "-o", str(path)]
        subprocess.run([sys.executable, __file__, *asked], check=True)
    return path


def run_once(path: str, run: str, unit: str) -> None:
    """One run in this process: prints what it took as JSON."""
    import nearly

    verb = getattr(nearly, run.partition(",")[0])
    before = time.process_time()
    seconds, result = harness.timed(
        lambda: verb(path, id="id", text="text", threshold=0.8, unit=unit, threads=2, **RUNS[run])
    )
    numbers = result.statistics.to_dict()
    names = ("method", "why", "largest_bucket", "meetings", "verified", "pairs", "removed")
    cpu = time.process_time() - before  # of all threads; says more where others use the machine too
    took = {"seconds": round(seconds, 3), "cpu": round(cpu, 2), "peak_bytes": harness.peak_bytes()}
    print(json.dumps(took | {name: numbers[name] for name in names if name in numbers}))


def measured(kind: str, count: int, unit: str, run: str) -> dict[str, Any]:
    """One run in a fresh process, which is given up after a while."""
    row: dict[str, Any] = {"kind": kind, "documents": count, "unit": unit, "run": run}
    path = corpus(kind, count)
    command = [sys.executable, __file__, "--once", str(path), "--run", run, "--unit", unit]
    try:
        said = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return row | {"given_up_after": PATIENCE}
    return row | json.loads(said.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("-o", "--output", type=Path, help="only write a corpus of this kind")
    parser.add_argument("--once", help=argparse.SUPPRESS)
    parser.add_argument("--run", choices=RUNS, action="append", help="only these runs")
    parser.add_argument("--unit", choices=("char", "word"), action="append", help="only these")
    asked = parser.parse_args()
    runs, units = asked.run or list(RUNS), asked.unit or ["char", "word"]
    if asked.output:
        write(asked.output, asked.kind, asked.documents[0])
        return
    if asked.once:
        run_once(asked.once, runs[0], units[0])
        return
    rows = [
        measured(kind, count, unit, run)
        for count in asked.documents
        for unit in units
        for run in runs
        for kind in KINDS
        if count <= MOST_BY_REQUEST or "," not in run
    ]
    columns = ("run", "unit", "kind", "documents", "method", "seconds", "cpu", "verified")
    harness.show(columns, [[row.get(name) for name in columns] for row in rows])
    harness.save("boilerplate", {"rows": rows})


if __name__ == "__main__":
    main()
