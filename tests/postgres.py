"""A PostgreSQL server for tests: started when it is needed first, in a folder of its own."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest
from patience import PATIENCE

#: Where Debian has the programs of a server, and where others may.
PLACES = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/bin")]


def programs() -> Path | None:
    """The folder of initdb and postgres."""
    found = shutil.which("initdb")
    places = [*([Path(found).parent] if found else []), *PLACES]
    return next((place for place in places if (place / "initdb").exists()), None)


#: Left out where there is no server, but never in CI.
needs_postgres = pytest.mark.skipif(
    programs() is None and not os.environ.get("CI"),
    reason="there is no PostgreSQL server here; apt-get install postgresql",
)


@contextmanager
def server() -> Iterator[str]:
    """The address of a database on a server that runs as long as the block does."""
    with Server() as running:
        yield running.address


class Server:
    """A server in a folder of its own, reached by a socket there alone; it can be killed."""

    def __init__(self, *options: str) -> None:
        place = programs()
        assert place is not None, "there is no PostgreSQL server here"
        self.folder = Path(tempfile.mkdtemp(prefix="nearly-pg-"))
        self.address = f"postgresql://postgres@/postgres?host={self.folder}"
        # The server refuses to run as root.
        becoming = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        as_other = becoming if os.getuid() == 0 else []
        if as_other:
            shutil.chown(self.folder, "postgres", "postgres")
        self.data = self.folder / "data"
        # Nobody has a use for what survives a power cut.
        make = [*as_other, place / "initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-N"]
        subprocess.run([*make, *options], check=True, capture_output=True, cwd=self.folder)
        told = ["-k", self.folder, "-h", "", "-c", "fsync=off", "-c", "max_connections=40"]
        self._run = [*as_other, place / "postgres", "-D", self.data, *told]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Returns when it answers; one that was killed is waited for to be gone."""
        end = time.monotonic() + PATIENCE
        while not self._answers():
            assert time.monotonic() < end, (self.folder / "log").read_text()
            if self._process is None or self._process.poll() is not None:
                with open(self.folder / "log", "ab") as log:
                    self._process = subprocess.Popen(
                        self._run, stdout=log, stderr=log, cwd=self.folder
                    )
            time.sleep(0.05)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """SIGKILL to the one that started all others, which end when they notice."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(PATIENCE)

    def stop(self) -> None:
        """As one stops it by hand; connections are closed."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(PATIENCE)
