"""Which engine a command runs on, and how it leaves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["engine_at_work", "is_spark"]


def is_spark(options: Mapping[str, Any]) -> bool:
    """Whether it was named, or a master of it."""
    return (options["engine"] or ("spark" if options["master"] else "local")) == "spark"


#: Seconds that Java has to end and to remove its files, when a command is stopped.
JAVA_ENDS: Final = 30.0


@contextmanager
def engine_at_work(*, spark: bool) -> Iterator[None]:
    """What fails in Spark is said as one of nearly's errors.

    And Spark is ended before anybody cleans up after it: it would go on writing meanwhile.
    """
    if not spark:
        yield
        return
    import logging

    from nearly.cli import interrupt
    from nearly.engines.spark.session.failure import translated
    from nearly.engines.spark.session.java import end_java

    interrupt.allow(JAVA_ENDS)
    # A command that is stopped while it waits for Java would show traces of py4j's.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        with translated():
            yield
    except BaseException:
        end_java()
        raise
