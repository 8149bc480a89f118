"""What a run will take, said before anything is read: from the size of its files alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from nearly.settings import Settings
from nearly.tuning.banding import for_recall
from nearly.tuning.cost import Corpus, Work, memory, seconds, signing_seconds

__all__ = ["Forecast", "forecast"]

#: Bytes a second that are read and cut into shingles, on one core of the benchmarks' machine.
READING: Final = 60e6
#: Bytes of a row, where nobody has counted rows.
BYTES_A_ROW: Final = 300
#: Endings of files that hold many documents.
TABLES: Final = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".gz", ".zst", ".xlsx")


class Forecast(NamedTuple):
    """What is there, and about what it will take; more where much is similar."""

    files: int
    bytes: int
    documents: int  # counted files, or an estimate of the rows
    seconds: float
    memory: int


def forecast(place: Path, settings: Settings) -> Forecast:
    """Of a file, or of a folder of files."""
    sizes = list(_sizes(place))
    size = sum(size for size, _ in sizes)
    documents = sum(max(1, size // BYTES_A_ROW) if many else 1 for size, many in sizes)
    banding = for_recall(settings.threshold, settings.recall, settings.permutations)
    threads = os.cpu_count() or 1
    reading = size / READING / threads
    corpus = Corpus(documents=documents, text=size, reading=reading, threads=threads)
    signing = signing_seconds(corpus, banding)
    work = Work(banding=banding, signing=signing, meetings=0, verified=0, verified_text=0)
    return Forecast(len(sizes), size, documents, seconds(corpus, work), memory(corpus, work))


def _sizes(place: Path) -> list[tuple[int, bool]]:
    if place.is_file():
        return [(place.stat().st_size, place.suffix.lower() in TABLES)]
    found = []
    for folder, _, names in os.walk(place):
        for name in names:
            if not name.startswith("."):
                size = os.lstat(os.path.join(folder, name)).st_size
                found.append((size, name.lower().endswith(TABLES)))
    return found
