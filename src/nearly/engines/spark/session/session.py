"""The session that a run uses: the user's where there is one, or else a quiet one of our own.

A session that the user made is never stopped and never changed. One that was opened here stays,
for results are lazy and read through it, and ends with the process.
"""

import logging
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import is_remote

from nearly.engines.spark.session.failure import translated
from nearly.engines.spark.session.java import check_java, is_running, start_java
from nearly.engines.spark.session.master import check_reachable, is_here
from nearly.engines.spark.session.private import active_context, spark_home
from nearly.engines.spark.shelf import Room
from nearly.errors import EngineError
from nearly.limits import available_memory
from nearly.remnant import make_scratch

__all__ = ["open_session", "room_beside", "session_of", "translated"]

QUIET: Final = Path(__file__).with_name("quiet.properties")
LOOPBACK: Final = "127.0.0.1"
#: What they log is raised as well.
LOGGERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
#: Bytes of a folder that leave room for the name of a socket, of the 107 that a system bears.
LONGEST: Final = 64


def open_session(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    """The session there is, where it is what was asked for; or else a new one."""
    if is_remote() or "SPARK_REMOTE" in os.environ or "spark.remote" in conf:
        raise _no_connect()
    if active_context() is not None:
        return _checked(SparkSession.builder.getOrCreate(), master, conf)
    wanted = dict(conf) | ({"spark.master": master} if master else {})
    if "spark.master" in wanted:
        check_reachable(wanted["spark.master"])
    with translated():
        if is_running():
            return _joined(wanted)
        _start(wanted)
        return SparkSession.builder.getOrCreate()


def room_beside(session: SparkSession) -> Room | None:
    """Where arrays lie beside Spark, if all of it runs on this machine: with its own files."""
    conf = session.sparkContext.getConf()
    if not (conf.get("spark.master") or "").startswith("local"):
        return None
    folder = (conf.get("spark.local.dir") or "").partition(",")[0]
    return Room(folder if os.path.isdir(folder) else None)


def session_of(frame: Any) -> SparkSession:
    """The session that a data frame belongs to."""
    if not isinstance(frame, DataFrame):
        raise EngineError(
            f"a DataFrame of {type(frame).__module__} was given, and one of pyspark.sql is needed: "
            "frame.to_spark()"
        )
    if ".connect." in type(frame).__module__:
        raise _no_connect()
    return frame.sparkSession


def _no_connect() -> EngineError:
    return EngineError(
        "this is a session of Spark Connect, and nearly needs a classic one, for it sends packed "
        "blocks between partitions: start Python on a machine of the cluster, with "
        "SparkSession.builder.master(...) and without SPARK_REMOTE"
    )


def _checked(session: SparkSession, master: str | None, conf: Mapping[str, str]) -> SparkSession:
    """A process has one session: what it was not made for cannot be had beside it."""
    wanted = dict(conf) | ({"spark.master": master} if master else {})
    for key, value in wanted.items():
        there = session.conf.get(key, None)
        if there != value:
            raise EngineError(
                f"{key} is to be {value!r}, and there is a session where it is "
                f"{'not set' if there is None else repr(there)}. "
                "Leave it out, or stop that session first: spark.stop()"
            )
    return session


def _joined(wanted: Mapping[str, str]) -> SparkSession:
    """A session in a Java machine that is there: spark-submit configured it."""
    with _keeping_signals(), _environment({"PYSPARK_PYTHON": _python(wanted)}):
        return SparkSession.builder.config(map=dict(wanted)).getOrCreate()


def _start(wanted: Mapping[str, str]) -> None:
    check_java()
    elsewhere = _defaults_of_spark()
    master = wanted.get("spark.master") or elsewhere.get("spark.master") or "local[*]"
    said = elsewhere | dict(wanted)
    named = os.environ.get("SPARK_LOCAL_DIRS") or said.get("spark.local.dir")
    if named and master.startswith("local"):
        _check_room(named)
    conf = SparkConf(loadDefaults=False)
    folder = make_scratch()
    for key, value in (_our_defaults(master, folder) | said).items():
        conf.set(key, value)
    conf.set(JAVA_OPTIONS, _quiet(conf.get(JAVA_OPTIONS, "") or ""))
    variables = {"PYSPARK_PYTHON": _python(dict(conf.getAll()))}
    if is_here(master):
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP") or LOOPBACK
    for name in LOGGERS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    with _environment(variables):
        gateway = start_java(conf, folder)
        with _keeping_signals():
            SparkContext(conf=conf, gateway=gateway)


def _check_room(folders: str) -> None:
    """Refuse to start where Spark can write to none of its folders: Java would just end."""
    for folder in folders.split(","):
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return
    raise EngineError(
        f"Spark cannot write to {folders!r}, where its own files would be. Name another folder, "
        "as in --spark-conf spark.local.dir=/folder"
    )


def _python(conf: Mapping[str, str]) -> str:
    """What executors run: the driver's, where nobody says; PySpark would take any python3."""
    said = conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON")
    return said or sys.executable


def _our_defaults(master: str, folder: Path) -> dict[str, str]:
    """What a session is like unless somebody says otherwise; its own files are in the folder."""
    defaults = {
        "spark.app.name": "nearly",
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Java and Python talk in small pieces, which TCP holds back for hundredths of a second.
        "spark.python.unix.domain.socket.enabled": "true",
    }
    if is_here(master):
        # A machine need not be able to look up its own name.
        defaults |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    if master.startswith("local"):
        # All the work is done in the driver; three quarters are for Python and for the disk.
        gibibytes = max(1, available_memory() // 2**30 // 4)
        defaults["spark.driver.memory"] = f"{gibibytes}g"
        # What Java leaves there when it is killed, the next run removes.
        defaults["spark.local.dir"] = str(folder)
        # Java only passes bytes on: what it compiles with more effort comes too late.
        defaults[JAVA_OPTIONS] = f"-XX:TieredStopAtLevel=1 {_temporary(folder)}"
        # Python workers run where this package is.
        defaults["spark.python.daemon.module"] = "nearly.engines.spark.session.daemon"
    return defaults


def _temporary(folder: Path) -> str:
    """The option of Java for its other temporary files, such as sockets, whose names are short."""
    if len(os.fsencode(folder)) > LONGEST:
        return ""
    return shlex.quote(f"-Djava.io.tmpdir={folder}")


def _defaults_of_spark() -> dict[str, str]:
    """What the administrator of this machine configured for every session."""
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(spark_home(), "conf")
    file = Path(folder, "spark-defaults.conf")
    if not file.is_file():
        return {}
    lines = (line.strip() for line in file.read_text().splitlines())
    pairs = (
        line.replace("=", " ", 1).split(None, 1) for line in lines if line[:1] not in ("", "#")
    )
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _quiet(options: str) -> str:
    """The options of Java with our logging, where nobody chose another."""
    configured = Path(os.environ.get("SPARK_CONF_DIR", ""), "log4j2.properties")
    if "log4j" in options or ("SPARK_CONF_DIR" in os.environ and configured.exists()):
        return options
    return f"{options} {shlex.quote(f'-Dlog4j2.configurationFile={QUIET.as_uri()}')}".strip()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """These variables for as long as Spark starts, which has no other way to be told."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _keeping_signals() -> Iterator[None]:
    """PySpark takes Ctrl-C for itself; whoever has taken it before keeps it."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before not in (None, signal.default_int_handler, signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, before)
