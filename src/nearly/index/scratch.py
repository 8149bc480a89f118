"""A temporary folder of an open index: made when it is first needed, and gone with the index."""

import weakref
from pathlib import Path

from nearly.remnant import make_scratch, remove_scratch

__all__ = ["Scratch"]


class Scratch:
    """See above."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def folder(self) -> Path:
        """The same every time."""
        if self._folder is None:
            self._folder = make_scratch()
            weakref.finalize(self, remove_scratch, self._folder)
        return self._folder

    def close(self) -> None:
        """Remove it, if there is one."""
        if self._folder is not None:
            remove_scratch(self._folder)
