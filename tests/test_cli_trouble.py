"""The command line where its surroundings fail: closed streams, bad disks, sudden signals."""

import errno
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from patience import PATIENCE

import nearly
from nearly.cli.program import run

NEARLY = str(Path(sys.executable).with_name("nearly"))
LONG = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"


@pytest.fixture(name="table")
def _table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    path = tmp_path / "docs.csv"
    path.write_text(f"id,text\n1,{LONG}\n2,{LONG}\n")
    return path


def shell(command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize(
    ("command", "code", "line"),
    [
        ("find docs.csv >&-", 2, "nearly: standard output is closed"),
        ("find docs.csv --json --quiet >&-", 2, "nearly: standard output is closed"),
        ("find docs.csv -o pairs.csv --quiet >&-", 0, ""),
        ("find docs.csv --quiet <&-", 0, ""),
        ("find - <&-", 3, "nearly: standard input cannot be copied"),
        ("find docs.csv --quiet 2>&-", 0, ""),
        ("find nowhere.csv 2>&-", 2, ""),
        ("find docs.csv -o pairs.csv <&- >&- 2>&-", 0, ""),
        ("--version >&-", 2, "nearly: standard output is closed"),
    ],
)
@pytest.mark.usefixtures("table")
def test_closed_streams(command: str, code: int, line: str) -> None:
    done = shell(f"{NEARLY} {command}")
    assert done.returncode == code
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == (1 if line else 0)
    if "-o pairs.csv" in command:
        assert Path("pairs.csv").read_text() == "id_a,id_b,similarity\n1,2,1.0\n"


@pytest.mark.usefixtures("table")
def test_a_place_where_no_temporary_folder_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["find", "docs.csv", "--temporary", "/proc"]) == 2
    assert "no temporary folder can be made in '/proc'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        {"threads": "2"},
        {"threads": -5},
        {"threads": 0},
        {"threads": 2.0},
        {"threads": True},
        {"threads": 10**9},
        {"memory": "1GB"},
        {"memory": -1},
        {"temporary": "/proc"},
        {"temporary": "nowhere"},
    ],
    ids=str,
)
def test_settings_of_a_run_that_are_impossible(arguments: dict[str, object]) -> None:
    [name] = arguments
    for call in (nearly.find, nearly.dedup, nearly.tune):
        with pytest.raises(nearly.SettingsError, match=name):
            call(["a text", "a text"], **arguments)  # type: ignore[operator]


@pytest.mark.usefixtures("table")
def test_too_many_threads_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["find", "docs.csv", "--threads", "1000000000"]) == 2
    assert "threads is 1000000000; give a whole number" in capsys.readouterr().err


@pytest.mark.usefixtures("table")
def test_a_disk_that_fails_is_one_line_and_a_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("nearly.pipeline.find", fail)
    assert run(["find", "docs.csv", "--quiet"]) == 70
    err = capsys.readouterr().err
    assert err.startswith("nearly: OSError: [Errno 5] Input/output error. Nobody expected this")
    assert err.count("\n") == 1
    assert "Traceback" in Path(err.split()[-1]).read_text()


BUSY = """
    import hashlib, sys
    from pathlib import Path
    from nearly.cli import interrupt
    from nearly.remnant import make_scratch
    from nearly.sinks import Outputs

    interrupt.on_signals()
    make_scratch(sys.argv[1])
    outputs = Outputs()
    with outputs.open(Path(sys.argv[1]) / "out.csv") as file:
        print("ready", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes, out of Python's reach
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_what_python_cannot_reach(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BUSY), tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    assert len(list(tmp_path.iterdir())) == 3
    time.sleep(0.3)  # it gets busy
    start = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    # A second is promised, but the machine may be busy; the loop itself takes minutes.
    assert time.monotonic() - start < 30
    assert (process.returncode, err) == (128 + number, b"nearly: stopped\n")
    assert list(tmp_path.iterdir()) == []


IMPORTING = "import nearly.__main__; print('ready', flush=True); import time; time.sleep(60)"


def test_ctrl_c_while_importing_is_quiet() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", IMPORTING], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (-signal.SIGINT, b"")


class TestScratchFolders:
    def test_those_of_killed_runs_go(self, tmp_path: Path) -> None:
        code = "import sys, time; from nearly.remnant import make_scratch as m; m(sys.argv[1])"
        code += "; print(flush=True); time.sleep(60)"
        mine = tmp_path / "nearly-mine"
        mine.mkdir()
        running = [
            subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        assert len(list(tmp_path.iterdir())) == 3
        running[0].kill()
        running[0].communicate()
        nearly.find(["a text"], temporary=tmp_path)
        assert len(list(tmp_path.iterdir())) == 2
        running[1].kill()
        running[1].communicate()
        nearly.find(["a text"], temporary=tmp_path)
        assert list(tmp_path.iterdir()) == [mine]
