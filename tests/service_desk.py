"""A service on an index of the tests: in this process, or in one of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from patience import PATIENCE
from starlette.testclient import TestClient

import nearly
from nearly.service.app import make_app
from nearly.service.desk import Desk
from nearly.service.guard import Keys
from nearly.service.limit import Limits

BASE = "http://127.0.0.1:8017"
TEXTS = {
    "a": "The export button does nothing when I click it.",
    "b": "The export button does nothing when I click on it!",
    "c": "Please reset my password.",
}


@contextmanager
def served(
    path: Path, limits: Limits | None = None, headers: dict[str, str] | None = None, **keys: Any
) -> Iterator[TestClient]:
    """A client of an app that runs here; the index is closed afterwards."""
    with nearly.Index.open(path) as index:
        app = make_app(Desk(index, path, limits or Limits()), Keys(port=8017, **keys))
        with TestClient(app, BASE, raise_server_exceptions=False, headers=headers) as client:
            yield client


class Process:
    """A real server."""

    def __init__(self, path: Path, *arguments: str, **environment: str) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("NEARLY_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nearly", "serve", path, "--api", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=kept | environment,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """The exit code, and what was said on stderr."""
        self.process.send_signal(number)
        said = self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode, said


@contextmanager
def running(path: Path, *arguments: str, **environment: str) -> Iterator[Process]:
    """A server that ends with the test, however that ends."""
    server = Process(path, *arguments, **environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)
        for pipe in (server.process.stdout, server.process.stderr):
            if pipe is not None:
                pipe.close()
