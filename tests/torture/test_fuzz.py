"""Mutated files: each is read or refused in one of nearly's own errors; none crashes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from ordeal import HERE, MEMORY, SECONDS, SEED, Tally

#: What is mutated, and how many files of it, if there is time.
GROUPS = {
    "texts": (30_000, ["CSV", "TSV", "JSON", "JSONL", "JSONL, gzip", "JSONL, Zstandard", "text"]),
    "long JSON": (5_000, ["long JSON", "long JSONL"]),
    "tables": (20_000, ["items", "passages", "weights", "vectors", "Parquet"]),
    "what nearly wrote": (30_000, ["plan", "saved pairs", "saved result", "index"]),
    "Arrow": (30_000, ["Arrow", "Arrow stream"]),
}


def fuzz(tally: Tally, kinds: list[str], seconds: float, cases: int) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        command = [sys.executable, HERE / "fuzz.py", folder, SEED, seconds, cases, *kinds]
        done = subprocess.run(
            [str(part) for part in command], capture_output=True, text=True, check=False
        )
        case = (Path(folder) / "case").read_text()
        assert done.returncode == 0, f"{case}: {done.returncode}\n{done.stderr[-3000:]}"
    counts = json.loads(done.stdout)
    for outcome, number in counts.items():
        tally.counts[outcome] += number
    tally.say()
    assert any(outcome.endswith("read") for outcome in counts)
    assert any(outcome.endswith("refused") for outcome in counts)


@pytest.mark.parametrize("group", GROUPS)
def test_some_mutated_files(group: str) -> None:
    fuzz(Tally(f"some mutated files: {group}"), GROUPS[group][1], 300, 80)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_many_mutated_files(group: str) -> None:
    files, kinds = GROUPS[group]
    fuzz(Tally(f"mutated files: {group}"), kinds, SECONDS, files)
