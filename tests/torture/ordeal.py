"""What all torture shares: a desk to work at, the commands, and what must hold afterwards."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearly
from nearly.remnant import scratch
from nearly.sinks.mark import sweep
from nearly.sources import Skipped

HERE = Path(__file__).parent
LONG = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"
TEXTS = [LONG, LONG + " again", "something else entirely, which has nothing to do with foxes", LONG]

#: What was counted, for the end of a session.
SAID: list[str] = []
#: A file system in memory, where waiting for the disk takes no time.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
#: How long a part takes at the most: in `make torture`, until it is done.
SECONDS = float(os.environ.get("NEARLY_TORTURE_SECONDS", "10"))
#: The same cases every time, unless another seed is given; 0 draws one.
SEED = int(os.environ.get("NEARLY_TORTURE_SEED", "1")) or random.SystemRandom().randrange(10**9)


@dataclass(frozen=True)
class Command:
    """A command that writes, and the files that it may bring about."""

    arguments: list[str]
    #: Where it can make no hard link, as on another file system.
    links: bool = True
    #: It takes files away; the others only add or replace.
    removes: bool = False
    #: It writes to an index: what fails after its commit leaves all that it does.
    commits: bool = False


def of(line: str, **more: bool) -> Command:
    return Command(line.split(), **more)


COMMANDS = {
    "find": of("find table.csv -o pairs.parquet --clusters clusters.csv"),
    "find, spilling": of(
        "find large.jsonl --memory 1MB -o pairs.csv --clusters clusters.jsonl.gz --all-pairs"
    ),
    "find, skipping": of("find broken.csv -o pairs.json --skipped skipped.csv"),
    "find, saving": of("find table.csv -o pairs.csv --save saved"),
    "find, saving again": of("find table.csv -o old.csv --save old-result --force"),
    "dedup": of("dedup table.csv -o clean.csv --removed removed.arrow"),
    "dedup, replacing": of(
        "dedup table.parquet -o old.parquet --removed old.csv --clusters new.csv --force"
    ),
    "dedup, without links": of(
        "dedup table.csv -o old.csv --removed removed.csv --force", links=False
    ),
    "dedup, to a folder": of("dedup table.parquet -o clean --removed removed.csv"),
    "dedup, replacing a folder": of(
        "dedup table.csv -o docs --shard-size 1 --removed old.csv --force"
    ),
    "dedup of a folder": of("dedup docs -o new-plan.json --clusters clusters.csv"),
    "apply": of("apply plan.json --yes", removes=True),
    "apply, to a trash": of("apply plan.json --yes --trash trash", removes=True),
    "apply, to another disk": of("apply plan.json --yes --trash trash", removes=True, links=False),
    "compare": of("compare docs/a.txt docs/c.txt --append old.tsv"),
    "tune": of("tune table.csv --bands 20 --rows 5 --plot curve.svg --skipped skipped.csv"),
    "evaluate": of("evaluate found.csv --gold found.csv --plot bars.html"),
    "mentions": of("mentions table.csv -o groups.csv"),
    "passages": of("passages table.csv -o passages.parquet --documents shares.csv"),
    "dedup, cutting passages": of("dedup table.jsonl --passages -o cut.jsonl --removed cuts.csv"),
    "report": of("report old-result -o report.html"),
    "explain": of("explain docs/a.txt docs/b.txt --k 2 --html lesson.html --csv tables"),
    "index create": of("index create new table.csv --seed 1", commits=True),
    "index add": of("index add seen later.csv", commits=True),
    "index add, reporting": of(
        "index add seen later.csv -o seen.csv --skipped skipped.csv --force", commits=True
    ),
    "index add, replacing": of("index add seen table.csv --replace", commits=True),
    "index remove": of("index remove seen 0 3 4 5", commits=True),
    "index compact": of("index compact seen", commits=True),
    "index snapshot": of("index snapshot seen copy", commits=True),
    "index restore": of("index restore seen restored", commits=True),
    "dedup, adding": of("dedup later.csv --against seen --add -o fresh.csv --force", commits=True),
}
#: What is there before: a plan, a saved result, an index of two segments and a few pending rows.
PREPARED = (
    "dedup docs -o plan.json --quiet",
    "find table.csv -t 0.3 --save old-result",
    "index create seen table.csv --seed 1 -t 0.5",
    "index add seen table.jsonl --replace",
    "index remove seen 7",
)
COMPARISON = "name_a\tname_b\tunit\tk\tjaccard\tjaccard_without_stop_words\tcontainment_of_a\t"
COMPARISON += "containment_of_b\testimate\tpermutations\tshingles_a\tshingles_b\tshared\n"


@dataclass
class Ended:
    """How a command ended, what it said on stderr, its system calls, and names given too early."""

    code: int | str
    said: str
    calls: int
    early: int


class Warm:
    """Runs commands in forks of one process, with a shim that fails a chosen system call."""

    def __init__(self, folder: Path) -> None:
        shim = folder / "failing_calls.so"
        source = HERE / "failing_calls.c"
        build = ["cc", "-O1", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"]
        subprocess.run(build, check=True)
        self._process = subprocess.Popen(
            [sys.executable, HERE / "warm.py", folder / "said.txt"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"LD_PRELOAD": str(shim), "OPENBLAS_NUM_THREADS": "1"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=300)

    def __call__(self, request: dict[str, Any]) -> Ended:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))


State = dict[str, bytes]
FEWEST = 10


@dataclass
class Desk:
    """A folder with every kind of input; laid afresh for each case."""

    folder: Path
    run: Warm
    golden: dict[str, tuple[State, int, int]] = field(default_factory=dict)
    #: What `lay` lays.
    laid: State = field(default_factory=dict)
    laid_tree: dict[Path, tuple[int, bytes]] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.folder / "desk" / "work"

    @property
    def tmp(self) -> Path:
        return self.folder / "desk" / "tmp"

    def prepare(self) -> None:
        """Make what is laid; the plan needs the place where it will lie."""
        self.tmp.mkdir(parents=True)
        make_inputs(self.work)
        for line in PREPARED:
            ended = self.start(of(line))
            assert ended.code == 0, ended.said
        shutil.copytree(self.folder / "desk", self.folder / "template")
        self.laid, self.laid_tree = self.state(), tree(self.folder / "template")

    def lay(self) -> State:
        shutil.rmtree(self.folder / "desk")
        shutil.copytree(self.folder / "template", self.folder / "desk")
        return self.laid

    def is_as_laid(self) -> bool:
        """Whether each file and folder is there as `lay` laid it, with its mode; nothing else."""
        return tree(self.folder / "desk") == self.laid_tree

    def state(self) -> State:
        """All files and what they hold."""
        desk = self.folder / "desk"
        files = [path for path in desk.rglob("*") if path.is_file()]
        # A trace is what an unexpected error leaves on purpose.
        files = [path for path in files if not path.name.startswith("nearly-trace-")]
        found = {str(path.relative_to(desk)): content_of(path) for path in files}
        for name in {
            p.split("/")[1] for p in found if re.fullmatch("work/[^/]+/catalogue.sqlite", p)
        }:
            found = {p: data for p, data in found.items() if not p.startswith(f"work/{name}/")}
            found[f"work/{name}"] = held_by(self.work / name)
        # Python's own, from looking whether a folder can be written to.
        return {p: data for p, data in found.items() if not re.fullmatch(r"tmp/[a-z0-9_]{8}", p)}

    def start(self, command: Command, at: int = 0, errno: int = 0, kill_after: float = 0) -> Ended:
        return self.run(
            {
                "arguments": command.arguments,
                "cwd": str(self.work),
                "tmp": str(self.tmp),
                "below": str(self.folder / "desk"),
                "at": at,
                "errno": errno,
                "links": int(command.links),
                "kill_after": kill_after,
            }
        )

    def clean(self) -> None:
        """What the next run does first, in the folders that it writes to."""
        for place in (self.work, self.work / "tables"):
            if place.exists():
                sweep(place)
        for place in (self.work, self.tmp):
            with scratch(place):
                pass

    def learn(self, name: str) -> tuple[State, int, int]:
        """What a command brings about when nothing happens: files, exit code, system calls."""
        if name not in self.golden:
            self.lay()
            ended = self.start(COMMANDS[name])
            assert ended.code in (0, 3), ended.said
            assert leftovers(self.state()) == []
            assert ended.early == 0, f"{name}: an output got its name before it was synced"
            self.golden[name] = self.state(), int(ended.code), ended.calls
        return self.golden[name]

    def suffer(self, name: str, **trouble: Any) -> str:
        """One command in trouble: everything that must hold afterwards. Gives what came of it."""
        golden, code, _ = self.learn(name)
        before = self.lay()
        ended = self.start(COMMANDS[name], **trouble)
        case = f"{name}, {trouble}: {ended}"
        assert "Traceback" not in ended.said, case
        # 71: a file that cannot be mapped counts as memory that ran out.
        assert ended.code in (-9, 0, 2, 3, 70, 71), case
        if ended.code == 3 and not COMMANDS[name].removes:
            # Some input could not be read: another answer, which has to be whole.
            self.clean()
            assert self.state().keys() in (before.keys(), golden.keys()), f"{case}: a part"
            return "skipping"
        for path, content in self.state().items():
            if is_shown(path):
                assert content in (before.get(path), golden.get(path)), f"{case}: half {path}"
        check = self._check_removed if COMMANDS[name].removes else self._check_written
        check(name, before, ended, case)
        return "killed" if ended.code == -9 else "failed" if ended.code != code else "done"

    def _check_written(self, name: str, before: State, ended: Ended, case: str) -> None:
        """All outputs are there, or none; and nothing else, once the next run has begun."""
        golden, code, _ = self.learn(name)
        self.clean()
        after = self.state()
        assert leftovers(after) == [], f"{case}: {leftovers(after)} stays"
        commits = COMMANDS[name].commits
        failed = (before, golden) if commits else (before,)
        expected = {-9: (before, golden), code: (golden,)}.get(int(ended.code), failed)
        assert after in expected, f"{case}: not all or none"
        is_to_do = after != golden if commits else after == before
        if is_to_do and not self.is_as_laid():  # from there it was run: `learn`
            again = self.start(COMMANDS[name])
            assert again.code == code, f"{case}: then {again}"
            assert self.state() == golden, f"{case}: the next run differs"

    def _check_removed(self, name: str, before: State, _: Ended, case: str) -> None:
        """No bytes are lost; and the next run finishes what was begun."""
        check_nothing_lost(before, self.state(), case)
        again = self.start(COMMANDS[name])
        assert again.code in (0, 3), f"{case}: then {again}"
        assert self.state() == self.learn(name)[0], f"{case}: the next run differs"


def tree(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Every file and folder: its mode, and what a file holds."""
    return {
        path.relative_to(folder): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
    }


