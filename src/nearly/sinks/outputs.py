"""The one way to a file: all the outputs of a command appear together, or none does.

What is written goes to a temporary file beside the target, and only when everything is
written do the targets appear.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self, cast

import pyarrow as pa

from nearly.errors import SinkError
from nearly.sinks.formats import format_of
from nearly.sinks.groups import Batches, in_groups, plain_schema
from nearly.sinks.places import check_place
from nearly.sinks.staging import Staged

__all__ = ["Outputs", "check_output", "write_table"]


def write_table(batches: Batches, schema: pa.Schema, path: Path, *, force: bool = False) -> int:
    """Write one table to one file; gives the number of rows."""
    with Outputs(force=force) as outputs:
        return outputs.write(batches, schema, path)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a table's output that is bound to fail, before the long work starts."""
    format_of(path)
    check_place(path, force=force)


class Outputs:
    """The files of one command: they appear together when the block ends well.

    An exception, Ctrl-C included, leaves every target as it was.
    """

    def __init__(self, *, force: bool = False) -> None:
        self._force = force
        self._started: list[Staged] = []
        self._finished: list[Staged] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            for staged in self._started:
                staged.discard()

    def write(self, batches: Batches, schema: pa.Schema, path: Path) -> int:
        """Write a table in the format of the path's ending; gives the number of rows."""
        form, compress = format_of(path)
        plain = plain_schema(schema)
        rows = 0
        with ExitStack() as stack:
            file = stack.enter_context(self.open(path))
            if compress:
                file = stack.enter_context(compress(file))
            write_group = stack.enter_context(form(file, plain))
            for group in in_groups(batches, plain):
                write_group(group)
                rows += group.num_rows
        return rows

    @contextmanager
    def open(self, path: Path) -> Iterator[BinaryIO]:
        """A new file to write bytes to; it takes the place of `path` when the block ends well."""
        check_place(path, force=self._force)
        staged = Staged(path)
        if any(staged.target == other.target for other in self._started):
            raise SinkError(f"{os.fspath(path)!r} is given for two outputs; give two names")
        self._started.append(staged)
        file = staged.create()
        try:
            yield cast(BinaryIO, file)
            staged.complete(file)
        except BaseException:
            # A second failure, of flushing what could not be written, says nothing new.
            with suppress(OSError, SinkError):
                file.close()
            raise
        self._finished.append(staged)

    def _commit(self) -> None:
        try:
            for staged in self._finished:
                staged.publish(force=self._force)
        except BaseException:
            for staged in self._finished:
                staged.withdraw()
            raise
