"""A folder of Parquet parts on its way: written beside its target, published or taken back.

Where many machines write a table, each writes its part. Of a frame nothing is known here but that
it writes itself: `frame.write.parquet`, as Spark's do.
"""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nearly.errors import SinkError
from nearly.sinks.mark import Undo, identity_of, put_back, sweep
from nearly.sinks.place import blaming, target_of

__all__ = ["StagedParts", "check_parts", "has_scheme", "write_elsewhere"]

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def has_scheme(place: Path | str) -> bool:
    """Whether the place is on no disk of this machine: s3a://bucket/folder."""
    return isinstance(place, str) and _SCHEME.match(place) is not None


def check_parts(path: Path, *, force: bool) -> None:
    """Refuse a place where no folder of parts can be made."""
    given = os.fspath(path)
    with blaming(path):
        parent = target_of(path).parent
        if not parent.is_dir():
            raise SinkError(
                f"{given!r} cannot be written: there is no folder {str(parent)!r}; "
                "make it first, or give another name"
            )
        sweep(parent)
        if _has_files(path) and not force:
            raise SinkError(
                f"the folder {given!r} exists; give another name, or --force to replace it"
            )
        if path.exists() and not path.is_dir():
            raise SinkError(
                f"{given!r} is a file, and a folder of parts was asked for; give another name, "
                "or one with the ending of a format, as in pairs.parquet"
            )


def write_elsewhere(frame: Any, place: str, *, force: bool) -> None:
    """Write where no staging is possible: Spark's committer answers for the whole."""
    if not hasattr(frame, "write"):
        raise SinkError(
            f"{place!r} is not on this machine, and this table is small: "
            "give the name of a file, as in skipped.csv"
        )
    frame.write.mode("overwrite" if force else "errorifexists").parquet(place)


class StagedParts:
    """A hidden folder that takes the place of its target when all is well.

    It has the verbs of `Staged`; the old folder is kept until `discard_old`.
    """

    def __init__(self, path: Path, stem: str) -> None:
        self.path = path
        self.target = target_of(path)
        self._temporary = self.target.with_name(f"{stem}.part")
        self._old = self.target.with_name(f"{stem}.old")
        self._identity: list[int] | None = None

    def write(self, table: Any) -> None:
        """A frame writes its own parts; an Arrow table is one part."""
        if isinstance(table, pa.Table):
            import pyarrow.parquet as pq  # takes its time, and most runs write none

            self.create()
            with blaming(self.path):
                pq.write_table(table, self._temporary / "part-00000.parquet", compression="zstd")
        else:
            self._let_write(table)
            self._identity = identity_of(self._temporary)

    def _let_write(self, table: Any) -> None:
        # Not a URI: what is escaped in one, Hadoop takes for a name.
        table.write.mode("errorifexists").parquet(f"file://{self._temporary}")
        if not any(self._temporary.glob("part-*")):
            raise SinkError(
                f"no part arrived in {os.fspath(self.path)!r}: the machines of the cluster wrote "
                "to disks of their own. Give a folder that all of them share, or a place like "
                "s3a://bucket/folder"
            )

    def create(self) -> Path:
        """The hidden folder, empty."""
        with blaming(self.path):
            self._temporary.mkdir()
            self._identity = identity_of(self._temporary)
        return self._temporary

    @property
    def undo(self) -> Undo:
        """How to undo `publish`."""
        return Undo(target=str(self.target), old=str(self._old), new=self._identity)

    def publish(self, *, force: bool) -> None:
        """Let the target appear."""
        with blaming(self.path):
            if _has_files(self.target):
                if not force:
                    raise SinkError(
                        f"{str(self.target)!r} appeared while it was being made; "
                        "give another name, or --force to replace it"
                    )
                os.replace(self.target, self._old)
            os.replace(self._temporary, self.target)

    def withdraw(self) -> bool:
        """Put back what was there; False where the disk refuses."""
        try:
            put_back(self.undo)
        except OSError:
            return False
        return True

    def discard(self) -> None:
        """Remove what was not published."""
        _remove(self._temporary)

    def discard_old(self) -> None:
        """Remove what was there before."""
        _remove(self._old)

    @property
    def leaves_waste(self) -> bool:
        """Whether the disk refused to remove something: the next run tries again."""
        return os.path.lexists(self._temporary) or os.path.lexists(self._old)


def _has_files(path: Path) -> bool:
    """An empty folder was made for the output, and stands in nobody's way."""
    return path.is_dir() and any(path.iterdir())


def _remove(folder: Path) -> None:
    """As far as the disk lets us: the outputs are decided, and the next run removes the rest."""
    with suppress(OSError):  # some errors slip through, such as those of closing
        shutil.rmtree(folder, ignore_errors=True)
