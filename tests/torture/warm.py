"""A process in which everything is imported already: each command runs in a fork of it.

Run by `ordeal.Warm`, with the shim of failing_calls.c preloaded. Reads one request per line of
standard input and answers each with one line: what the command said, how it ended, and how many
system calls it made below its folder, and how many names it gave to what was not synced.
"""

import atexit
import ctypes
import gc
import json
import mmap
import os
import signal
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

import duckdb

from nearly.cli import main
from nearly.index import addition, merge_policy

#: What commands import when they need it; all of it is imported here, once.
ROOMS = "advice cli documents drawing evaluation index measures passage plans report sinks sources"
ROOMS += " stages text tuning view"
for room in map(import_module, (f"nearly.{name}" for name in ROOMS.split())):
    for module in walk_packages(room.__path__, f"{room.__name__}."):
        import_module(module.name)
ALONE = "nearly.api nearly.comparison nearly.engines.local nearly.grouping nearly.pipeline"
ALONE += " nearly.result_folder nearly.saved encodings.ascii gzip pandas rich.cells Stemmer"
for name in ALONE.split():
    import_module(name)

#: How many databases a command opens at the most.
DATABASES = 9
real_connect = duckdb.connect


def ready() -> list[duckdb.DuckDBPyConnection]:
    """Databases for the forks: to make one takes 40 ms, and touches no file.

    They have no threads, which no fork would have; the fork gives them what is usual.
    """
    given = {"threads": 1, "async_threads": 0}
    return [real_connect(config=given) for _ in range(DATABASES)]


READY = ready()
USUAL = dict(
    real_connect()
    .execute("SELECT name, value FROM duckdb_settings() WHERE name IN ('threads', 'async_threads')")
    .fetchall()
)


def connect(*place: str, config: dict[str, Any] | None = None, **more: Any) -> Any:
    """In the fork: a database that is ready, as if it were made now."""
    if place or more or not READY:
        return real_connect(*place, config=config or {}, **more)
    connection = READY.pop()
    for name, value in (USUAL | (config or {})).items():
        connection.execute(f"SET GLOBAL {name} = '{value}'")
    return connection


# Or a small index is but rows of its catalogue.
addition.PENDING, merge_policy.SMALLEST = 4, 8  # type: ignore[misc]

SHIM = ctypes.CDLL(None)
COUNTER = mmap.mmap(-1, mmap.PAGESIZE)
ADDRESS = ctypes.addressof(ctypes.c_long.from_buffer(COUNTER))


def command(request: dict[str, Any], said: Path) -> None:
    """In the fork: become the command."""
    os.chdir(request["cwd"])
    for number, name in ((0, os.devnull), (1, os.devnull), (2, said)):
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ["TMPDIR"] = request["tmp"]
    tempfile.tempdir = None
    sys.argv = ["nearly", *request["arguments"]]
    duckdb.connect = connect
    below, at, number = request["below"].encode(), request["at"], request["errno"]
    SHIM.arm(below, ctypes.c_long(at), number, request["links"], ctypes.c_void_p(ADDRESS))
    try:
        main()
    except SystemExit as leaving:
        end(leaving.code)


def end(code: object) -> NoReturn:
    """What a process does as it ends, but for taking every module apart."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def ended(child: int, request: dict[str, Any]) -> int | str:
    """The exit code, or -9 after a kill; `stuck` where it never ended by itself."""
    kill_at = time.monotonic() + (request["kill_after"] or 300)
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > kill_at:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL if request["kill_after"] else "stuck"
        time.sleep(0.0005)


def serve() -> None:
    """Answer until standard input ends."""
    said = Path(sys.argv[1])
    gc.collect()
    gc.freeze()  # or a fork copies all that it looks through for garbage
    for line in iter(sys.stdin.buffer.readline, b""):
        request = json.loads(line)
        said.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            command(request, said)
        code = ended(child, request)
        calls, early = (ctypes.c_long * 2).from_address(ADDRESS)
        text = said.read_text(errors="replace") if said.exists() else ""
        said_now = {"code": code, "said": text, "calls": calls, "early": early}
        print(json.dumps(said_now), flush=True)
    gc.unfreeze()  # or kernels count what is left as leaked


if __name__ == "__main__":
    serve()
