"""Two checkouts of nearly beside each other, in turn: is the newer one slower?

Each checkout has its own .venv with nearly installed. A run is a process of its own that finds
once to warm up and then several times; processes of the two take turns, so that a slow minute of
the machine hits both. Ratios are of medians and of minima; `--help` is timed as a command.

    python bench/beside.py OLD NEW [--data DIR] [--turns 5] [--spark]
"""

import argparse
import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import harness

#: What a process of either checkout runs: both know these arguments.
FIND = """
import json, sys, time
import nearly
path, unit, engine, repeat = sys.argv[1:]
def once():
    start = time.perf_counter()
    found = nearly.find(path, id="id", text="text", unit=unit, k=5, threshold=0.8, raw=True,
                        **({} if engine == "local" else {"engine": engine}))
    if engine == "spark":
        found.pairs.count(), found.clusters.count()
    else:
        found.pairs.num_rows, found.clusters.num_rows
    return time.perf_counter() - start
if __name__ == "__main__":
    if engine == "spark":
        from pyspark.sql import SparkSession
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    once()
    print(json.dumps([once() for _ in range(int(repeat))]))
"""
HELP = """
import json, subprocess, sys, time
def once():
    start = time.perf_counter()
    subprocess.run([sys.argv[1], "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start
once()
print(json.dumps([once() for _ in range(10)]))
"""


def run(checkout: Path, script: str, *arguments: str) -> list[float]:
    """The seconds that a process of this checkout prints."""
    python = str(checkout / ".venv/bin/python")
    done = subprocess.run(
        [python, "-c", script, *arguments],
        env={**os.environ, "PYSPARK_PYTHON": python},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
    )
    seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def beside(old: Path, new: Path, asked: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Every case in turn, old and new."""
    corpus = str(harness.corpus(asked.data, "debian"))
    cases = {
        f"{engine}, {unit} 5": (FIND, corpus, unit, engine, "3" if engine == "spark" else "5")
        for engine in (["spark"] if asked.spark else ["local"])
        for unit in ("char", "word")
    }
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(asked.turns):
        for name, case in cases.items():
            for which, checkout in (("old", old), ("new", new)):
                seconds[name, which] += run(checkout, *case)
        if not asked.spark:
            for which, checkout in (("old", old), ("new", new)):
                seconds["--help", which] += run(checkout, HELP, str(checkout / ".venv/bin/nearly"))
    names = dict.fromkeys(name for name, _ in seconds)
    return {name: summary(seconds[name, "old"], seconds[name, "new"]) for name in names}


def summary(old: list[float], new: list[float]) -> dict[str, Any]:
    """Medians, minima and their ratios."""
    return {
        "old_median": median(old),
        "new_median": median(new),
        "ratio_of_medians": median(new) / median(old),
        "ratio_of_minima": min(new) / min(old),
        "runs": len(new),
    }


def main() -> None:
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--spark", action="store_true", help="on Spark instead of one machine")
    asked = parser.parse_args()
    measured = beside(asked.old, asked.new, asked)
    for name, figures in measured.items():
        print(
            f"{name:14} old {figures['old_median']:.3f} s, new {figures['new_median']:.3f} s, "
            f"ratio {figures['ratio_of_medians']:.3f}, of minima {figures['ratio_of_minima']:.3f}"
        )
    harness.save("beside_spark" if asked.spark else "beside", {"cases": measured})


if __name__ == "__main__":
    main()
