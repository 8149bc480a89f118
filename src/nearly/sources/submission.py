"""Submissions of many files: all files of a folder as one document, each below its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearly.documents.group import folder_of
from nearly.errors import SourceError
from nearly.sources.opener import open_source
from nearly.sources.skipped import Skipped
from nearly.text.part import heading

__all__ = ["join_folders"]


def join_folders(given: Path, target: Path, *, temporary: Path) -> Skipped:
    """Write a table of a document a folder, which is named by the folder.

    A file that lies in no folder is a document of its own. Gives what could not be read.
    """
    if not given.is_dir():
        raise SourceError(f"{given.name!r} is no folder; one folder for each document is expected")
    skipped = Skipped()
    source = open_source(given, temporary=temporary)
    joined: dict[str, list[str]] = {}
    for name, text in _files(source, skipped):
        folder = folder_of(name, "folder")
        inside = name if folder is None else name.split("/", 1)[1]
        joined.setdefault(folder or name, []).append(f"{heading(inside)}\n{text.rstrip()}\n")
    import pyarrow.parquet as pq

    texts = ["\n".join(parts) for parts in joined.values()]
    pq.write_table(
        pa.table({"id": list(joined), "text": pa.array(texts, pa.large_string())}), target
    )
    return skipped


def _files(source: Any, skipped: Skipped) -> Iterator[tuple[str, str]]:
    for batch in source.documents(skipped):
        names = map(str, batch.column("id").to_pylist())
        yield from zip(names, batch.column("text").to_pylist(), strict=True)
