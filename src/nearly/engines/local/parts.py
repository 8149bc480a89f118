"""Parts of a corpus on the disk of one machine, worked on one after the other."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nearly.arrays import spans
from nearly.documents.lookup import SourceTexts, TextReader
from nearly.documents.packet import pack, unpack
from nearly.documents.place import Stretch
from nearly.documents.readable import Readable, Skips
from nearly.errors import SinkError
from nearly.limits import give_back

__all__ = ["LocalParts"]


class LocalParts:
    """See `Parts` in `nearly.engines.base`: texts of about `size` bytes in each part.

    Columns of states lie in nameless files, and a step has those of its own part in memory. What a
    step gives is written message by message.
    """

    def __init__(
        self,
        sources: Sequence[Readable],
        folder: Path,
        size: int,
        skipped: Skips,
        also: str | None,
    ) -> None:
        self._sources = sources
        self._folder = folder
        self.blocks = _State(folder, several=False)
        self.sizes: Sequence[int] = [self._keep(source, size, skipped, also) for source in sources]

    def _keep(self, source: Readable, size: int, skipped: Skips, also: str | None) -> int:
        """Put a source aside; how many parts it has, one at least."""
        first = len(self.blocks)
        texts = _State(self._folder, several=False)
        for number, batches in enumerate(_dealt(source.documents(skipped, also=also), size)):
            texts.put(number, _Block(batches))
        if not len(texts):
            texts.put(0, _Block([]))
        stretched = _Stretched(source.stretches())
        for number in range(len(texts)):
            self.blocks.put(first + number, (texts[number], stretched))
        return len(texts)

    def share(self, value: Any) -> Any:
        """See `Parts`."""
        return value

    def each(
        self, step: Callable[..., Any], *states: _State, numbered: bool = False, **shared: Any
    ) -> _State:
        """See `Parts`."""
        made = _State(self._folder, several=False)
        for number, given in self._elements(states, numbered=numbered):
            made.put(number, step(*given, **shared))
        return made

    def exchange(
        self, step: Callable[..., Any], *states: _State, numbered: bool = False, **shared: Any
    ) -> _State:
        """See `Parts`."""
        came = _State(self._folder, several=True, parts=sum(self.sizes))
        for _, given in self._elements(states, numbered=numbered):
            for target, message in step(*given, **shared):
                came.put(target, message)
        return came

    def _elements(
        self, states: Sequence[_State], *, numbered: bool
    ) -> Iterator[tuple[int, list[Any]]]:
        for number in range(sum(self.sizes)):
            yield number, [*([number] if numbered else []), *(state[number] for state in states)]
            give_back()

    def collect(self, states: _State) -> list[Any]:
        """See `Parts`."""
        return [states[number] for number in range(len(states))]

    def text_reader(self, side: int, skipped: Skips) -> TextReader:
        """See `Parts`."""
        return SourceTexts(self._sources[side], skipped, ids_repeat=True)


class _Stretched(NamedTuple):
    """What the rows of a source belong to."""

    stretches: Sequence[Stretch]


class _Block(NamedTuple):
    """Documents that were read, each batch as a stream of its own."""

    batches: list[pa.Buffer]
    first_row: int = 0  # its rows are counted through all parts

    def documents(self, _skipped: Any, also: str | None = None) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """Batches of row, id, text and what was brought along; what was skipped is known."""
        yield from map(unpack, self.batches)


def _dealt(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[list[pa.Buffer]]:
    """Batches, cut where about so many bytes of text are together."""
    gathered: list[pa.Buffer] = []
    room = size
    for batch in batches:
        offsets, _ = spans(batch.column("text"))
        start = 0
        while start < batch.num_rows:
            fits = np.searchsorted(offsets, offsets[start] + room, "right") - 1
            end = min(batch.num_rows, max(int(fits), start + (not gathered)))
            if end > start:
                # A buffer, for bytes would stay in memory.
                gathered.append(pa.py_buffer(pack(batch.slice(start, end - start))))
            room -= int(offsets[end] - offsets[start])
            start = end
            if start < batch.num_rows or room <= 0:
                yield gathered
                gathered, room = [], size
    if gathered:
        yield gathered


class _Item(NamedTuple):
    """Something put aside: its shape, and where its columns lie in the file."""

    shape: bytes
    places: list[tuple[int, int]]  # start and size


class _State:
    """One element per part: what was put there, or of several all.

    Only columns go to the disk, as plain bytes; pickle tells them from what is around them, which
    stays in memory, so nothing is ever unpickled from a file.
    """

    def __init__(self, folder: Path, *, several: bool, parts: int = 0) -> None:
        self._folder = folder
        self._several = several
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._items: list[list[_Item]] = [[] for _ in range(parts)]

    def __len__(self) -> int:
        return len(self._items)

    def put(self, part: int, item: Any) -> None:
        """One more of a part."""
        while len(self._items) <= part:
            self._items.append([])
        columns: list[pickle.PickleBuffer] = []
        shape = pickle.dumps(item, protocol=5, buffer_callback=columns.append)
        try:
            self._items[part].append(_Item(shape, [self._write(column) for column in columns]))
        except OSError as error:
            raise SinkError(
                f"{self._folder}: {error.strerror} while putting aside what does not fit in "
                "memory; free some space, or name another folder with --temporary"
            ) from error

    def _write(self, column: pickle.PickleBuffer) -> tuple[int, int]:
        place = self._file.seek(0, 2)
        return place, self._file.write(column.raw())

    def __getitem__(self, part: int) -> Any:
        items = [self._read(item) for item in self._items[part]]
        return items if self._several else items[0]

    def _read(self, item: _Item) -> Any:
        columns = []
        for place, size in item.places:
            self._file.seek(place)
            column = bytearray(size)
            if self._file.readinto(column) != size:
                raise SinkError(f"{self._folder}: what was put aside there ends early")
            columns.append(column)
        return pickle.loads(item.shape, buffers=columns)  # noqa: S301 - from memory
