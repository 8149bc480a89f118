"""The Java machine under a session: found, checked, started, and ended with this process."""

import atexit
import os
import re
import shutil
import subprocess
import threading
from typing import Any, Final

from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError

from nearly.engines.spark.session.private import active_context, has_gateway, hush, launch_gateway
from nearly.errors import EngineError

__all__ = ["check_java", "end_java", "is_running", "start_java"]

LEAST: Final = 17
NEEDED: Final = (
    f"Spark needs Java {LEAST} or later. Install it (on Debian and Ubuntu: apt install "
    f"openjdk-{LEAST}-jre-headless), or let JAVA_HOME name the folder of one that is there"
)
#: Seconds: a machine under load takes its time, and one that is stuck does not answer.
PATIENCE: Final = 60
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


def start_java(conf: SparkConf) -> Any:
    """A gateway to a new Java machine, which ends when this process does.

    All that it writes comes out on stderr, but for what it writes at every start: standard
    output is for results.
    """
    reading, writing = os.pipe()
    try:
        gateway = launch_gateway(conf, {"stdout": writing, "stderr": writing})
    except PySparkRuntimeError as error:
        os.close(writing)
        raise EngineError(f"Spark could not be started: {_reason(reading)}") from error
    except BaseException:
        os.close(reading)
        os.close(writing)
        raise
    os.close(writing)
    threading.Thread(target=_pass_on, args=(reading,), daemon=True).start()
    _started.append(gateway.proc)
    return gateway


def _reason(pipe: int) -> str:
    with open(pipe, "rb") as lines:
        said = b"".join(line for line in lines if not line.startswith(USUAL))
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
_started: list["subprocess.Popen[bytes]"] = []


@atexit.register
def end_java() -> None:
    """End what was started here, with all its work and its temporary files.

    Java ends by itself when its standard input does. Nothing is said to it: it may be busy with
    what was asked of it last.
    """
    context = active_context()
    if _started and context is not None:
        hush(context)
    while _started:
        process = _started.pop()
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
