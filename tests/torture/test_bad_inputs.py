"""Bad command lines and bad calls: each is refused in one line, and nothing is left behind."""

import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ordeal import make_inputs

import nearly
from nearly.cli.program import run
from nearly.plans import load_plan

#: Each with what a user might have meant; $W is the folder that all is in.
COMMAND_LINES = """
nearly find
nearly find nowhere.csv
nearly find nowhere/*.csv
nearly find ''
nearly find docs --glob '*.nothing'
nearly find table.csv --glob '*.txt'
nearly find table.csv --text nothing
nearly find table.csv --id nothing
nearly find table.csv --id id --id text --text nothing
nearly find docs --text text
nearly find docs --id id
nearly find table.csv docs/a.txt
nearly find table.csv --threshold 2
nearly find table.csv --threshold -0.1
nearly find table.csv --threshold 0
nearly find table.csv --threshold nan
nearly find table.csv --threshold inf
nearly find table.csv --threshold much
nearly find table.csv --recall 2
nearly find table.csv --recall nan
nearly find table.csv --k 0
nearly find table.csv --k -3
nearly find table.csv --k 1000000000000000000000
nearly find table.csv --k some
nearly find table.csv --unit page
nearly find table.csv --bands 0
nearly find table.csv --bands 3
nearly find table.csv --rows 3
nearly find table.csv --bands 1000000 --rows 1000000
nearly find table.csv --bands -1 --rows -1
nearly find table.csv --permutations 0
nearly find table.csv --permutations -8
nearly find table.csv --permutations 99999999999
nearly find table.csv --seed -1
nearly find table.csv --seed 99999999999999999999999
nearly find table.csv --method guess
nearly find table.csv --audit -1
nearly find table.csv --threads 0
nearly find table.csv --threads -1
nearly find table.csv --threads many
nearly find table.csv --threads 1000000000
nearly find table.csv --memory lots
nearly find table.csv --memory -1
nearly find table.csv --memory ''
nearly find table.csv --temporary nowhere
nearly find table.csv --temporary table.csv
nearly find table.csv --temporary /proc
nearly find table.csv --stop-words nowhere.txt
nearly find table.csv --stop-words docs
nearly find table.csv -o pairs
nearly find table.csv -o pairs.xyz
nearly find table.csv -o nowhere/pairs.csv
nearly find table.csv -o docs
nearly find table.csv -o table.csv
nearly find table.csv -o /dev/null
nearly find table.csv -o /proc/pairs.csv
nearly find table.csv -o s3a://bucket/pairs.csv
nearly find table.csv -o p.csv --clusters p.csv
nearly find table.csv -o p.csv --clusters ./p.csv
nearly find table.csv -o p.csv --skipped docs/../p.csv
nearly find table.csv --clusters c.csv --skipped c.csv
nearly find table.csv --engine cloud
nearly find table.csv --master 'local[0]' --threads 2
nearly find table.csv --checkpoint there
nearly find table.csv --spark-conf nonsense
nearly find "SELECT nonsense FROM nowhere"
nearly find "SELECT 1 AS text; DROP TABLE x"
nearly find "SELECT"
nearly find "WITH x AS (SELECT 1)"
nearly find empty.parquet
nearly find empty.arrow
nearly find zeros.csv
nearly find zeros.jsonl
nearly find zeros.parquet
nearly find zeros.csv.gz
nearly find zeros.jsonl.zst
nearly find loop
nearly find pipe
nearly find /dev/null
nearly find --nonsense
nearly find table.csv --lines --text text
nearly dedup
nearly dedup table.csv
nearly dedup nowhere.csv -o clean.csv
nearly dedup table.csv -o clean.docx
nearly dedup table.csv -o clean.csv --keep best
nearly dedup table.csv -o clean.csv --keep newest
nearly dedup table.csv -o clean.csv --keep newest:nothing
nearly dedup table.csv -o clean.csv --keep max:text:more
nearly dedup table.csv -o clean.csv --removed clean.csv
nearly dedup docs -o plan.csv
nearly dedup docs -o clean.json --removed clean.json
nearly dedup docs -o clean.json --clusters clean.json
nearly dedup docs -o nowhere/plan.json
nearly apply
nearly apply nowhere.json
nearly apply docs
nearly apply table.csv
nearly apply table.jsonl
nearly apply empty.json
nearly apply zeros.jsonl --yes
nearly apply found.csv --yes --trash trash
nearly compare
nearly compare docs/a.txt
nearly compare docs/a.txt nowhere.txt
nearly compare docs/a.txt docs
nearly compare docs/a.txt zeros.csv
nearly compare docs/a.txt docs/b.txt --k 0
nearly compare docs/a.txt docs/b.txt --append table.csv
nearly compare docs/a.txt docs/b.txt --append docs
nearly compare docs/a.txt docs/b.txt --append nowhere/results.tsv
nearly tune --threshold 2
nearly tune --recall -1
nearly tune --bands 2
nearly tune --documents 0
nearly tune --at 2
nearly tune nowhere.csv
nearly tune table.csv --sample 0
nearly tune --plot curve
nearly tune --plot curve.xyz
nearly tune --plot nowhere/curve.svg
nearly tune table.csv --plot curve.svg --skipped curve.svg
nearly evaluate
nearly evaluate found.csv
nearly evaluate found.csv --gold nowhere.csv
nearly evaluate nowhere.csv --gold found.csv
nearly evaluate table.csv --gold found.csv
nearly evaluate found.csv --gold table.csv
nearly evaluate found.csv --gold found.csv --sweep 1
nearly evaluate found.csv --gold found.csv --sweep 1:0:1
nearly evaluate found.csv --gold found.csv --plot bars
nearly evaluate found.csv --gold empty.csv
nearly evaluate found.csv --gold found.csv --id id
nearly mentions
nearly mentions nowhere.csv -o groups.csv
nearly mentions table.csv
nearly mentions table.csv -o groups
nearly find table.csv -o table.csv --force
nearly find 'table.*' -o ./table.parquet --force
nearly find docs --against table.csv --clusters docs/../table.csv --force
nearly find table.csv --skipped table.csv --force
nearly find table.csv --ignore /dev/zero
nearly find table.csv --ignore nowhere.txt
nearly dedup table.csv -o clean.csv --removed table.csv --force
nearly dedup table.csv --passages -o clean.csv --removed table.csv --force
nearly dedup table.csv --passages
nearly passages
nearly passages nowhere.csv
nearly passages table.csv -o table.csv --force
nearly passages table.csv --ignore docs/a.txt --pairs docs/a.txt --force
nearly passages table.csv -o p.csv --documents ./p.csv
nearly passages table.csv --least 0
nearly passages table.csv --crowd -1
nearly passages table.csv --crowd 99999999999999999999
nearly passages table.csv --least 99999999999999999999
nearly passages pipe
nearly dedup table.csv --passages --least 99999999999999999999 -o clean.csv
nearly find table.csv --against pipe
nearly find table.csv --weights pipe
nearly find table.csv --weights /dev/zero
nearly find table.csv --vector text
nearly find table.csv --items text
nearly passages table.csv --ignore /dev/zero
nearly passages table.csv --temporary /proc
nearly passages table.csv --threads 1000000000
nearly tune table.csv --skipped table.csv --force
nearly mentions table.csv -o table.csv --force
nearly compare docs/a.txt /dev/zero
nearly explain
nearly explain docs/a.txt docs/a.txt
nearly explain docs/a.txt /dev/zero
nearly explain docs/a.txt nowhere.txt
nearly unique nowhere.csv
nearly unique table.csv --error 2
nearly report
nearly report nowhere -o report.html
nearly report docs -o report.html
nearly report table.csv -o report.html
nearly serve nowhere
nearly serve docs --port 99999999
nearly serve pipe
nearly serve /dev/null
nearly index
nearly index create
nearly index create docs table.csv
nearly index create seen nowhere.csv
nearly index create seen table.csv --threshold 2
nearly index add nowhere table.csv
nearly index add docs table.csv
nearly index check docs
nearly index remove nowhere 1
nearly index check pipe
nearly index add docs pipe
nearly index create pipe table.csv
nearly index create seen /dev/zero
nearly index snapshot docs seen
nearly index restore docs seen
nearly query
nearly query docs pipe
nearly query nowhere docs/a.txt
nearly query docs docs/a.txt
nearly query docs /dev/zero
nearly completion
nearly completion powershell
nearly nonsense
nearly --nonsense
""".strip().splitlines()


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    work = tmp_path / "work"
    make_inputs(work)
    (tmp_path / "tmp").mkdir()
    (work / "empty").mkdir()
    for name in ("empty.csv", "empty.json", "empty.jsonl", "empty.parquet", "empty.arrow"):
        (work / name).touch()
    for name in ("zeros.csv", "zeros.jsonl", "zeros.parquet", "zeros.csv.gz", "zeros.jsonl.zst"):
        (work / name).write_bytes(bytes(5_000))
    (work / "header.csv").write_text("id,text\n")
    (work / "loop").symlink_to("loop")
    os.mkfifo(work / "pipe")
    monkeypatch.chdir(work)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield work
    monkeypatch.undo()


