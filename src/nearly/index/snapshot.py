"""A whole copy of an index as of one commit, while others write to it."""

import os
import shutil
from pathlib import Path
from typing import Final

from nearly.errors import UnreadableError
from nearly.index.catalogue import Catalogue
from nearly.index.creation import check_new
from nearly.index.directory import DiskDirectory, sync_folder
from nearly.remnant import scratch

__all__ = ["copy_index"]

#: How often a copy is begun anew when a merge took its segments away.
TRIES: Final = 20


def copy_index(catalogue: Catalogue, here: Path, place: Path) -> None:
    """Copy the catalogue first, then the segments that it names; there whole or not at all.

    Segments never change, so the copy is that of the commit that the catalogue saw. Where a writer
    removed one of them meanwhile, a later commit is copied.
    """
    check_new(place)
    segments = here / "segments"
    with scratch(place.parent) as folder:
        for attempt in range(TRIES):
            built = DiskDirectory(folder / f"copy-{attempt}")
            built.make()
            catalogue.copy_to(built.catalogue)
            try:
                _copy_segments(built, segments)
            except FileNotFoundError as error:
                if attempt == TRIES - 1:
                    raise UnreadableError(
                        f"{segments} has lost a file that the catalogue names, "
                        f"{Path(error.filename).name}; check the index"
                    ) from error
                continue
            os.replace(built.path, place)
            sync_folder(place.parent)
            return


def _copy_segments(built: DiskDirectory, segments: Path) -> None:
    copied = Catalogue(built.catalogue)
    try:
        names = [written.name for written in copied.load().segments.values()]
    finally:
        copied.close()
    for name in names:
        to = built.path / segments.name / name
        shutil.copyfile(segments / name, to)
        with open(to, "rb+") as file:
            os.fsync(file.fileno())
    built.sync()
