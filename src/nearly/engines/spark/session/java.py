"""The Java machine under a session: found, checked, started, and ended with this process."""

import atexit
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf

from nearly import remnant
from nearly.engines.spark.session.private import (
    active_context,
    command_of_java,
    gateway_to,
    has_gateway,
    hush,
)
from nearly.errors import EngineError, NoMemoryError

__all__ = ["check_java", "end_java", "is_running", "start_java"]

LEAST: Final = 17
NEEDED: Final = (
    f"Spark needs Java {LEAST} or later. Install it (on Debian and Ubuntu: apt install "
    f"openjdk-{LEAST}-jre-headless), or let JAVA_HOME name the folder of one that is there"
)
#: Seconds: a machine under load takes its time, and one that is stuck does not answer.
PATIENCE: Final = 60
#: Seconds between two looks whether it has answered.
BREATH: Final = 0.02
#: What Java says before its reason where it finds no room for itself.
NOT_BEGUN: Final = "Error occurred during initialization of VM"
#: What Java and Spark say at every start.
USUAL: Final = (b"WARNING: Using incubator modules", b"Using Spark's default log4j profile")


def is_running() -> bool:
    """Whether there is a Java machine to use: from an earlier session, or from spark-submit."""
    return has_gateway() or "PYSPARK_GATEWAY_PORT" in os.environ


def check_java() -> None:
    """Refuse to start without a Java that can run Spark; looks where PySpark will look."""
    home = os.environ.get("JAVA_HOME")
    program = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if program is None:
        raise EngineError(
            f"there is no Java: JAVA_HOME is not set, and no java is on the PATH. {NEEDED}."
        )
    said = _version_text(program, f"JAVA_HOME is {home!r}" if home else f"java is {program!r}")
    if said.startswith(NOT_BEGUN):
        raise NoMemoryError(
            f"{program!r} cannot start: {_first_line(said.removeprefix(NOT_BEGUN))}. "
            "Allow this process more memory."
        )
    version = re.search(r'version "(?:1\.)?(\d+)[^"]*"', said)
    if version is None:
        raise EngineError(
            f"{program!r} does not say which Java it is, but {_first_line(said)!r}. {NEEDED}."
        )
    if int(version[1]) < LEAST:
        raise EngineError(f"{program!r} is Java {version[1]} ({version[0]}), and {NEEDED}.")


def _version_text(program: str, given: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - what the user named, as PySpark will run it
            [program, "-version"], capture_output=True, timeout=PATIENCE, check=False
        )
    except OSError as error:
        raise EngineError(
            f"{given}, and {program!r} cannot be run: {error.strerror}. {NEEDED}."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EngineError(
            f"{given}, and {program!r} -version did not answer within {PATIENCE} s. {NEEDED}."
        ) from error
    return (done.stderr + done.stdout).decode(errors="replace")


def start_java(conf: SparkConf, folder: Path) -> Any:
    """A gateway to a new Java machine, which ends when this process does, and the folder with it.

    All that it writes comes out on stderr, but for what it writes at every start: standard
    output is for results.
    """
    reading, writing = os.pipe()
    try:
        try:
            # In a thread, which no signal disturbs: a process that nobody knows of would not end.
            with ThreadPoolExecutor(1) as starter:
                java = starter.submit(_begun, conf, folder, writing).result()
        finally:
            os.close(writing)
        if not java.answers():
            raise EngineError(f"Spark could not be started: {_reason(reading)}")
    except BaseException:
        _end_started()
        remnant.remove_scratch(folder)
        raise
    threading.Thread(target=_pass_on, args=(reading,), daemon=True).start()
    return gateway_to(java.answer)


def _begun(conf: SparkConf, folder: Path, output: int) -> "_Java":
    java = _Java(conf, folder, output)
    _started.append(java)
    return java


class _Java:
    """A Java machine in a process group of its own: a terminal's signals are for us to pass on."""

    def __init__(self, conf: SparkConf, folder: Path, output: int) -> None:
        self.folder = folder
        #: It stays as long as Java does: one that cannot write there would wait for ever.
        self.answer = folder / "answer"
        command, variables = command_of_java(conf, self.answer)
        # Workers on this machine have it from Java: what they leave goes with the folder.
        variables["TMPDIR"] = str(folder)
        self._process = subprocess.Popen(  # noqa: S603 - as PySpark runs it
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=os.environ | variables,
            process_group=0,
        )
        self._abandoned = remnant.on_abandon(partial(self._signal, signal.SIGKILL))

    def answers(self) -> bool:
        """Wait until it can be reached; False where it ended instead."""
        while not self.answer.exists():
            if self._process.poll() is not None:
                return False
            time.sleep(BREATH)
        return True

    def end(self) -> None:
        """Close its standard input, which ends it; one that is not that far has to be told."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not self.answer.exists():
            self._signal(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
        remnant.forget(self._abandoned)
        remnant.remove_scratch(self.folder)

    def _signal(self, number: int) -> None:
        """To it, and to the script that starts it."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)


def _reason(pipe: int) -> str:
    with open(pipe, "rb") as lines:
        said = b"".join(line for line in lines if not line.startswith((*USUAL, NOT_BEGUN.encode())))
    line = _first_line(said.decode(errors="replace"))
    line = re.sub(r'^Exception in thread "\w+" |^Error: ', "", line)
    return re.sub(r"^(?:[\w$]+\.)+[\w$]+: ", "", line) or "it said nothing"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _pass_on(pipe: int) -> None:
    with open(pipe, "rb") as lines:
        for line in lines:
            if not line.startswith(USUAL):
                os.write(2, line)


#: The Java machines of this process: one, but for those that have died.
_started: list[_Java] = []


@atexit.register
def end_java() -> None:
    """End what was started here, with all its work and its temporary files.

    Nothing is said to it: it may be busy with what was asked of it last.
    """
    context = active_context()
    if _started and context is not None:
        hush(context)
    _end_started()


def _end_started() -> None:
    while _started:
        _started.pop().end()
