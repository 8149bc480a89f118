"""Mutated files: each is read or refused in one of nearly's own errors; none crashes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from ordeal import HERE, MEMORY, SECONDS, SEED, Tally

GROUPS = [
    pytest.param(["CSV", "TSV", "JSON", "JSONL", "text"], id="texts"),
    pytest.param(["Parquet", "plan", "saved pairs"], id="files of programs"),
    pytest.param(["Arrow", "Arrow stream"], id="Arrow"),
]


FILES = 45_000  # of each group, if there is time


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


@pytest.mark.parametrize("kinds", GROUPS)
def test_some_mutated_files(kinds: list[str]) -> None:
    fuzz(Tally("some mutated files"), kinds, 300, 80)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", GROUPS)
def test_many_mutated_files(kinds: list[str]) -> None:
    fuzz(Tally("mutated files"), kinds, SECONDS, FILES)
