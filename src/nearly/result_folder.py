"""A result as a folder: written whole or not at all, and read only when it is unharmed.

A folder holds `result.json` and one Arrow file per table. The JSON names the format, its version,
the settings, the statistics, where the documents are, and the SHA-256 of every table and of itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nearly.errors import MissingError, SinkError, SourceError, UnreadableError
from nearly.sinks.mark import sweep, sync
from nearly.sinks.output import Outputs

__all__ = ["check_target", "read_result", "write_result"]

FORMAT: Final = "nearly result"
VERSION: Final = 2
_JSON: Final = "result.json"


def write_result(
    members: Mapping[str, Any], tables: Mapping[str, pa.Table], folder: Path, outputs: Outputs
) -> None:
    """Write a result to a folder that appears with the other outputs."""
    try:
        with outputs.folder(folder) as draft:
            _write(members, tables, draft)
    except OSError as error:
        raise SinkError(
            f"{str(folder)!r} cannot be written: {error.strerror or error}. Nothing was changed."
        ) from error


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a place where no result can be saved."""
    if not folder.absolute().parent.is_dir():
        raise SinkError(
            f"{str(folder)!r} cannot be written: there is no folder "
            f"{str(folder.absolute().parent)!r}; make it first, or give another name"
        )
    sweep(folder.absolute().parent)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / _JSON).is_file():
        raise SinkError(
            f"{str(folder)!r} exists and is not a saved result; give the name of a new folder"
        )
    if not force:
        raise SinkError(
            f"{str(folder)!r} exists; give another name, or force=True to replace the result"
        )


def _write(members: Mapping[str, Any], tables: Mapping[str, pa.Table], folder: Path) -> None:
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "nearly": version("nearly"),
        **members,
        "tables": {name: _write_table(table, folder, name) for name, table in tables.items()},
    }
    text = json.dumps(whole | {"sha256": _digest(whole)}, indent=2)
    (folder / _JSON).write_text(text + "\n", encoding="ascii")
    for file in folder.iterdir():
        sync(file)
    sync(folder)


def _write_table(table: pa.Table, folder: Path, name: str) -> dict[str, Any]:
    path = folder / f"{name}.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return {"rows": table.num_rows, "sha256": _digest_of_file(path)}


def _digest(members: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_result(
    folder: Path, *, mapped: bool = False
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """What `write_result` was given; a file that was changed is refused.

    Tables that are `mapped` stay on the disk, which must not change them.
    """
    members = _read_members(folder)
    tables = members.pop("tables")
    reading = partial(_read_table, folder, mapped=mapped)
    return members, {name: reading(name, facts) for name, facts in tables.items()}


def _read_members(folder: Path) -> dict[str, Any]:
    try:
        members = json.loads((folder / _JSON).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError(
            f"{str(folder)!r} is not a saved result: it has no {_JSON}. "
            "Give a folder that save() wrote."
        ) from None
    except OSError as error:
        raise UnreadableError(f"{str(folder)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnreadableError(f"{folder / _JSON} is damaged: {error}. Save it again.") from error
    if not isinstance(members, dict) or members.get("format") != FORMAT:
        raise SourceError(
            f"{str(folder)!r} is not a saved result. Give a folder that save() wrote."
        )
    if members.get("version") != VERSION:
        raise SourceError(
            f"{str(folder)!r} has version {members.get('version')!r} of the format, and this is "
            f"nearly {version('nearly')}, which reads version {VERSION}. Use the nearly that "
            f"saved it ({members.get('nearly')!r}), or run again."
        )
    digest = members.pop("sha256", None)
    if digest != _digest(members):
        raise _damaged(folder / _JSON)
    return members


def _read_table(folder: Path, name: str, facts: Mapping[str, Any], *, mapped: bool) -> pa.Table:
    path = folder / f"{name}.arrow"
    try:
        if _digest_of_file(path) != facts["sha256"]:
            raise _damaged(path)
        with pa.memory_map(str(path)) if mapped else pa.OSFile(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        table.validate(full=True)  # a checksum is no proof of who wrote it
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror or error}") from error
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise UnreadableError(
            f"{path} is no table as nearly saves it: {error}. Run again, and save again."
        ) from error
    return table


def _damaged(path: Path) -> UnreadableError:
    return UnreadableError(
        f"{path} is not as it was saved: its checksum is another one. Run again, and save again."
    )
