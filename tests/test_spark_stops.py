"""A command on Spark that is stopped or killed: what it says, how soon, and what it leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clusters import needs_java
from patience import PATIENCE

from nearly.remnant import scratch

NEARLY = str(Path(sys.executable).with_name("nearly"))
MARK = "NEARLY_TEST_OF_STOPS"


class Command:
    """A command in a folder of its own, with all the processes that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.output = folder / "output"
        self.temporary.mkdir()
        self.output.mkdir()
        rows = ({"id": n, "text": f"{n // 2} " * 200} for n in range(4000))
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def start(self) -> "subprocess.Popen[bytes]":
        command = f"{NEARLY} find rows.jsonl --engine spark -o output/pairs --force --spark-conf"
        self.process = subprocess.Popen(
            [*command.split(), "spark.master=local[2]"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.temporary), MARK: str(self.folder)},
            start_new_session=True,
        )
        return self.process

    def started(self) -> Iterator[str]:
        """The command lines of what it started."""
        wanted = f"{MARK}={self.folder}\0".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if (
                    int(folder.name) not in (self.process.pid, os.getpid())
                    and wanted in (folder / "environ").read_bytes()
                ):
                    yield (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue  # it has ended

    def wait_until(self, happens: Callable[["Command"], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not happens(self):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)

    def ends_everywhere(self) -> bool:
        """Whether all that it started ends a moment after it."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if not any(self.started()):
                return True
            time.sleep(0.05)
        return False


@pytest.fixture(name="command")
def _command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def java_starts(command: Command) -> bool:
    return any("org.apache.spark.deploy.SparkSubmit" in line for line in command.started())


def java_is_busy(command: Command) -> bool:
    """It has loaded what it answers with, and not answered yet."""
    if not java_starts(command):
        return False
    time.sleep(0.4)
    return True


def workers_work(command: Command) -> bool:
    return any("-m nearly.engines.spark" in line for line in command.started())


def output_is_written(command: Command) -> bool:
    return any(command.output.rglob("part-*"))


needs_processes = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="processes are found in /proc"
)


@needs_java
@pytest.mark.slow
@needs_processes
@pytest.mark.parametrize(
    ("moment", "number", "send"),
    [
        (java_starts, signal.SIGINT, os.killpg),
        (java_is_busy, signal.SIGTERM, os.kill),
        (workers_work, signal.SIGHUP, os.killpg),
        (output_is_written, signal.SIGINT, os.kill),
    ],
)
def test_a_stopped_command_leaves_no_process_and_no_file(
    command: Command,
    moment: Callable[[Command], bool],
    number: signal.Signals,
    send: Callable[[int, int], None],
) -> None:
    process = command.start()
    command.wait_until(moment)
    send(process.pid, number)
    begun = time.monotonic()
    _, said = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - begun < 15  # one or two where nothing else runs
    assert (process.returncode, said) == (128 + number, b"nearly: stopped\n")
    assert command.ends_everywhere(), list(command.started())
    assert list(command.temporary.iterdir()) == list(command.output.iterdir()) == []


@needs_java
@pytest.mark.slow
@needs_processes
@pytest.mark.parametrize("moment", [java_is_busy, workers_work, output_is_written])
def test_a_killed_command_ends_java_and_the_next_run_cleans_up(
    command: Command, moment: Callable[[Command], bool]
) -> None:
    process = command.start()
    command.wait_until(moment)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert command.ends_everywhere(), list(command.started())
    again = command.start()
    _, said = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, said
    assert list(command.temporary.iterdir()) == []
    assert [path.name for path in command.output.iterdir()] == ["pairs"]


KILLED = """
import os, signal
from nearly.sources.formats.database import Database
database = Database(None, None)
print(database.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_worker_put_aside_is_removed_by_a_later_run(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED], env=environment, capture_output=True, check=False
    )
    left = Path(os.fsdecode(done.stdout.strip()))
    assert list(tmp_path.iterdir()) == [left]
    with scratch(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]
