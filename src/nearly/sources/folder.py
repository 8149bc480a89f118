"""A folder that is one table: the parts that Spark writes, and nothing else."""

import os
from pathlib import Path
from typing import Final

from nearly.sources.formats.encoding import bare_ending

__all__ = ["tables_of_folder"]

#: Formats that no text has: a folder of CSV or JSON files may well be one of documents.
_ENDINGS: Final = (".parquet", ".arrow", ".feather", ".ipc")


def tables_of_folder(folder: str | os.PathLike[str]) -> list[Path]:
    """The table files of a folder in the order of their names; none where it holds other things.

    Names that begin with _ or . are what Spark leaves beside its parts, and do not count.
    """
    shown = [name for name in sorted(os.listdir(folder)) if not name.startswith(("_", "."))]
    paths = [Path(folder, name) for name in shown]
    are_tables = all(p.is_file() and bare_ending(str(p)) in _ENDINGS for p in paths)
    return paths if are_tables else []
