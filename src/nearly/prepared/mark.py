"""What people say of pairs: marks and notes, one line each, in a file beside the result.

The last line about a pair counts, so nothing is ever overwritten. Pairs are known by their
documents, so that marks outlive another run.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearly.documents.place import keys
from nearly.errors import SettingsError, SinkError
from nearly.prepared.result import Prepared

__all__ = ["LONGEST_NOTE", "MARKS", "Mark", "Marks"]

MARKS: Final = ("same", "different", "unsure")
#: Characters of a note.
LONGEST_NOTE: Final = 2_000


class Mark(NamedTuple):
    """What was said of a pair; `mark` is one of `MARKS`, or empty where only a note was left."""

    mark: str
    note: str


@dataclass
class Marks:
    """The marks of one result. `name` tells files apart: marks, or labels that were given blind."""

    prepared: Prepared
    name: str = "marks"
    _lock: Lock = field(default_factory=Lock)
    _known: dict[int, Mark] = field(default_factory=dict)
    _seen: int = 0  # bytes of the file that are known

    @property
    def path(self) -> Path:
        """The file, which may not be there yet."""
        whole = self.prepared.place.absolute()
        return whole.with_name(f"{whole.name}.{self.name}.jsonl")

    def known(self) -> dict[int, Mark]:
        """By pair; what another process added is read."""
        with self._lock:
            self._read()
            return dict(self._known)

    def put(self, pair: int, mark: str, note: str) -> None:
        """Write down what is said of a pair; nothing said takes back what was."""
        if mark not in ("", *MARKS):
            raise SettingsError(f"a mark is {mark!r}; choose one of {', '.join(MARKS)}, or none")
        if len(note) > LONGEST_NOTE:
            raise SettingsError(
                f"the note has {len(note):,} characters, and the most is {LONGEST_NOTE:,}; "
                "shorten it"
            )
        a, b = self._names(pair)
        line = json.dumps({"a": a, "b": b, "mark": mark, "note": note})
        with self._lock:
            self._append(line + "\n")
            self._read()

    def _append(self, line: str) -> None:
        try:
            with self.path.open("a", encoding="ascii") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SinkError(f"{self.path} cannot be written: {error.strerror}") from error

    def _names(self, pair: int) -> tuple[str, str]:
        a, b = self.prepared.ends(pair)
        both = self.prepared.documents.take(pa.array([a, b]))
        first, second = keys(both, "id").cast(pa.string()).to_pylist()
        return first, second

    def _read(self) -> None:
        """The lines that are new. Whoever is writing has not ended the last one."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._seen)
                new = file.read()
        except FileNotFoundError:
            return
        whole = new[: new.rfind(b"\n") + 1]
        self._seen += len(whole)
        said = list(_parsed(whole))
        pairs = self._pairs([(a, b) for a, b, _ in said])
        for pair, (_, _, mark) in zip(pairs, said, strict=True):
            if pair is not None and any(mark):
                self._known[pair] = mark
            elif pair is not None:
                self._known.pop(pair, None)

    def _pairs(self, named: list[tuple[str, str]]) -> Iterator[int | None]:
        """The pairs of two documents each; None where there is none of them now."""
        if not named:
            return
        known = keys(self.prepared.documents, "id").cast(pa.string()).combine_chunks()
        flat = pa.array([name for both in named for name in both], pa.string())
        numbers: npt.NDArray[np.int64] = pc.fill_null(pc.index_in(flat, known), -1).to_numpy()
        for a, b in numbers.reshape(-1, 2).tolist():
            yield None if min(a, b) < 0 else self._pair(a, b)

    def _pair(self, a: int, b: int) -> int | None:
        for pair in self.prepared.links(a).tolist():
            if b in self.prepared.ends(pair):
                return int(pair)
        return None


def _parsed(lines: bytes) -> Iterator[tuple[str, str, Mark]]:
    """Lines that are none of ours are left alone."""
    for line in lines.splitlines():
        try:
            said: dict[str, Any] = json.loads(line)
            texts = [said[name] for name in ("a", "b", "mark", "note")]
        except (ValueError, KeyError, TypeError):
            continue
        if all(isinstance(text, str) for text in texts) and texts[2] in ("", *MARKS):
            yield texts[0], texts[1], Mark(texts[2], texts[3])