def content_of(path: Path) -> bytes:
    """The bytes of a file; of a saved result, without what differs between two runs."""
    content = path.read_bytes()
    if path.name != "result.json" or ".nearly-" in str(path):
        return content
    members = json.loads(content)
    for varies in ("sha256", "origin"):
        del members[varies]
    del members["statistics"]["seconds"]
    return json.dumps(members).encode()


def held_by(index: Path) -> bytes:
    """What an index holds; its files have other names and numbers each time."""
    with nearly.Index.open(index) as opened:
        assert opened.check().problems == []
        batches = list(opened.every_document().documents(Skipped()))
    rows = [row for batch in batches for row in batch.select(["id", "text"]).to_pylist()]
    return json.dumps(sorted(rows, key=str)).encode()


def is_shown(path: str) -> bool:
    return path.startswith("work/") and not is_temporary(path)


def is_temporary(path: str) -> bool:
    return "/.nearly-" in path or ".scratch/" in path


def leftovers(state: State) -> list[str]:
    return [path for path in state if path.startswith("tmp/") or is_temporary(path)]


def check_nothing_lost(before: State, after: State, case: str) -> None:
    """Each file is where it was, or in the trash, or its survivor is where it was."""
    removals = json.loads(before["work/plan.json"])["removals"]
    survivors = {f"work/docs/{r['path']}": f"work/docs/{r['survivor']}" for r in removals}
    for path, content in before.items():
        trash = path.replace("work/docs/", "work/trash/")
        survivor = survivors.get(path, path)
        places = [after.get(path), after.get(trash)]
        in_trash = any(place.startswith("work/trash") for place in after)
        is_safe = content in places or (not in_trash and after.get(survivor) == before[survivor])
        assert is_safe, f"{case}: {path} is lost"


