"""The command line from outside: the installed command, in pipes, terminals and trouble."""

import array
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import PATIENCE

from nearly.cli.program import run

LONG = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"
NEARLY = str(Path(sys.executable).with_name("nearly"))
ESCAPE = b"\x1b"


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    texts = [LONG, "\x1b]0;owned\x07\x9b2J " + LONG, LONG]
    path.write_text(
        "".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts))
    )
    return path


@pytest.fixture(name="environment")
def _environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "spill").mkdir()
    dropped = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"TMPDIR": str(tmp_path / "spill"), "TERM": "xterm-256color"}


def ran(*command: object, **more: object) -> "subprocess.CompletedProcess[bytes]":
    arguments = [str(part) for part in command]
    return subprocess.run(arguments, capture_output=True, timeout=PATIENCE, check=False, **more)  # type: ignore[call-overload, no-any-return]


def in_terminal(
    command: list[object], environment: dict[str, str], *, stdout_too: bool = False
) -> tuple[int, bytes, bytes]:
    """Run with stderr a terminal: exit code, what the terminal got, and the rest of stdout."""
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=side if stdout_too else subprocess.PIPE,
        stderr=side,
        env=environment,
    )
    os.close(side)
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        seen += piece
    out = process.stdout.read() if process.stdout else b""
    if process.stdout:
        process.stdout.close()
    os.close(terminal)
    return process.wait(), seen, out


def test_both_ways_to_start(table: Path) -> None:
    for start in ([NEARLY], [sys.executable, "-m", "nearly"]):
        done = ran(*start, "find", table, "--json", "--quiet")
        assert (done.returncode, done.stderr) == (0, b"")
        assert len(json.loads(done.stdout)["pairs"]) == 2


def test_starting_imports_nothing_heavy() -> None:
    program = (
        "import sys, nearly.cli.program as program; program.run(['--help']);"
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = ran(sys.executable, "-c", program)
    for heavy in ("numpy", "pyarrow", "duckdb", "rich", "pandas", "polars"):
        assert f"'{heavy}'" not in done.stderr.decode()


def test_documents_can_be_piped_in(table: Path) -> None:
    done = ran(NEARLY, "find", "-", "--json", "--quiet", input=table.read_bytes())
    assert done.returncode == 0
    assert [pair["id_b"] for pair in json.loads(done.stdout)["pairs"]] == [1, 2]


def test_a_reader_that_goes_away_is_no_error(table: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [NEARLY, "find", table, "--json", "--quiet"],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_under_stdout_is_one_line(table: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [NEARLY, "find", table, "--quiet"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 2
    assert re.fullmatch(rb"nearly: the disk is full[^\n]+\n", done.stderr)


def test_no_escape_sequence_without_a_terminal(table: Path, environment: dict[str, str]) -> None:
    done = ran(NEARLY, "find", table, env=environment)
    assert done.returncode == 0
    assert ESCAPE not in done.stdout + done.stderr
    assert b"\r" not in done.stdout + done.stderr
    assert b"\\x1b]0;owned\\x07\\x9b2J" in done.stdout


def test_progress_is_for_terminals_only(table: Path, environment: dict[str, str]) -> None:
    code, seen, out = in_terminal([NEARLY, "find", table], environment)
    assert code == 0
    assert b"join" in seen
    assert ESCAPE not in out
    _, seen, _ = in_terminal([NEARLY, "find", table], environment | {"TERM": "dumb"})
    assert ESCAPE not in seen
    _, seen, _ = in_terminal([NEARLY, "find", table, "--quiet"], environment)
    assert seen == b""


def test_colours_are_harmless_and_can_be_switched_off(
    table: Path, environment: dict[str, str]
) -> None:
    command: list[object] = [NEARLY, "find", table, "--quiet"]
    _, seen, _ = in_terminal(command, environment, stdout_too=True)
    assert b"\x1b[1m" in seen
    assert not re.search(rb"\x1b(?!\[[0-9;]*m)", seen)
    plain = environment | {"NO_COLOR": "1"}
    _, seen, _ = in_terminal(command, plain, stdout_too=True)
    assert b"\x1b[3" not in seen
    command = [NEARLY, "find", "nowhere\x1bc"]
    assert in_terminal(command, plain)[1] == (
        b"nearly: there is no file or folder 'nowhere\\x1bc'. Check the path.\r\n"
    )
    assert in_terminal(command, environment)[1].startswith(b"\x1b[31m\x1b[1mnearly:\x1b[0m ")


def test_waiting_for_the_terminal_is_said(tmp_path: Path, environment: dict[str, str]) -> None:
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [NEARLY, "find", "-", "--lines"],
        stdin=side,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
    )
    os.close(side)
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"Reading documents from this terminal")
    os.write(terminal, f"{LONG}\n{LONG}\n\x04\x04".encode())
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(terminal)
    assert process.returncode == 0
    assert out.startswith(b"1.0000  1  the quick")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_nothing(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    source = tmp_path / "many.txt"
    source.write_text("".join(f"{i} {LONG} {i * i}\n" for i in range(60_000)))
    before = sorted(tmp_path.rglob("*"))
    process = subprocess.Popen(
        [NEARLY, "dedup", source, "--lines", "-o", tmp_path / "clean.csv", "-t", "0.5"],
        stderr=subprocess.PIPE,
        env=environment,
    )
    spill = tmp_path / "spill"
    while not list(spill.iterdir()) and process.poll() is None:
        time.sleep(0.005)
    time.sleep(0.15)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (128 + number, b"nearly: stopped\n")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_mistake_leaves_no_temporary_folder(tmp_path: Path, environment: dict[str, str]) -> None:
    for mistake in ("nowhere.csv", "SELECT nonsense FROM nowhere"):
        assert ran(NEARLY, "find", mistake, env=environment, cwd=tmp_path).returncode == 2
    assert list((tmp_path / "spill").iterdir()) == []


def unread(pipe: int) -> int:
    """Bytes in a pipe that its reader has not taken."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def test_a_signal_that_the_parent_ignores_stays_ignored(table: Path) -> None:
    command = f'trap "" HUP; exec {NEARLY} find - --quiet --json'
    process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(table.read_bytes())
    process.stdin.flush()
    while unread(process.stdin.fileno()):
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert json.loads(out)["statistics"]["documents"] == 3


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_accepts_the_completion_script() -> None:
    script = ran(NEARLY, "completion", "bash")
    assert script.returncode == 0
    checked = ran("bash", "-n", input=script.stdout)
    assert (checked.returncode, checked.stderr) == (0, b"")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything: be somebody else for a while."""
    nobody = 65534
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(nobody)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)


def test_a_folder_without_permission(capsys: pytest.CaptureFixture[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)  # noqa: S103
        (Path(name) / "open.txt").write_text("text")
        assert run(["find", name, "--quiet"]) == 0  # imports what others may not be able to read
        folder = Path(name) / "secret"
        folder.mkdir(mode=0)
        with as_nobody():
            assert run(["find", str(folder)]) == 3
            assert run(["find", name, "--quiet"]) == 3
        folder.chmod(0o700)
    err = capsys.readouterr().err
    assert err.count("secret") == 2
    assert "Permission denied" in err


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = ran(NEARLY, "find", tmp_path / "pipe")
    assert done.returncode == 3
    assert b"piped in" in done.stderr
