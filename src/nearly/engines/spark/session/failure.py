"""What goes wrong in Spark, said in one line: pages of Java are for `--debug`."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from nearly import errors
from nearly.errors import (
    EngineError,
    MissingError,
    NearlyError,
    NoMemoryError,
    SinkError,
    UnreadableError,
)

__all__ = ["translated"]

#: The longest reason that is passed on word for word.
LONGEST: Final = 300

PACKAGE: Final = (
    "Every machine needs nearly in the Python environment that its executors run: the same path "
    "on all of them, or an archive, as in --spark-conf spark.archives=env.tar.gz#environment "
    "with PYSPARK_PYTHON=./environment/bin/python. A session of your own runs what PYSPARK_PYTHON "
    "named when it was started, or else python3. See docs/spark.md."
)
MEMORY: Final = (
    "Give Spark more, as in --spark-conf spark.executor.memory=4g (with the master local[*]: "
    "spark.driver.memory), or give each machine fewer cores: spark.executor.cores"
)


@contextmanager
def translated() -> Iterator[None]:
    """What Spark raises comes out as one of nearly's errors, with the original as its cause."""
    try:
        yield
    except (Py4JError, PySparkException, ConnectionRefusedError, ConnectionResetError) as error:
        text = _text(error)
        # Java keeps its trace to itself, and may be gone when somebody asks.
        error.add_note(getattr(error, "_stackTrace", None) or text)
        raise _explained(text) from error


def _text(error: BaseException) -> str:
    """All that is said, by the error and by what caused it."""
    said = []
    cause: BaseException | None = error
    while cause is not None:
        said.append(str(cause))
        cause = getattr(cause, "_cause", None)
    return "\n".join(said) or type(error).__name__


def _explained(text: str) -> NearlyError:
    own = _own_error(text)
    if own is not None:
        return own
    for pattern, explain in KNOWN:
        found = re.search(pattern, text)
        if found is not None:
            return explain(found)
    return EngineError(
        f"Spark failed: {_deepest(text)}. Run again with --debug to see Spark's whole trace"
    )


def _own_error(text: str) -> NearlyError | None:
    """What a worker raised on purpose, as it would have been raised here."""
    for name, message in reversed(re.findall(r"^nearly\.errors\.(\w+): (.*)$", text, re.MULTILINE)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, NearlyError):
            return kind(message)
    return None


def _deepest(text: str) -> str:
    """The first line of the innermost cause, without the names of Java's classes."""
    causes = re.findall(r"^Caused by: (.+)$", text, re.MULTILINE)
    python = re.findall(r"^((?:\w+\.)*\w*(?:Error|Exception): .+)$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if _says_something(line)]
    line = (python or causes or lines or ["no reason was given"])[-1 if python or causes else 0]
    line = re.sub(r"^(?:[\w$]+\.)+(?=[\w$]+(?:Exception|Error)\b)", "", line.strip())
    line = re.sub(r"^\w+: (?=\[|\w)|^: ", "", line)
    line = re.sub(r"^\[[A-Z_.]+\] |\s*SQLSTATE: \w+", "", line)
    return line[:LONGEST].rstrip(". ")


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("An error occurred while calling", "\tat "))


def _says(
    message: str, kind: type[NearlyError] = EngineError
) -> Callable[[re.Match[str]], NearlyError]:
    """An error whose message may show what was matched."""
    return lambda found: kind(message.format(*found.groups()))


#: What is known to happen, the more telling first.
KNOWN: Final = (
    (
        r"No module named '((?:nearly|numpy|pyarrow|duckdb)[\w.]*)'",
        _says("an executor has no Python module {0!r}. " + PACKAGE),
    ),
    (
        r"ImportError: (.*_kernels.*)",
        _says("an executor cannot load nearly's compiled kernels ({0}). " + PACKAGE),
    ),
    (
        r'Cannot run program "([^"]+)"',
        _says("an executor has no Python at {0!r}. " + PACKAGE),
    ),
    (
        r"Python in worker has different version: (\S+?) than that in driver: (\S+?),",
        _says(
            "the executors run Python {0}, and the driver runs {1}: both need the same. Let "
            "PYSPARK_PYTHON name the Python of the executors. " + PACKAGE
        ),
    ),
    (
        r"(?:PATH_ALREADY_EXISTS\] Path|FileAlreadyExistsException: \S+ directory) (?:file:)?(\S+)",
        _says("{0!r} exists; give another name, or --force to overwrite", SinkError),
    ),
    (
        r"PATH_NOT_FOUND\] Path does not exist: (?:file:)?(\S+?)\.?(?:\s|$)",
        _says("there is no file or folder {0!r}. Check the path.", MissingError),
    ),
    (
        r"UNABLE_TO_INFER_SCHEMA\] Unable to infer schema for (\w+)",
        _says(
            "there is no table that can be read as {0}. The ending of the name says the format, "
            "and without one it is Parquet.",
            UnreadableError,
        ),
    ),
    (
        r"UNRESOLVED_COLUMN\S* .*? with name `?([^`\s]+)`?.*?(?:following\? \[(.*?)\]|$)",
        _says("there is no column {0!r}. There are: {1}.", MissingError),
    ),
    (
        r"ClassNotFoundException: Class (\S*S3A\S*)|No FileSystem for scheme \"?(\w+)",
        _says(
            "Spark lacks the jars for such a path. Add them, as in --spark-conf "
            "spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION, with the version of the "
            "hadoop-client jars that PySpark has. See docs/spark.md."
        ),
    ),
    (
        r"No space left on device",
        _says(
            "a disk of the cluster is full. Free some space, or let Spark use another disk, as in "
            "--spark-conf spark.local.dir=/folder"
        ),
    ),
    (
        r"OutOfMemoryError|Java heap space|MemoryError|Out of Memory Error|bad_alloc|"
        r"failed to map segment|Cannot allocate memory|can't start new thread|"
        r"(?:exit(?:ed with)?|terminated with) code:? 137|Container killed .* exceeding",
        _says("Spark ran out of memory. " + MEMORY, NoMemoryError),
    ),
    (
        r"Python worker exited unexpectedly",
        _says("a Python worker of Spark died, most likely because memory ran out. " + MEMORY),
    ),
    (
        r"All masters are unresponsive|Master removed our application|stopped SparkContext|"
        r"SparkContext (?:was|has been) shut ?down|Connection refused|Connection reset|"
        r"Answer from Java side is empty|Error while (?:sending|receiving)",
        _says(
            "the connection to Spark is lost. See in the master's web page, or its log, whether it "
            "still runs and has workers; then run again (--checkpoint DIR keeps what is done)"
        ),
    ),
)
