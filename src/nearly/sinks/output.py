"""The one way to a file: all the outputs of a command appear together, or none does.

What is written goes to a temporary file beside the target, and only when everything is
written do the targets appear.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import pyarrow as pa

from nearly.errors import SinkError
from nearly.mapping import let_go
from nearly.remnant import forget, on_abandon
from nearly.sinks.decision import Decider, was_decided
from nearly.sinks.format import format_of
from nearly.sinks.mark import Marks
from nearly.sinks.part_folder import StagedParts, check_parts, has_scheme, write_elsewhere
from nearly.sinks.place import blaming, check_different, check_place, target_of
from nearly.sinks.row_group import Batches, in_groups, plain_schema
from nearly.sinks.staged_file import Staged

__all__ = ["Outputs", "check_output", "check_place_of_frame", "is_file", "write_table"]


def write_table(batches: Batches, schema: pa.Schema, path: Path, *, force: bool = False) -> int:
    """Write one table to one file; gives the number of rows."""
    with Outputs(force=force) as outputs:
        return outputs.write(batches, schema, path)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse a table's output that is bound to fail, before the long work starts."""
    format_of(path)
    check_place(path, force=force)


def is_file(place: Path | str) -> bool:
    """Whether a table goes there as one file, in the format of the ending; or else as parts."""
    if has_scheme(place):
        return False
    try:
        format_of(Path(place))
    except SinkError:
        return False
    return True


def check_place_of_frame(place: Path | str, *, force: bool) -> None:
    """Refuse the output of a table that may be one file or a folder of parts.

    Of a place elsewhere nothing is known before it is written to.
    """
    if has_scheme(place):
        return
    check = check_place if is_file(place) else check_parts
    check(Path(place), force=force)


class Outputs:
    """The files of one command: they appear together when the block ends well.

    If there is a decider that can be asked afterwards, they appear together with what it commits.
    An exception, Ctrl-C included, leaves every target as it was; and so does the next run in the
    folder if this one is killed.
    """

    def __init__(self, *, force: bool = False, decider: Decider | None = None) -> None:
        self._force = force
        self._decider = decider
        self._ledger = None if decider is None else decider.ledger
        self._started: list[Staged | StagedParts] = []
        self._finished: list[Staged | StagedParts] = []
        self._marks = Marks()
        self._is_undone = True  # or else the next run has to try again
        self._ending = threading.Lock()
        self._abandoned = on_abandon(self._abandon)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._ending:
            try:
                if kind is None:
                    self._commit()
            finally:
                self._clean_up()
                forget(self._abandoned)

    def _clean_up(self) -> None:
        for staged in self._started:
            staged.discard()
            if self._is_undone:
                staged.discard_old()
        is_clean = self._is_undone and not any(staged.leaves_waste for staged in self._started)
        self._marks.drop(remove=is_clean)

    def _abandon(self) -> None:
        """For another thread, right before the process ends.

        What is being published is left to the next run to undo.
        """
        if self._ending.acquire(blocking=False):
            self._clean_up()

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
                let_go()
        return rows

    def write_frame(self, frame: Any, place: Path | str) -> None:
        """Write a frame, or a small table beside one: as one file, or as a folder of parts.

        One file is for what fits in memory. A place with a scheme cannot be staged: there a table
        appears when it is complete, whatever becomes of the other outputs.
        """
        if has_scheme(place):
            write_elsewhere(frame, str(place), force=self._force)
        elif is_file(place):
            table = frame.toArrow() if hasattr(frame, "toArrow") else frame
            self.write(table, table.schema, Path(place))
        else:
            check_parts(Path(place), force=self._force)
            staged = StagedParts(Path(place), self._stem(Path(place)))
            self._started.append(staged)
            staged.write(frame)
            self._finished.append(staged)

    @contextmanager
    def open(self, path: Path) -> Iterator[BinaryIO]:
        """A new file to write bytes to; it takes the place of `path` when the block ends well."""
        check_place(path, force=self._force)
        staged = Staged(path, self._stem(path))
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

    @contextmanager
    def folder(self, path: Path) -> Iterator[Path]:
        """A new folder to put files into; it takes the place of `path` as a file would."""
        check_parts(path, force=self._force)
        staged = StagedParts(path, self._stem(path))
        self._started.append(staged)
        yield staged.create()
        self._finished.append(staged)

    def _stem(self, path: Path) -> str:
        """The beginning of the temporary names of an output, which may be started only once."""
        check_different(*(staged.path for staged in self._started), path)
        with blaming(path):
            return self._marks.stem(target_of(path).parent)

    def _commit(self) -> None:
        if not self._finished:
            return
        alone = len(self._finished) == 1 and self._ledger is None
        try:
            if not alone or self._finished[0].target.exists():
                with blaming(self._finished[0].path):
                    undos = [staged.undo for staged in self._finished]
                    self._marks.list_undos(undos, self._ledger)
            for staged in self._finished:
                staged.publish(force=self._force)
            if self._ledger is not None:
                cast(Decider, self._decider).decide(self._marks.token)
            with blaming(self._finished[0].path):
                self._marks.decide()
        except BaseException:
            self._withdraw()
            raise

    def _withdraw(self) -> None:
        """Take all back, unless something has failed after it was decided that all stays."""
        is_decided = self._ledger is not None and was_decided(self._ledger, self._marks.token)
        if is_decided is None:
            self._is_undone = False
        elif not is_decided:
            undone = [staged.withdraw() for staged in self._finished]
            self._is_undone = all(undone)
