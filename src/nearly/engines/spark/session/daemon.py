"""The process from which Spark forks its Python workers, in a session on this machine.

When a session ends, Java hangs up while workers still have something to say, and PySpark's daemon
prints a trace for each of them. Nothing is lost, for whoever asked is gone: so they end in silence.

After every task PySpark looks for garbage among all that a worker holds, and most of that is the
modules it imported: in short steps this took three quarters of the worker's time.
"""

import gc
import os
import sys
from typing import Any

from pyspark import daemon

_plain_worker = daemon.worker


def worker(sock: Any, authenticated: Any) -> int:
    """PySpark's own, but for a pipe that nobody reads from any more, and for the modules."""
    modules = len(sys.modules)
    try:
        code = _plain_worker(sock, authenticated)
    except BrokenPipeError:
        os._exit(1)
    if len(sys.modules) > modules:
        gc.collect()
        gc.freeze()  # from now on, what modules hold is not looked at
    return code


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
