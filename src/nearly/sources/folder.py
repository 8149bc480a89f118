"""Whether a folder is one table in parts, or a collection of documents."""

import os
from collections.abc import Mapping
from typing import Final

from nearly.frozen import dataclass
from nearly.sources.formats.encoding import bare_ending
from nearly.sources.path import find_files

__all__ = ["Division", "divided", "holds_tables"]

#: Files that are no texts.
_BINARY: Final = (".parquet", ".arrow", ".feather", ".ipc", ".xlsx", ".ods")
#: A JSON file may be a part too, but is more often a document or a setting.
_PARTS: Final = (*_BINARY, ".csv", ".tsv", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Division:
    """What is taken of a folder, and what is left."""

    is_table: bool
    #: By their ids, the files that are read.
    taken: dict[str, str]
    #: By their ids, the files that are not: texts beside a table, tables among texts.
    left: dict[str, str]


def divided(files: Mapping[str, str]) -> Division:
    """A folder is a table if at least half of its files are parts of one.

    Files and folders whose names begin with _ are what Spark leaves beside its parts: they do
    not count there.
    """
    counted = {shown: path for shown, path in files.items() if not _is_mark(shown)}
    parts = {shown: path for shown, path in counted.items() if bare_ending(path) in _PARTS}
    if parts and 2 * len(parts) >= len(counted):
        others = {shown: path for shown, path in counted.items() if shown not in parts}
        return Division(is_table=True, taken=parts, left=others)
    binary = {shown: path for shown, path in files.items() if bare_ending(path) in _BINARY}
    texts = {shown: path for shown, path in files.items() if shown not in binary}
    return Division(is_table=False, taken=texts, left=binary)


def holds_tables(folder: str | os.PathLike[str], glob: str | None = None) -> bool:
    """Whether a folder is read as a table, and not as a collection of documents."""
    return divided(find_files([os.fspath(folder)], glob).paths).is_table


def _is_mark(shown: str) -> bool:
    return any(piece.startswith("_") for piece in shown.split("/"))
