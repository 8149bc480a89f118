"""A DuckDB connection on demand, made anew in every process that needs one."""

import glob
import os
import tempfile
import weakref
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from nearly.limits import available_memory, database_threads
from nearly.remnant import make_scratch, remove_scratch

__all__ = ["Database"]


class Database:
    """A database in memory that fetches nothing, and a folder beside it.

    Sent to another process it begins there afresh, with one thread, since every core of a
    cluster reads a block of its own, and with a folder that goes when the database does.
    """

    def __init__(
        self, temporary: Path | None, threads: int | None, most_memory: int = 2**30
    ) -> None:
        self._given = temporary
        self._threads = threads
        self.most_memory = most_memory
        self._links: dict[str, str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Database, (None, 1, self.most_memory)

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """It spills below the folder."""
        return self.connect()

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Another database, with memory of its own, which it gives back when it is closed."""
        return duckdb.connect(config=self._config())

    @cached_property
    def reading_connection(self) -> duckdb.DuckDBPyConnection:
        """For what strangers wrote: its own database is read-only, its settings are locked."""
        path = os.path.join(tempfile.mkdtemp(dir=self.folder), "empty.duckdb")
        # Only a database that exists can be opened read-only.
        duckdb.connect(path, config=database_threads()).close()
        locked = {
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "lock_configuration": True,
        }
        return duckdb.connect(path, read_only=True, config=self._config() | locked)

    def _config(self) -> dict[str, Any]:
        memory = min(self.most_memory, available_memory() // 4)
        config: dict[str, Any] = {
            "arrow_large_buffer_size": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": f"{memory}B",
            "python_enable_replacements": False,
            "temp_directory": str(self.folder / "duckdb"),
        }
        if self._threads is not None:
            config["threads"] = self._threads
        return config | database_threads()

    def plain_path(self, path: str) -> str:
        """A path that DuckDB takes literally: no wildcards, no bytes that are not UTF-8."""
        if not glob.has_magic(path) and path.isprintable():
            return path
        if path not in self._links:
            # DuckDB looks at the ending to see how a file is compressed.
            ending = next((e for e in (".gz", ".zst") if path.lower().endswith(e)), "")
            link = os.path.join(tempfile.mkdtemp(dir=self.folder), f"link{ending}")
            os.symlink(path, link)
            self._links[path] = link
        return self._links[path]

    @cached_property
    def folder(self) -> Path:
        """Where it puts what it writes down."""
        if self._given is not None:
            return self._given
        folder = make_scratch()
        weakref.finalize(self, remove_scratch, folder)
        return folder