def make_inputs(work: Path) -> None:
    """Every kind of input, small."""
    (work / "docs" / "sub").mkdir(parents=True)
    for name, text in zip(("a.txt", "b.txt", "c.txt", "sub/d.txt"), TEXTS, strict=True):
        (work / "docs" / name).write_text(text)
    rows = [{"id": i, "text": text, "more": f"@you {i}"} for i, text in enumerate(TEXTS * 3)]
    lines = "".join(f'{row["id"]},"{row["text"]}",{row["more"]}\n' for row in rows)
    (work / "table.csv").write_text("id,text,more\n" + lines)
    later = "".join(f'{row["id"] + 100},"{row["text"]} and {row["id"] * 7}"\n' for row in rows)
    later += "999,nothing like this was ever written before\n"
    (work / "later.csv").write_text("id,text\n" + later)
    (work / "broken.csv").write_text("id,text,more\n" + lines + "99,\n")
    (work / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    chance = random.Random(1)
    texts = [f"{chance.getrandbits(12_000):x}" for _ in range(500)]
    large = [{"id": i, "text": text} for i, text in enumerate([*texts, *texts[:2]])]
    (work / "large.jsonl").write_text("".join(json.dumps(row) + "\n" for row in large))
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, work / "table.parquet")
    (work / "old.csv").write_text("an older file\n")
    (work / "old.parquet").write_text("an older file\n")
    (work / "old.tsv").write_text(COMPARISON)
    (work / "found.csv").write_text("id_a,id_b,similarity\n1,2,0.9\n2,3,0.8\n")


class Tally:
    """Counts by outcome, and says them together with the seed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.start = time.monotonic()
        self.random = random.Random(f"{SEED} {name}")

    def until(self, seconds: float) -> Iterator[int]:
        """Case after case, until the time is over; a few in any case."""
        number = 0
        while number < FEWEST or time.monotonic() - self.start < seconds:
            yield number
            number += 1

    def say(self, possible: int | None = None) -> None:
        counts = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(self.counts.items()))
        cases = f"{self.counts.total():,}"
        if possible is not None:
            cases += f" of {possible:,}"
        took = time.monotonic() - self.start
        line = f"torture: {self.name}: {cases}: {counts} in {took:.0f} s, seed {SEED}"
        SAID.append(line)
        if report := os.environ.get("NEARLY_TORTURE_REPORT"):
            with open(report, "a") as file:  # a row of the table in docs/reliability.md
                file.write(f"| {self.name} | {cases} | {counts}; {took:.0f} s, seed {SEED} |\n")


needs_a_compiler = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)
