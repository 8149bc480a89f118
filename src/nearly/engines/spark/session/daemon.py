"""The process from which Spark forks its Python workers, in a session on this machine.

When a session ends, Java hangs up while workers still have something to say, and PySpark's daemon
prints a trace for each of them. Nothing is lost, for whoever asked is gone: so they end in silence.
"""

import os
from typing import Any

from pyspark import daemon

_plain_worker = daemon.worker


def worker(sock: Any, authenticated: Any) -> int:
    """PySpark's own, but for a pipe that nobody reads from any more."""
    try:
        return _plain_worker(sock, authenticated)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
