"""A real Spark standalone cluster on the loopback address, for tests.

Master and workers are processes of their own, started by the script that PySpark's wheel brings
(it knows which flags Spark needs of which Java). Each leads a process group, so that a worker
dies together with its executors, as when a machine dies.
"""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from patience import PATIENCE

HOST = "127.0.0.1"
#: Half the time of a short life: compile lightly, and start no threads to collect garbage.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


#: What runs on Spark; tests/conftest.py leaves it out where there is no Java.
needs_java = pytest.mark.java


class StandaloneCluster(AbstractContextManager["StandaloneCluster"]):
    """A master and its workers, from `with` to the end of it, whatever happens in between."""

    def __init__(
        self, folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "1g"
    ) -> None:
        self.folder = folder
        self._wanted = workers
        self._offer = ["--cores", str(cores), "--memory", memory]
        self._port, self._page = free_ports(2)
        self._workers: list[subprocess.Popen[bytes]] = []
        self._ending = ExitStack()

    @property
    def url(self) -> str:
        """What a driver takes as its master."""
        return f"spark://{HOST}:{self._port}"

    def __enter__(self) -> Self:
        with ExitStack() as ending:  # closes what was started if the rest does not start
            self._ending = ending
            master = ["--port", str(self._port), "--webui-port", str(self._page)]
            self._start("master", "org.apache.spark.deploy.master.Master", *master)
            # A worker that finds no master tries again only after many seconds.
            self._wait("the master to answer", lambda: self.state() is not None)
            for i in range(self._wanted):
                self._workers.append(self._start_worker(i))
            self._wait("the workers to register", lambda: self.alive() == self._wanted)
            self._ending = ending.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.close()

    def kill_worker(self, i: int) -> None:
        """SIGKILL to a worker and its executors; returns when the master has noticed."""
        left = self.alive() - 1
        kill(self._workers[i])
        self._wait("the master to miss the worker", lambda: self.alive() == left)

    def alive(self) -> int:
        """How many workers the master holds for alive."""
        workers = (self.state() or {}).get("workers", [])
        return sum(worker["state"] == "ALIVE" for worker in workers)

    def state(self) -> dict[str, Any] | None:
        """What the master's page says, or nothing while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self._page}/json/", timeout=5) as page:
                said: dict[str, Any] = json.load(page)
                return said
        except (OSError, json.JSONDecodeError):  # early on it answers with another page
            return None

    def _start_worker(self, i: int) -> subprocess.Popen[bytes]:
        work = ["--work-dir", str(self.folder / f"work-{i}")]
        kind = "org.apache.spark.deploy.worker.Worker"
        return self._start(f"worker-{i}", kind, "--webui-port", "0", *self._offer, *work, self.url)

    def _start(self, name: str, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [spark_home() / "bin" / "spark-class", kind, "--host", HOST, *arguments],
                env={**os.environ, **self._environment()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._ending.callback(kill, process)
        return process

    def _environment(self) -> dict[str, str]:
        return {
            "SPARK_HOME": str(spark_home()),
            "SPARK_DAEMON_JAVA_OPTS": QUICK_JAVA,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_LOCAL_IP": HOST,
        }

    def _wait(self, what: str, happened: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > end:
                raise TimeoutError(f"Waited {PATIENCE} s for {what}; see the logs in {self.folder}")
            time.sleep(0.05)


def spark_home() -> Path:
    """The folder of the installed PySpark, which is a whole Spark."""
    import pyspark

    return Path(pyspark.__file__).parent


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on: held together for a moment, so that they differ."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def kill(leader: subprocess.Popen[bytes]) -> None:
    """End a process and its group at once. Python workers of an executor end with its pipe."""
    if leader.poll() is None:
        os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()
