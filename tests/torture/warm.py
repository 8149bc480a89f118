"""A process in which everything is imported already: each command runs in a fork of it.

Run by `ordeal.Warm`, with the shim of failing_calls.c preloaded. Reads one request per line of
standard input and answers each with one line: what the command said, how it ended, and how many
system calls it made below its folder.
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

from nearly.cli import main

#: What commands import when they need it; all of it is imported here, once.
ROOMS = "advice cli documents drawing evaluation measures passage plans report sinks sources stages"
ROOMS += " text tuning view"
for room in map(import_module, (f"nearly.{name}" for name in ROOMS.split())):
    for module in walk_packages(room.__path__, f"{room.__name__}."):
        import_module(module.name)
for name in ("api", "comparison", "pipeline", "result_folder", "engines.local"):
    import_module(f"nearly.{name}")

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
        calls = ctypes.c_long.from_address(ADDRESS).value
        text = said.read_text(errors="replace") if said.exists() else ""
        print(json.dumps({"code": code, "said": text, "calls": calls}), flush=True)
    gc.unfreeze()  # or kernels count what is left as leaked


if __name__ == "__main__":
    serve()
