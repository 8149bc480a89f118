"""What is already Arrow: IPC files, tables in memory, and streams written down to be reread."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

from nearly.errors import UnreadableError
from nearly.sources.formats.arrow_codec import codec_of
from nearly.sources.formats.soundness import NOT_UTF_8, check_names, checked
from nearly.sources.part import Part, Reject, Stored, sliced

__all__ = ["ArrowFilePart", "TablePart", "spool"]

_FILE_MAGIC = b"ARROW1"


class _ArrowPart(Part):
    """Arrow data of which nothing is believed before it is checked."""

    def _checked(
        self, stored: Iterable[pa.RecordBatch], columns: Sequence[str] | None
    ) -> Iterator[pa.RecordBatch]:
        first = 0
        self._bad_rows: set[int] = set()
        for batch in stored:
            sound, bad = checked(batch, columns, self.name)
            self._bad_rows.update(first + row for row in bad)
            yield from sliced(sound)
            first += batch.num_rows

    def why_null(self, row: int) -> str:
        return NOT_UTF_8 if row in self._bad_rows else super().why_null(row)


class TablePart(_ArrowPart):
    """A table in memory."""

    in_memory = True

    def __init__(self, table: pa.Table, name: str) -> None:
        self.name = name
        self.schema = table.schema
        check_names(self.schema, name)
        self._table = table

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        return self._checked(self._table.to_batches(), columns)


class ArrowFilePart(_ArrowPart):
    """One Arrow IPC file, in the file or the stream format.

    It is read and not mapped: a mapped file counts against a limit on memory.
    """

    def __init__(self, path: str, name: str) -> None:
        self.name = name
        self.path = os.path.abspath(path)
        with _Opened(self.path, name) as reader:
            self.schema = reader.schema
        check_names(self.schema, name)

    def batches(
        self,
        columns: Sequence[str] | None,
        reject: Reject,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        with _Opened(self.path, self.name) as reader:
            yield from self._checked(_stored_batches(reader), columns)

    def is_own_format(self, ending: str) -> bool:
        return ending in (".arrow", ".feather", ".ipc")

    def stored(self) -> Stored:
        with _Opened(self.path, self.name) as reader:
            is_stream = not isinstance(reader, ipc.RecordBatchFileReader)
        options = {"is_stream": is_stream, "compression": codec_of(self.path, is_stream=is_stream)}
        return Stored(self.schema, "arrow", options, self._stored_groups())

    def _stored_groups(self) -> Iterator[pa.Table]:
        with _Opened(self.path, self.name) as reader:
            for batch in _stored_batches(reader):
                yield pa.Table.from_batches([checked(batch, None, self.name)[0]])


def spool(reader: pa.RecordBatchReader, name: str, temporary: Path) -> ArrowFilePart:
    """Write a stream down, so that it can be read more than once."""
    path = os.path.join(tempfile.mkdtemp(dir=temporary), "stream.arrow")
    with ipc.new_file(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(checked(batch, None, name)[0])
    return ArrowFilePart(path, name)


class _Opened:
    """A reader over an IPC file, closed in the end; its errors name the file."""

    def __init__(self, path: str, name: str) -> None:
        self._path = path
        self._name = name

    def __enter__(self) -> ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader:
        try:
            self._file = pa.OSFile(os.fsencode(self._path))
            is_file = self._file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
            self._file.seek(0)
            return (ipc.open_file if is_file else ipc.open_stream)(self._file)
        except (pa.ArrowException, OSError) as error:
            raise self._named(error) from error

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._file.close()
        if isinstance(error, pa.ArrowException | OSError):
            raise self._named(error) from error

    def _named(self, error: BaseException) -> UnreadableError:
        return UnreadableError(f"{self._name} cannot be read as Arrow. {error}")


def _stored_batches(
    reader: ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader,
) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, ipc.RecordBatchFileReader):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)
