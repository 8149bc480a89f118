"""Time as a large corpus doubles in bounded memory: 2 to 32 million generated documents.

The corpus lies in files of 2 million documents, and a size is the first so many of them. Each runs
as the command with `--memory 4GB`, and its pairs are written as Parquet. Processor seconds stand
beside those on the wall, which other work on the machine makes longer.

    python bench/growth.py [--largest 32000000] [--smallest 2000000] [--memory 4GB]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import harness
import pyarrow.parquet as pq

PART = 2_000_000  # documents in a file
PROMISED = 2.1
SETTINGS = ("--id=id", "--text=text", "--unit=char", "--k=5", "--threshold=0.8", "--raw", "--quiet")


def part(number: int) -> tuple[Path, int]:
    """A file of the corpus, and its bytes of text; made when it is not there."""
    harness.CACHE.mkdir(exist_ok=True)
    path = harness.CACHE / f"growth-{number:02d}.parquet"
    size = path.with_suffix(".bytes")
    if not size.exists():
        asked = ["--documents", str(PART), "--first", str(number * PART), "--bytes", str(size)]
        made = [sys.executable, str(harness.BENCH / "generate.py"), *asked, "-o", str(path)]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    return path, int(size.read_text())


def measure(documents: int, memory: str) -> dict[str, Any]:
    """One command over the first N documents."""
    parts = [part(number) for number in range(documents // PART)]
    folder = Path(tempfile.mkdtemp(dir=harness.CACHE))
    pairs = folder / "pairs.parquet"
    command = [harness.nearly_command(), "find", *(str(path) for path, _ in parts), *SETTINGS]
    command += ["--memory", memory, "--temporary", str(folder), "-o", str(pairs)]
    start = time.perf_counter()
    run = subprocess.Popen(command, env=harness.installed())
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    try:
        found = pq.read_metadata(pairs).num_rows if run.returncode == 0 else None
    finally:
        shutil.rmtree(folder)
    return {
        "documents": documents,
        "text_bytes": sum(size for _, size in parts),
        "pairs": found,
        "code": run.returncode,
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "load": os.getloadavg()[0],
    }


def earlier(sizes: list[int]) -> list[dict[str, Any]]:
    """What was saved before of other sizes: it stays."""
    path = harness.RESULTS / "growth.json"
    saved = json.loads(path.read_text())["sizes"] if path.exists() else []
    return [run for run in saved if run["documents"] not in sizes]


def rows(measured: list[dict[str, Any]]) -> list[list[object]]:
    """A row a size, with its times beside those of half of it."""
    halves = {m["documents"] * 2: m for m in measured}
    kinds = ("seconds", "processor_seconds")
    return [
        [
            m["documents"],
            m["pairs"],
            *(m[kind] for kind in kinds),
            *(m[kind] / half[kind] if half else None for kind in kinds),
            m["peak_bytes"] // 10**6,
            m["load"],
        ]
        for m in measured
        for half in [halves.get(m["documents"])]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smallest", type=int, default=PART)
    parser.add_argument("--largest", type=int, default=16 * PART)
    parser.add_argument("--memory", default="4GB")
    asked = parser.parse_args()
    sizes = [PART << times for times in range(20)]
    sizes = [size for size in sizes if asked.smallest <= size <= asked.largest]
    measured = earlier(sizes)
    for size in sizes:
        measured.append(measure(size, asked.memory))
        measured.sort(key=lambda run: run["documents"])
        harness.save("growth", {"promised": PROMISED, "memory": asked.memory, "sizes": measured})
    headings = ["documents", "pairs", "seconds", "CPU s", "times half", "by CPU", "peak MB", "load"]
    harness.show(headings, rows(measured))


if __name__ == "__main__":
    main()
