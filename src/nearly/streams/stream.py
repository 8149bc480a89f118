"""A stream without its copies: what is new in it, in its order and byte for byte."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa

from nearly.errors import MissingError, SettingsError, SourceError
from nearly.settings import TextSettings, UniqueSettings
from nearly.sources.skipped import Skipped
from nearly.streams.cutter import LONGEST, Piece, cutter_of
from nearly.streams.sieve import EXACT, KEPT, NEAR, Sieve
from nearly.wording import count

__all__ = ["Unique", "UniqueStatistics"]

#: Bytes that are read at a time, if so many are there: a pipe is not waited for.
BLOCK: Final = 2**20
#: Texts of a list that are looked at together.
BATCH: Final = 4096
_PACKED: Final = (".gz", ".zst", ".bz2", ".xz", ".zip")

Unit = str | bytes


@dataclass(frozen=True, kw_only=True)
class UniqueStatistics:
    """What was seen so far, what became of it, and the chance that it was wrong.

    `error` is the chance that a line which is no copy is dropped after `expect` different ones;
    `error_now` that after those that were seen.
    """

    seen: int
    kept: int
    exact_copies: int
    near_copies: int
    empty: int
    unreadable: int
    different: int
    expect: int
    error: float
    error_now: float
    memory: int
    bands: int | None
    rows: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


class Unique:
    """Lines (or paragraphs, or texts) of a stream, each once, as they come.

    Iterate over it once. `statistics` can be asked for at any time, and `skipped` has the lines
    that could not be read: they were kept.
    """

    def __init__(self, source: Any, settings: UniqueSettings, text: TextSettings) -> None:
        self._source, self._settings = source, settings
        self._sieve = Sieve(settings, text)
        self._unreadable = Skipped()
        self._counts = {KEPT: 0, EXACT: 0, NEAR: 0}
        self._seen = self._empty = 0

    def __iter__(self) -> Iterator[Any]:
        for kept in self.batches():
            yield from kept

    def batches(self) -> Iterator[list[Any]]:
        """What is kept of each block that could be read, or of each part of a list."""
        for units in _units(self._source, self._settings):
            yield self._kept(units)

    def _kept(self, units: Sequence[Unit]) -> list[Unit]:
        texts = [self._text(unit) for unit in units]
        places = [place for place, text in enumerate(texts) if text]
        fates = self._sieve.sift([texts[place] or b"" for place in places]).tolist()
        dropped = set()
        for place, fate in zip(places, fates, strict=True):
            self._counts[fate] += 1
            if fate != KEPT:
                dropped.add(place)
        return [unit for place, unit in enumerate(units) if place not in dropped]

    def _text(self, unit: Unit) -> bytes | None:
        """What is compared of a line; nothing where there is nothing or it cannot be read."""
        if isinstance(unit, Piece):
            if unit.is_first:
                self._seen += 1
                self._skip(f"has more than {LONGEST >> 20} MiB")
            return None
        self._seen += 1
        data = unit.encode(errors="surrogatepass") if isinstance(unit, str) else unit
        if self._seen == 1:  # what marks the encoding of a file is no part of its first line
            data = data.removeprefix(BOM_UTF8)
        if self._settings.text is not None:
            return self._text_of_json(data, self._settings.text)
        text = data.rstrip(b"\r\n")
        self._empty += not text
        return text

    def _text_of_json(self, line: bytes, column: str) -> bytes | None:
        if not line.strip():
            self._empty += 1
            return None
        try:
            text = _column_of(line, column)
        except _UnreadableLineError as error:
            self._skip(str(error))
            return None
        self._empty += not text
        return text.encode(errors="surrogatepass")

    def _skip(self, reason: str) -> None:
        self._unreadable.add(f"{self._settings.each} {self._seen:,}", reason)

    @property
    def statistics(self) -> UniqueStatistics:
        """What was seen so far."""
        banding = self._sieve.banding
        return UniqueStatistics(
            seen=self._seen,
            kept=self._seen - self._counts[EXACT] - self._counts[NEAR],
            exact_copies=self._counts[EXACT],
            near_copies=self._counts[NEAR],
            empty=self._empty,
            unreadable=len(self._unreadable),
            different=self._sieve.added,
            expect=self._sieve.size.items,
            error=self._sieve.error,
            error_now=self._sieve.error_now,
            memory=self._sieve.memory,
            bands=banding.bands if banding else None,
            rows=banding.rows if banding else None,
        )

    @property
    def skipped(self) -> pa.Table:
        """The lines that could not be read, which were kept: record, reason."""
        return self._unreadable.table()

    def __repr__(self) -> str:
        told = self.statistics
        return f"Unique: {told.kept:,} of {count(told.seen, self._settings.each)} kept so far"


class _UnreadableLineError(Exception):
    """Why a line has no text."""


def _column_of(line: bytes, column: str) -> str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise _UnreadableLineError("is not JSON") from None
    if not isinstance(row, dict):
        raise _UnreadableLineError("is no JSON object")
    if column not in row:
        raise _UnreadableLineError(f"has no column {column!r}")
    if not isinstance(row[column], str):
        raise _UnreadableLineError(f"has no text in its column {column!r}")
    return str(row[column])


def _units(source: Any, settings: UniqueSettings) -> Iterator[Sequence[Unit]]:
    if isinstance(source, str | Path):
        with _opened(Path(source)) as file:
            yield from _cut(file, settings)
    elif hasattr(source, "read"):
        yield from _cut(source, settings)
    elif isinstance(source, Sequence) and not isinstance(source, bytes):
        for start in range(0, len(source), BATCH):
            yield _checked(source[start : start + BATCH])
    elif isinstance(source, Iterable) and not isinstance(source, bytes):
        for unit in source:
            yield _checked([unit])
    else:
        raise SettingsError(
            f"{type(source).__name__} was given; give a path, an open file, or texts one by one"
        )


def _checked(units: Sequence[Any]) -> Sequence[Unit]:
    for unit in units:
        if not isinstance(unit, str | bytes):
            raise SettingsError(f"{type(unit).__name__} was given; a text is a string or bytes")
    return units


def _cut(file: BinaryIO, settings: UniqueSettings) -> Iterator[list[bytes]]:
    cutter = cutter_of(settings.each)
    read = getattr(file, "read1", file.read)
    while block := read(BLOCK):
        if isinstance(block, str):
            raise SettingsError("a file of text was given; open it as bytes, with mode 'rb'")
        yield list(cutter.feed(block))
    yield list(cutter.finish())


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if path.suffix in _PACKED:
        raise SourceError(
            f"{str(path)!r} is compressed, and a stream is read as it stands; unpack it on its "
            f"way, as in: zcat {path} | nearly unique -"
        )
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise MissingError(f"there is no file {str(path)!r}. Check the path.") from None
    except IsADirectoryError:
        raise SourceError(
            f"{str(path)!r} is a folder; give a file, or - for standard input"
        ) from None
