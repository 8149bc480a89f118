"""Arrays that partitions keep and send, put beside Spark where all of them are on one machine.

What lies in Spark's memory passes through pipes and is copied several times, whenever a step looks
at it. So on one machine Spark is handed a note instead, which says where in a file the arrays lie;
whoever unpickles it has them shown as memory, and reads those that it looks at.
"""

import mmap
import os
import pickle
import weakref
from pathlib import Path
from typing import Any, Final

from nearly.engines.spark.session.private import pickled
from nearly.remnant import make_scratch, remove_scratch

__all__ = ["Element", "Room", "Shelf"]

#: Bytes of an array that are not worth a look into a file.
SMALL: Final = 4096
#: Where an array may begin.
ALIGNED: Final = 64


class Room:
    """A folder of files that all partitions see; it goes when nobody holds it any more."""

    def __init__(self, parent: str | None):
        self.folder: Path = make_scratch(parent)
        weakref.finalize(self, remove_scratch, self.folder)


class Shelf:
    """A file of one task, made when the first array is put there."""

    def __init__(self, folder: str):
        self.path = os.path.join(folder, os.urandom(8).hex())
        self._file: int | None = None
        self._size = 0

    def put(self, arrays: list[pickle.PickleBuffer]) -> tuple[int, list[tuple[int, int]]]:
        """Where they begin, and the bytes of each from there on."""
        if self._file is None:
            self._file = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            weakref.finalize(self, os.close, self._file)
        start = _up(self._size, mmap.ALLOCATIONGRANULARITY)
        end, spans = start, []
        for array in arrays:
            with array.raw() as data:
                low = _up(end, ALIGNED)
                end = low + _write(self._file, data, low)
                spans.append((low - start, end - start))
        self._size = end
        return start, spans


class Element:
    """What Spark keeps or sends; it is unpickled as what it was made of."""

    def __init__(self, element: Any, shelf: Shelf):
        self._element, self._shelf = element, shelf

    def __reduce__(self) -> Any:
        arrays: list[pickle.PickleBuffer] = []

        def is_small(array: pickle.PickleBuffer) -> bool:
            with array.raw() as data:
                small = data.nbytes < SMALL
            if not small:
                arrays.append(array)
            return small

        note = pickled(self._element, is_small)
        if not arrays:
            return pickle.loads, (note,)
        try:
            return _taken_up, (self._shelf.path, *self._shelf.put(arrays), note)
        except OSError as error:  # PySpark prints the trace of all that is no PicklingError
            raise pickle.PicklingError(str(error)) from error


def _taken_up(path: str, start: int, spans: list[tuple[int, int]], note: bytes) -> Any:
    """The element again; what is changed in its arrays changes nowhere else."""
    with open(path, "rb") as file:
        length = spans[-1][1]
        shown = memoryview(mmap.mmap(file.fileno(), length, access=mmap.ACCESS_COPY, offset=start))
    return pickle.loads(note, buffers=[shown[low:high] for low, high in spans])  # noqa: S301


def _write(file: int, data: memoryview, at: int) -> int:
    done = 0
    while done < len(data):
        done += os.pwrite(file, data[done:], at + done)
    return done


def _up(size: int, to: int) -> int:
    return -(-size // to) * to
