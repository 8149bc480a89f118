"""The process from which Spark forks its Python workers, in a session on this machine.

When a session ends, Java hangs up while workers still have something to say, and PySpark's daemon
prints a trace for each of them. Nothing is lost, for whoever asked is gone: so they end in silence.

What steps need is imported here, once: a worker is forked with it. PySpark leaves that to each
worker, which takes a quarter of a second of it, and a run has about three workers a core.
"""

import gc
import os
from typing import Any

import pyspark.worker  # noqa: F401
from pyspark import daemon

import nearly.engines.spark.engine  # noqa: F401

_plain_worker = daemon.worker


def worker(sock: Any, authenticated: Any) -> int:
    """PySpark's own, but for a pipe that nobody reads from any more."""
    try:
        return _plain_worker(sock, authenticated)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    gc.freeze()  # no worker looks for garbage among what is there already
    daemon.worker = worker
    daemon.manager()