def everything(folder: Path) -> list[tuple[str, bytes]]:
    found = sorted(folder.rglob("*"))
    return [(str(path), path.read_bytes() if path.is_file() else b"") for path in found]


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_bad_command_line(work: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(work.parent)
    code = run(shlex.split(line)[1:])
    out, err = capsys.readouterr()
    assert code in (2, 3), err
    assert out == ""
    assert "Traceback" not in err
    complaints = [text for text in err.splitlines() if text.startswith("nearly: ")]
    assert len(complaints) == 1 or err.startswith("Usage: "), err
    assert everything(work.parent) == before


TEXT = ["a text", "a text"]
CALLS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: nearly.find(None),
    "a number": lambda: nearly.find(3),
    "numbers for texts": lambda: nearly.find([1, 2]),
    "null texts": lambda: nearly.find([None, None]),
    "a dict of numbers": lambda: nearly.find({"a": 1}),
    "an object": lambda: nearly.find(object()),
    "a function": lambda: nearly.find(len),
    "bytes that are no path": lambda: nearly.find(b"\xff"),
    "a path with NUL": lambda: nearly.find("a\0b"),
    "an empty table": lambda: nearly.find(pa.table({})),
    "a table without text": lambda: nearly.find(pa.table({"n": [1, 2]})),
    "threads as text": lambda: nearly.find(TEXT, threads="2"),  # type: ignore[arg-type]
    "threads below zero": lambda: nearly.find(TEXT, threads=-5),
    "memory as text": lambda: nearly.find(TEXT, memory="1GB"),  # type: ignore[arg-type]
    "threshold as text": lambda: nearly.find(TEXT, threshold="0.8"),  # type: ignore[arg-type]
    "threshold NaN": lambda: nearly.find(TEXT, threshold=float("nan")),
    "threshold above 1": lambda: nearly.find(TEXT, threshold=1.1),
    "k as text": lambda: nearly.find(TEXT, k="five"),  # type: ignore[arg-type]
    "k below 1": lambda: nearly.find(TEXT, k=0),
    "recall of 2": lambda: nearly.find(TEXT, recall=2),
    "bands alone": lambda: nearly.find(TEXT, bands=3),
    "an unknown unit": lambda: nearly.find(TEXT, unit="page"),  # type: ignore[arg-type]
    "an unknown engine": lambda: nearly.find(TEXT, engine="cloud"),  # type: ignore[arg-type]
    "an audit of -1": lambda: nearly.find(TEXT, audit=-1),
    "an audit by text": lambda: nearly.find(TEXT, audit="all"),  # type: ignore[arg-type]
    "keep nothing": lambda: nearly.dedup(TEXT, keep=""),
    "keep the best": lambda: nearly.dedup(TEXT, keep="best"),
    "keep by a missing column": lambda: nearly.dedup(TEXT, keep="newest:when"),
    "a temporary file": lambda: nearly.find(TEXT, temporary="table.csv"),
    "lines of a list": lambda: nearly.find(TEXT, lines=True),
    "a glob of a list": lambda: nearly.find(TEXT, glob="*"),
    "a plan that is none": lambda: load_plan(Path("table.csv")),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_call(work: Path, name: str) -> None:
    before = everything(work.parent)
    with pytest.raises(nearly.NearlyError) as caught:
        CALLS[name]()
    assert str(caught.value)
    del caught
    assert everything(work.parent) == before


def test_there_are_enough_of_them() -> None:
    assert len(set(COMMAND_LINES)) + len(CALLS) >= 150
