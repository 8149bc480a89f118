"""Which engine a command runs on: how it works there, and where its tables go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nearly.errors import SinkError
from nearly.frozen import dataclass

if TYPE_CHECKING:
    from nearly.sinks import Outputs

__all__ = ["ENGINES", "CommandEngine", "engine_of"]

#: Seconds that Java has to end and to remove its files, when a command is stopped.
JAVA_ENDS: Final = 30.0


@contextmanager
def _spark_at_work() -> Iterator[None]:
    """What fails in Spark is said as one of nearly's errors.

    And Spark is ended before anybody cleans up after it: it would go on writing meanwhile.
    """
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


def _check_file(place: Path | str, *, force: bool) -> None:
    from nearly.sinks import check_output, has_scheme

    if has_scheme(place):
        raise SinkError(
            f"{place!r} is not on this machine, and only Spark writes elsewhere; "
            "give the name of a file, or --engine spark"
        )
    check_output(Path(place), force=force)


def _check_frame(place: Path | str, *, force: bool) -> None:
    from nearly.sinks import check_place_of_frame

    check_place_of_frame(place, force=force)


def _write_file(outputs: Outputs, table: Any, place: Path | str) -> None:
    outputs.write(table, table.schema, Path(place))


def _write_frame(outputs: Outputs, table: Any, place: Path | str) -> None:
    outputs.write_frame(table, place)


@dataclass(frozen=True, kw_only=True)
class CommandEngine:
    """All that a command has to know of an engine."""

    at_work: Callable[[], AbstractContextManager[None]]  # while it runs, and while frames are read
    check: Callable[..., None]  # refuses a place for a table, before the long work starts
    write: Callable[[Outputs, Any, Path | str], None]
    writes_parts: bool  # tables are frames, and become folders of parts


ENGINES: Final = {
    "local": CommandEngine(
        at_work=nullcontext, check=_check_file, write=_write_file, writes_parts=False
    ),
    "spark": CommandEngine(
        at_work=_spark_at_work, check=_check_frame, write=_write_frame, writes_parts=True
    ),
}


def engine_of(options: Mapping[str, Any]) -> CommandEngine:
    """The one that was named, or whose master was."""
    return ENGINES[options["engine"] or ("spark" if options["master"] else "local")]
