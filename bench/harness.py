"""What every benchmark shares: where the data is, how time is taken, where results go."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from machine import describe

BENCH = Path(__file__).resolve().parent
CACHE = BENCH / ".cache"
RESULTS = BENCH / "results"
#: The flags of the kernels in CMakeLists.txt: what is compared is compiled alike.
COMPILER = ["g++", "-std=c++20", "-O3", "-DNDEBUG", "-Wall", "-Wextra", "-fno-math-errno"]


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the one option that all benchmarks on real corpora have."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("NEARLY_DATA", BENCH.parent.parent / "shared" / "data")),
        help="folder of corpora (default: $NEARLY_DATA, or ../shared/data beside the repository)",
    )
    return made


def corpus(data: Path, name: str) -> Path:
    """The Parquet file of one corpus, or an exit that says how to get it."""
    path = data / name / "docs.parquet"
    if not path.is_file():
        sys.exit(f"There is no {path}. Give the folder of corpora by --data or NEARLY_DATA.")
    return path


def compiled(source: str, *, shared: bool = False) -> Path:
    """The program (or shared library) of a C++ file here, built again when the file is newer."""
    CACHE.mkdir(exist_ok=True)
    built = CACHE / (Path(source).stem + (".so" if shared else ""))
    if not built.exists() or built.stat().st_mtime < (BENCH / source).stat().st_mtime:
        kind = ["-shared", "-fPIC"] if shared else []
        subprocess.run([*COMPILER, *kind, "-o", built, BENCH / source], check=True)
    return built


def generated(documents: int) -> tuple[Path, int]:
    """A generated corpus of the cache, and its bytes of text; made when it is not there.

    It is made in another process: a child that is measured later would inherit our peak memory.
    """
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"generated-{documents}.parquet"
    size = path.with_suffix(".bytes")
    if not size.exists():
        asked = ["--documents", str(documents), "-o", str(path), "--bytes", str(size)]
        subprocess.run([sys.executable, str(BENCH / "generate.py"), *asked], check=True)
    return path, int(size.read_text())


def find_in_child(path: Path, *, limit: int | None = None, threads: int = 2) -> dict[str, Any]:
    """What `once.py` measured in a fresh process, under a limit of address space if given."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if threads == 1:  # one core for the reader's threads too
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    said = subprocess.run(
        [sys.executable, BENCH / "once.py", path, "--threads", str(threads)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=restrict,
    )
    if said.returncode:
        sys.exit(f"The run over {path.name} failed with code {said.returncode}; see above.")
    measured: dict[str, Any] = json.loads(said.stdout)
    return measured


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds on the wall, and what the work gave."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def median(seconds: Iterable[float]) -> float:
    """The middle one: a shared machine makes the mean meaningless."""
    return statistics.median(seconds)


def peak_bytes() -> int:
    """The most memory that this process ever held.

    Linux keeps it by address space in VmHWM; ru_maxrss would include the parent's before exec.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def nearly_command() -> str:
    """The `nearly` program of the interpreter that runs the benchmark."""
    return str(Path(sys.executable).parent / "nearly")


def installed() -> dict[str, str]:
    """The environment of a command: with bytecode, as pip leaves it behind when it installs."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def show(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: first column to the left, the others to the right."""
    lines = [list(map(_cell, line)) for line in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *rest = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *rest]))


def save(name: str, measured: dict[str, Any]) -> None:
    """Write results/NAME.json: what was measured, and on which machine."""
    RESULTS.mkdir(exist_ok=True)
    report = {"machine": describe(), **measured}
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
