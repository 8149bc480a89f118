"""A PostgreSQL server for tests: started when it is needed first, in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    place = programs()
    assert place is not None, "there is no PostgreSQL server here"
    folder = Path(tempfile.mkdtemp(prefix="nearly-pg-"))
    # The server refuses to run as root.
    becoming = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    as_other = becoming if os.getuid() == 0 else []
    if as_other:
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"
    make = [*as_other, place / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-N"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder)
    # Reached by a socket in the folder alone; a test has no use for what survives a power cut.
    options = ["-k", folder, "-h", "", "-c", "fsync=off", "-c", "max_connections=40"]
    run = [*as_other, place / "postgres", "-D", data, *options]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(run, stdout=log, stderr=log, cwd=folder)
    try:
        address = f"postgresql://postgres@/postgres?host={folder}"
        _wait(address, process, folder / "log")
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())
