"""What a user of Spark sees when it cannot run: one clear line, and a trace only on request."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clusters import needs_java
from patience import PATIENCE
from py4j.protocol import Py4JError
from pyspark import SparkConf
from pyspark.errors import PySparkException

import nearly
from nearly import errors
from nearly.cli.program import run
from nearly.engines.spark.session import java, master
from nearly.engines.spark.session.failure import translated
from nearly.remnant import make_scratch

NEARLY = str(Path(sys.executable).with_name("nearly"))
TEXT = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> Path:
    path = tmp_path / "docs.csv"
    path.write_text(f"id,text\n1,{TEXT}\n2,{TEXT}\n")
    return path


def environment(**changed: str | None) -> dict[str, str]:
    """That of this process, without what would lead Spark elsewhere."""
    changed = {"JAVA_HOME": None, "SPARK_HOME": None, "SPARK_CONF_DIR": None} | changed
    kept = {name: value for name, value in os.environ.items() if name not in changed}
    return kept | {name: value for name, value in changed.items() if value is not None}


def slow(*values: object) -> list[Any]:
    """More of the same, for which a process starts each time."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for value in values
    ]


def failed(*arguments: object, env: Mapping[str, str] | None = None) -> str:
    """What the command says when it ends with code 2: one line, and nothing on stdout."""
    done = subprocess.run(
        [NEARLY, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=env or environment(),
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert re.fullmatch(r"nearly: [^\n]+\n", done.stderr)
    return done.stderr


def fake_java(folder: Path, script: str) -> dict[str, str]:
    """An environment whose only Java does this."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return environment(JAVA_HOME=str(folder))


def test_no_java(table: Path) -> None:
    said = failed("find", table, "--engine", "spark", env=environment(PATH="/nowhere"))
    assert "there is no Java: JAVA_HOME is not set, and no java is on the PATH" in said
    assert "Java 17 or later" in said
    assert "apt install openjdk-17-jre-headless" in said


@pytest.mark.slow
def test_java_home_without_java(table: Path) -> None:
    env = environment(JAVA_HOME="/nowhere")
    said = failed("find", table, "--engine", "spark", env=env)
    assert "JAVA_HOME is '/nowhere', and '/nowhere/bin/java' cannot be run: No such file" in said
    assert "Java 17 or later" in said


@pytest.mark.parametrize(
    ("version", "number"), [("11.0.2", "11"), *slow(("1.8.0_292", "8"), ("16-ea", "16"))]
)
def test_java_that_is_too_old(table: Path, tmp_path: Path, version: str, number: str) -> None:
    env = fake_java(tmp_path / "old", f"""echo 'openjdk version "{version}" 2019-01-15' >&2""")
    said = failed("dedup", table, "-o", tmp_path / "clean", "--engine", "spark", env=env)
    assert f"{tmp_path}/old/bin/java' is Java {number} " in said
    assert "Spark needs Java 17 or later" in said


@pytest.mark.slow
def test_java_that_is_none(table: Path, tmp_path: Path) -> None:
    env = fake_java(tmp_path / "odd", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    said = failed("find", table, "--engine", "spark", env=env)
    assert "does not say which Java it is, but 'Unable to locate a Java Runtime.'" in said


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "25.0.1"])
def test_java_that_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    env = fake_java(tmp_path, f"""echo 'openjdk version "{version}" 2025-04-15' >&2""")
    monkeypatch.setenv("JAVA_HOME", env["JAVA_HOME"])
    java.check_java()


def test_java_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path, "exec sleep 60")["JAVA_HOME"])
    monkeypatch.setattr(java, "PATIENCE", 0.2)
    with pytest.raises(errors.EngineError, match="did not answer within"):
        java.check_java()


@pytest.mark.slow
def test_a_master_that_does_not_answer(table: Path) -> None:
    said = failed("find", table, "--master", "spark://127.0.0.1:1")
    assert (
        "the master 'spark://127.0.0.1:1' cannot be reached (127.0.0.1:1: Connection refused)"
        in said
    )
    assert "local[*] needs no master" in said


def test_a_signal_while_java_is_begun_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *command: Any, **more: Any) -> None:
            begun.append(self)
            super().__init__(*command, **more)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)

    monkeypatch.setattr(java, "_started", [])
    monkeypatch.setattr(java, "command_of_java", lambda *_: (["sleep", "100"], {}))
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        java.start_java(SparkConf(loadDefaults=False), make_scratch(tmp_path))
    assert [process.wait(10) for process in begun] == [-signal.SIGTERM]
    assert list(tmp_path.iterdir()) == []


def test_java_that_finds_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "Error occurred during initialization of VM\\nCould not reserve enough space"
    home = fake_java(tmp_path, f'printf "{lines}\\n" >&2; exit 1')["JAVA_HOME"]
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(errors.NoMemoryError, match=r"cannot start: Could not reserve enough spa"):
        java.check_java()


@needs_java
@pytest.mark.parametrize("folder", ["/proc/nearly", *slow("/dev/null", "/proc/a,/proc/b")])
def test_a_folder_that_spark_cannot_write_to(table: Path, folder: str) -> None:
    said = failed("find", table, "--engine", "spark", "--spark-conf", f"spark.local.dir={folder}")
    assert f"Spark cannot write to {folder!r}" in said


@pytest.mark.slow
@pytest.mark.parametrize("master", ["spark://host", "spark://", "spark://host:port", "spark://:7"])
def test_a_master_without_an_address(table: Path, master: str) -> None:
    assert "write it like spark://host:7077" in failed("find", table, "--master", master)


def test_one_of_several_masters_is_enough() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        master.check_reachable(f"spark://127.0.0.1:1,127.0.0.1:{port}")
    with pytest.raises(errors.EngineError, match=f"127.0.0.1:1: .*; 127.0.0.1:{port}: "):
        master.check_reachable(f"spark://127.0.0.1:1,127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("local", True),
        ("local[*]", True),
        ("spark://localhost:7077", True),
        ("spark://[::1]:7077", True),
        ("spark://127.0.0.1:7077,10.0.0.1:7077", False),
        ("spark://head:7077", False),
        ("yarn", False),
    ],
)
def test_who_is_at_home(address: str, here: bool) -> None:
    assert master.is_here(address) == here


@pytest.mark.slow
@needs_java
def test_a_master_that_spark_does_not_know(table: Path) -> None:
    said = failed("find", table, "--master", "nonsense")
    assert "Spark could not be started: " in said
    assert "Master" in said


@pytest.mark.slow
@needs_java
def test_a_setting_that_java_refuses(table: Path) -> None:
    said = failed("find", table, "--engine", "spark", "--spark-conf", "spark.driver.memory=1xyz")
    assert "Spark could not be started: " in said
    assert "1xyz" in said


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyspark":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
from nearly.cli.program import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("more", [[], *slow(["--debug"])])
def test_without_the_extra(table: Path, more: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "find", str(table), "--engine", "spark", *more],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    *trace, said = done.stderr.splitlines()
    assert done.returncode == 2
    assert said.startswith("nearly: PySpark is not installed")
    assert said.endswith("pip install 'nearly[spark]'")
    assert bool(trace) == bool(more)
    assert ("Traceback (most recent call last):" in trace) == bool(more)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "spark", "--threads", "2"], "threads is 2, which is for the engine local"),
        (["--master", "local", "--memory", "1GB"], "memory is 1000000000, which is for the engine"),
        (
            ["--master", "local", "--temporary", "."],
            "temporary is ., which is for the engine local",
        ),
        (["--checkpoint", "x"], "checkpoint is x, which is for the engine spark"),
        (["--spark-conf", "a.b=c=d"], "spark_conf is a.b=c=d, which is for the engine spark"),
        (
            ["--engine", "local", "--master", "local"],
            "master is local, which is for the engine spark",
        ),
        (["--engine", "flink"], "'flink' is not one of 'local', 'spark'"),
        (
            ["--engine", "spark", "--spark-conf", "spark.ui"],
            "'spark.ui' has no value; write it like",
        ),
        (["--engine", "spark", "--spark-conf", "=1"], "'=1' has no value; write it like"),
        (["-o", "s3a://bucket/pairs"], "only Spark writes elsewhere"),
    ],
)
def test_options_that_make_no_sense(
    table: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert run(["find", str(table), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"nearly: [^\n]+\n", err)
    assert words in err


def test_paths_with_a_scheme_come_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["find", "s3a://a/b", "s3a://a/c", "--engine", "spark"]) == 2
    assert "a pattern stands for many" in capsys.readouterr().err


def test_an_output_that_exists_is_refused_before_any_work(table: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "mine").touch()
    (tmp_path / "file").touch()
    no_java = environment(PATH="/nowhere")
    call = ["find", table, "--engine", "spark"]
    said = failed(*call, "-o", tmp_path / "pairs", env=no_java)
    assert "pairs' exists; give another name, or --force to replace it" in said
    assert "is a file, and a folder" in failed(*call, "-o", tmp_path / "file", env=no_java)
    assert "there is no folder" in failed(*call, "--clusters", tmp_path / "a" / "b", env=no_java)
    forced = failed(*call, "-o", tmp_path / "pairs", "--force", env=no_java)
    assert "there is no Java" in forced
    assert (tmp_path / "pairs").is_dir()


def test_a_mistake_in_the_source_is_found_before_spark_starts(tmp_path: Path) -> None:
    no_java = environment(PATH="/nowhere", TMPDIR=str(tmp_path))
    said = failed("find", "nowhere.parquet", "--engine", "spark", env=no_java)
    assert "there is no file or folder 'nowhere.parquet'" in said
    assert list(tmp_path.iterdir()) == []


def frame_of(module: str) -> Any:
    return type("DataFrame", (), {"__module__": module})()


def test_frames_that_will_not_do() -> None:
    with pytest.raises(nearly.EngineError, match=r"frame.to_spark\(\)"):
        nearly.find(frame_of("pyspark.pandas.frame"))
    frame = frame_of("pyspark.sql.classic.dataframe")
    with pytest.raises(nearly.SettingsError, match=r"leave engine out, or give frame.toArrow\(\)"):
        nearly.find(frame, engine="local")
    with pytest.raises(nearly.SettingsError, match="brings its own session"):
        nearly.find(frame, master="local")
    with pytest.raises(nearly.SettingsError, match="threads is 2"):
        nearly.dedup(frame, threads=2)
    with pytest.raises(nearly.SettingsError, match="on one machine"):
        nearly.tune(frame)


def test_tune_runs_on_one_machine() -> None:
    for options in ({"engine": "spark"}, {"master": "local"}):
        with pytest.raises(nearly.SettingsError, match="on one machine"):
            nearly.tune(["a", "b"], **options)  # type: ignore[arg-type]


def test_spark_connect_will_not_do() -> None:
    from pyspark.sql import DataFrame

    remote = type("DataFrame", (DataFrame,), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(nearly.EngineError, match="Spark Connect, and nearly needs a classic one"):
        nearly.find(object.__new__(remote))


def test_spark_remote_will_not_do(table: Path) -> None:
    said = failed("find", table, "--engine", "spark", env=environment(SPARK_REMOTE="sc://host"))
    assert "without SPARK_REMOTE" in said


WORKER = """An error occurred while calling o52.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 \
times, most recent failure: Lost task 0.3: org.apache.spark.api.python.PythonException: Traceback \
(most recent call last):
  File "worker.py", line 4327, in invoke_udf
    run_process()
{0}

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.read(PythonRunner.scala:1097)
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.run(DAGScheduler.scala:2898)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 4327, in invoke_udf
{0}
\t... 1 more
"""


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (
            WORKER.format("nearly.errors.UnreadableError: a.csv: row 7: null text. Fix it."),
            errors.UnreadableError,
            r"^a\.csv: row 7: null text\. Fix it\.$",
        ),
        (
            WORKER.format("nearly.errors.SourceError: column 'n' holds list"),
            errors.SourceError,
            "^column 'n' holds list$",
        ),
        (
            WORKER.format("ModuleNotFoundError: No module named 'nearly'"),
            errors.EngineError,
            "has no Python module 'nearly'.*same path.*spark.archives=.*PYSPARK_PYTHON=",
        ),
        (
            WORKER.format("ImportError: nearly/_kernels.so: invalid ELF header"),
            errors.EngineError,
            "compiled kernels .*invalid ELF header",
        ),
        (
            'java.io.IOException: Cannot run program "/opt/x/python": error=2, No such file',
            errors.EngineError,
            "an executor has no Python at '/opt/x/python'",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in "
            "driver: 3.11, PySpark cannot run with different minor versions.",
            errors.EngineError,
            "the executors run Python 3.12, and the driver runs 3.11",
        ),
        (
            '[PATH_ALREADY_EXISTS] Path s3a://b/p already exists. Set mode as "overwrite".',
            errors.SinkError,
            "^'s3a://b/p' exists; give another name, or --force to overwrite$",
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/nowhere/x. SQLSTATE: 42K03",
            errors.MissingError,
            "^there is no file or folder '/nowhere/x'",
        ),
        (
            "[UNABLE_TO_INFER_SCHEMA] Unable to infer schema for Parquet. It must be specified",
            errors.UnreadableError,
            "no table that can be read as Parquet",
        ),
        (
            "java.lang.RuntimeException: java.lang.ClassNotFoundException: Class "
            "org.apache.hadoop.fs.s3a.S3AFileSystem not found",
            errors.EngineError,
            "hadoop-aws",
        ),
        (
            WORKER.format("MemoryError"),
            errors.NoMemoryError,
            "ran out of memory.*spark.executor.memory",
        ),
        (
            "reading the port number from daemon's stdout and terminated with code: 137.",
            errors.NoMemoryError,
            "ran out of memory",
        ),
        (
            WORKER.format("ImportError: libarrow.so: failed to map segment from shared object"),
            errors.NoMemoryError,
            "ran out of memory",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", errors.NoMemoryError, "ran out of memory"),
        (
            "java.io.IOException: No space left on device",
            errors.EngineError,
            "disk .* is full.*spark.local.dir",
        ),
        (
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
            errors.EngineError,
            "connection to Spark is lost",
        ),
        (
            WORKER.format("ValueError: some thing is off"),
            errors.EngineError,
            "^Spark failed: some thing is off. Run again with --debug to see Spark's whole trace$",
        ),
        (
            "An error occurred while calling o1.x.\n: org.apache.spark.SparkException: top\n\tat "
            "a.b.C\nCaused by: java.io.IOException: the deepest reason\n\tat d.e.F",
            errors.EngineError,
            "^Spark failed: the deepest reason. Run again",
        ),
    ],
)
def test_what_goes_wrong_in_spark_is_one_line(text: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(errors.NearlyError, match=words) as caught, translated():
        raise Py4JError(text)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, Py4JError)
    assert caught.value.__cause__.__notes__ == [text]


def test_errors_of_pyspark_itself_and_of_the_connection() -> None:
    for error in (
        ConnectionRefusedError(111, "Connection refused"),
        Py4JError("Answer from Java side is empty"),
    ):
        with pytest.raises(errors.EngineError, match="connection to Spark is lost"), translated():
            raise error
    with pytest.raises(errors.EngineError, match="Spark failed: odd"), translated():
        raise PySparkException("odd")


def test_what_is_no_fault_of_spark_passes() -> None:
    for error in (errors.MissingError("there is none"), KeyboardInterrupt(), BrokenPipeError()):
        with pytest.raises(type(error)) as caught, translated():
            raise error
        assert caught.value is error


SESSION = """
import signal, sys, warnings
warnings.simplefilter("error")
import nearly
from nearly.engines.spark.session.session import open_session, translated

def stop(number, frame): ...
signal.signal(signal.SIGINT, stop)
session = open_session("local[1]", {"spark.pyspark.python": sys.executable})
assert signal.getsignal(signal.SIGINT) is stop
assert session.conf.get("spark.driver.host") == "127.0.0.1"
assert open_session(None, {}) is session
assert open_session("local[1]", {}) is session
for master, conf in ("local[2]", {}), (None, {"spark.x": "y"}):
    try:
        open_session(master, conf)
    except nearly.EngineError as error:
        print(error)

def fail(batches):
    from nearly.errors import UnreadableError
    raise UnreadableError("this cannot be read. Fix it.")
    yield

try:
    with translated():
        session.range(3).mapInArrow(fail, "id long").collect()
except nearly.UnreadableError as error:
    print(error)
print(session.range(3).mapInArrow(lambda batches: batches, "id long").count())
"""


@needs_java
@pytest.mark.slow
def test_a_session_is_quiet_and_its_own_errors_come_back(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment(TMPDIR=str(tmp_path), SPARK_LOCAL_DIRS=str(tmp_path), PYSPARK_PYTHON=None),
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second, own, count = done.stdout.splitlines()
    assert first.startswith("spark.master is to be 'local[2]', and there is a session where it is")
    assert second.startswith("spark.x is to be 'y', and there is a session where it is not set")
    assert (own, count) == ("this cannot be read. Fix it.", "3")
    assert list(tmp_path.iterdir()) == []


@needs_java
@pytest.mark.slow
def test_a_folder_of_parts_is_deduplicated_into_another(tmp_path: Path) -> None:
    texts = [TEXT, TEXT + " again", "something else altogether, and nothing like it", None]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(2):
        rows = {"id": [f"{number}{i}" for i in range(4)], "text": texts, "n": [number] * 4}
        pq.write_table(pa.table(rows), corpus / f"part-{number}.snappy.parquet")
    (corpus / "_SUCCESS").touch()
    outputs = {"-o": "clean", "--removed": "removed.csv", "--skipped": "skipped"}
    places = [part for option, name in outputs.items() for part in (option, tmp_path / name)]
    done = subprocess.run(
        [NEARLY, "dedup", corpus, "--master", "local[1]", "--keep", "longest", *places],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment(),
    )
    assert done.returncode == 3, done.stderr
    read, outcome, *rest = done.stderr.splitlines()
    # PySpark's own daemon would complain of a broken pipe when the session ends.
    assert "BrokenPipeError" not in done.stderr
    skipped = [line for line in rest if line.startswith("skipped ")]
    assert read == "6 documents, 2 skipped, 3 exact copies"
    assert outcome == f"4 documents removed from 2 clusters; all others written to {tmp_path}/clean"
    assert len(skipped) == 2
    # Rows without a text are no documents, and stay, as on one machine.
    kept = pq.read_table(tmp_path / "clean")
    assert kept.column("id").to_pylist() == ["01", "02", "03", "13"]
    assert kept.column_names == ["id", "text", "n"]
    removed = (tmp_path / "removed.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in removed[1:]] == [
        ["00", "01"],
        ["10", "01"],
        ["11", "01"],
        ["12", "02"],
    ]
    assert pq.read_table(tmp_path / "skipped").num_rows == 2
    assert not list(tmp_path.glob(".nearly*"))


#: Tells which modules workers have: before any step of nearly's, and after a run.
WORKERS = """
import sys
import pyarrow as pa
import nearly
from nearly.engines.spark.session.session import open_session

def has(_):
    return [name in sys.modules for name in ("nearly.engines.spark.outcome", "pandas")]

asked = open_session("local[1]", {}).sparkContext.parallelize([0], 1).map(has)
before = asked.collect()
texts = [sys.argv[1]] * 2 + [sys.argv[1] + " again"]
table = pa.table({"id": ["a", "b", "c"], "text": texts})
nearly.find(table, engine="spark").pairs.collect()
nearly.dedup(table, engine="spark", keep="longest").kept.collect()
print(before, asked.collect())
"""


def test_workers_are_forked_with_what_steps_import_and_import_no_pandas() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKERS, TEXT],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment(),
    )
    assert done.stdout == "[[True, False]] [[True, False]]\n", done.stderr
