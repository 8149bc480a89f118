"""What `nearly unique` takes for ten million lines, and for a billion on paper.

About every sixth line is a copy of an earlier one. The command reads a file as its standard input;
the last run has filters of the size that a billion lines need.

    python bench/unique.py [--lines 10000000] [--near-lines 1000000]
"""

import argparse
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import harness

from nearly.settings import TextSettings, UniqueSettings
from nearly.streams.sieve import Sieve, size_of
from nearly.tuning.bloom import BloomSize

WORDS = 8


def made(lines: int) -> Path:
    """A file of lines of about eight words, kept in the cache."""
    harness.CACHE.mkdir(exist_ok=True)
    path = harness.CACHE / f"lines-{lines}.txt"
    if not path.exists():
        drawn = random.Random(1)
        vocabulary = [
            "".join(drawn.choices("abcdefghijklmnop", k=3 + i % 8)) for i in range(50_000)
        ]
        with path.open("w") as file:
            for i in range(lines):
                state = drawn.randrange(max(1, i)) if i % 5 == 4 else i
                pick = random.Random(state)
                file.write(
                    " ".join(vocabulary[int(pick.random() * 50_000)] for _ in range(WORDS)) + "\n"
                )
    return path


def run(path: Path, *options: str) -> dict[str, Any]:
    """Seconds, peak memory and what the command said."""
    command = [harness.nearly_command(), "unique", "-", *options]
    start = time.perf_counter()
    with path.open("rb") as lines:
        process = subprocess.Popen(
            command, stdin=lines, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, said
    return {
        "options": options,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "said": said.splitlines(),
    }


def on_paper(items: int, *, near: bool) -> dict[str, Any]:
    """The memory of filters for so many different lines."""
    sizes = {}
    for error in (0.01, 0.001, 0.0001, 0.000001):
        settings = UniqueSettings(expect=items, error=error, near=near)
        filters = 10 if near else 1
        size: BloomSize = size_of(settings, filters)
        sizes[str(error)] = filters * size.bytes
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--near-lines", type=int, default=1_000_000)
    asked = parser.parse_args()
    assert Sieve(UniqueSettings(near=True, expect=10), TextSettings()).memory  # ten filters
    many, fewer = made(asked.lines), made(asked.near_lines)
    runs = {
        "exact": run(many),
        "near": run(fewer, "--near"),
        "exact, filters for a billion": run(many, "--expect", "1000000000"),
    }
    harness.show(
        ["run", "seconds", "cpu", "peak MB"],
        [
            [name, each["seconds"], each["cpu_seconds"], each["peak_bytes"] // 10**6]
            for name, each in runs.items()
        ],
    )
    billion = {kind: on_paper(10**9, near=kind == "near") for kind in ("exact", "near")}
    harness.show(
        ["GB for a billion lines, by error", *billion["exact"]],
        [[kind, *(size / 10**9 for size in sizes.values())] for kind, sizes in billion.items()],
    )
    harness.save(
        "unique",
        {"lines": asked.lines, "near_lines": asked.near_lines, "runs": runs, "billion": billion},
    )


if __name__ == "__main__":
    main()
