"""Does `--memory` hold? The peak of the whole process beside its limit, by corpus and command.

Each command runs in a process of its own, without a limit and with several; the peak is what the
system says of the process when it ends. What it writes has to be the same bytes as without a limit.

    python bench/memory.py [--limits 300 500 1000] [--corpora tweets] [--runs find dedup]
"""

import argparse
import hashlib
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

PROMISED = 150  # MB that the peak may lie above the limit
#: The ending of each corpus, and its documents.
CORPORA = {
    "tweets": (".csv", 2_400_000),
    "near-copies": (".parquet", 1_000),
    "long-texts": (".jsonl", 4_000),
}
RUNS = {
    "find": (["find"], ".parquet"),
    "find to csv": (["find"], ".csv"),
    "find to jsonl": (["find"], ".jsonl"),
    "dedup": (["dedup"], None),  # a clean copy in the format of the corpus
    "audit": (["find", "--audit", "50"], ".parquet"),
    "leader": (["find", "--cluster", "leader"], ".parquet"),
    "exact": (["find", "--method", "exact"], ".parquet"),
}


def made(name: str) -> Path:
    """A corpus of the cache; made when it is not there."""
    ending, documents = CORPORA[name]
    harness.CACHE.mkdir(exist_ok=True)
    path = harness.CACHE / f"{name}-{documents}{ending}"
    if not path.exists():
        asked = [name, "--documents", str(documents), "-o", str(path)]
        subprocess.run([sys.executable, harness.BENCH / "oversized.py", *asked], check=True)
    return path


def once(run: str, path: Path, limit: int | None, folder: Path, seconds: int) -> dict[str, Any]:
    """One command: its peak, its time, and a hash of what it wrote."""
    asked, ending = RUNS[run]
    output = folder / f"output{ending or path.suffix}"
    limited = [] if limit is None else ["--memory", f"{limit}MB"]
    command = [harness.nearly_command(), *asked, path, *limited, "--temporary", folder]
    start = time.perf_counter()
    said = subprocess.Popen(
        ["timeout", str(seconds), *command, "-o", output, "--force"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(said.pid, 0)
    said.returncode = os.waitstatus_to_exitcode(status)
    return {
        "corpus": path.stem,
        "run": run,
        "limit_mb": limit,
        "peak_mb": usage.ru_maxrss * 1024 // 10**6,
        "seconds": time.perf_counter() - start,
        "code": said.returncode,  # 124: it took too long
        "sha256": hashlib.sha256(output.read_bytes()).hexdigest() if output.exists() else None,
    }


def compared(runs: list[dict[str, Any]]) -> list[list[object]]:
    """A row a run; whether its output is that of the run without a limit."""
    unlimited = {(r["corpus"], r["run"]): r["sha256"] for r in runs if r["limit_mb"] is None}
    rows: list[list[object]] = []
    for r in runs:
        limit = r["limit_mb"]
        expected = unlimited.get((r["corpus"], r["run"]))
        rows.append(
            [
                f"{r['corpus']}, {r['run']}",
                limit,
                r["peak_mb"],
                None if limit is None else r["peak_mb"] - limit,
                r["seconds"],
                "too long" if r["code"] == 124 else r["code"],
                None if expected is None else str(expected == r["sha256"]),
            ]
        )
    return rows


def earlier(corpora: list[str], asked: list[str], limits: list[int]) -> list[dict[str, Any]]:
    """What was saved before of other corpora, commands or limits: it stays."""
    path = harness.RESULTS / "memory.json"
    saved = json.loads(path.read_text())["runs"] if path.exists() else []
    names = {f"{name}-{CORPORA[name][1]}" for name in corpora}
    return [
        run
        for run in saved
        if run["corpus"] not in names
        or run["run"] not in asked
        or run["limit_mb"] not in (None, *limits)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--limits", type=int, nargs="*", default=[300, 500, 1000], help="MB")
    parser.add_argument("--corpora", nargs="*", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=list(RUNS))
    parser.add_argument("--seconds", type=int, default=600, help="after which a run is ended")
    asked = parser.parse_args()
    runs = earlier(asked.corpora, asked.runs, asked.limits)
    for name in asked.corpora:
        path = made(name)
        for run in asked.runs:
            for limit in (None, *asked.limits):
                folder = Path(tempfile.mkdtemp(dir=harness.CACHE))
                try:
                    runs.append(once(run, path, limit, folder, asked.seconds))
                finally:
                    shutil.rmtree(folder)
                print(*compared(runs)[-1], file=sys.stderr, flush=True)
                harness.save("memory", {"promised_mb": PROMISED, "runs": runs})
    headings = ["corpus, run", "limit MB", "peak MB", "peak - limit", "seconds", "code", "same"]
    harness.show(headings, compared(runs))


if __name__ == "__main__":
    main()
