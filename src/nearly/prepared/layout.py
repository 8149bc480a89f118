"""Where what was prepared of a result lies: a folder beside it, of arrays and tables to be mapped.

It can be made again from the result at any time, so it holds nothing that a user would miss.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.errors import MissingError

__all__ = ["folder_of", "map_array", "map_table", "read_members", "stamp_of", "write_folder"]

FORMAT: Final = "nearly view"
VERSION: Final = 3
_JSON: Final = "view.json"
#: Smaller files are read: a map takes a page at least, and none of nothing can be made.
_LEAST_TO_MAP: Final = 4_096


def folder_of(result: Path) -> Path:
    """The folder beside a saved result."""
    whole = result.absolute()
    return whole.with_name(f"{whole.name}.view")


def stamp_of(result: Path) -> str:
    """What changes when the result does: its JSON has the checksums of all its tables."""
    try:
        return hashlib.sha256((result / "result.json").read_bytes()).hexdigest()
    except OSError as error:
        raise MissingError(
            f"{str(result)!r} is not a saved result: its result.json cannot be read. "
            "Give a folder that nearly find wrote with --save."
        ) from error


def write_folder(
    draft: Path, members: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write all but the tables, which are written as they are made."""
    for name, array in arrays.items():
        np.save(draft / f"{name}.npy", array, allow_pickle=False)
    whole = {"format": FORMAT, "version": VERSION, **members}
    (draft / _JSON).write_text(json.dumps(whole, indent=2) + "\n", encoding="ascii")


def read_members(folder: Path) -> dict[str, Any] | None:
    """What was said of it; None where there is nothing that this version can use."""
    try:
        members = json.loads((folder / _JSON).read_bytes())
    except (OSError, ValueError):
        return None
    known = {"format": FORMAT, "version": VERSION}
    is_known = isinstance(members, dict) and known.items() <= members.items()
    return members if is_known else None


def map_array(folder: Path, name: str) -> npt.NDArray[Any]:
    """An array that stays on the disk until it is looked at."""
    path = folder / f"{name}.npy"
    mode: Any = "r" if path.stat().st_size >= _LEAST_TO_MAP else None
    array: npt.NDArray[Any] = np.load(path, mmap_mode=mode, allow_pickle=False)
    return array


def map_table(folder: Path, name: str) -> pa.Table:
    """A table that stays on the disk until it is looked at."""
    with pa.memory_map(str(folder / f"{name}.arrow")) as file:
        return pa.ipc.open_file(file).read_all()
