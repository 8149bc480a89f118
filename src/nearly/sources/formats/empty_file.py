"""A text file that holds no header and no row: a table of whatever columns are asked for."""

import os

import pyarrow as pa

from nearly.sources.formats.arrow import TablePart
from nearly.sources.formats.encoding import bare_ending
from nearly.sources.record import Original, open_original

__all__ = ["EmptyFilePart"]


class EmptyFilePart(TablePart):
    """Nothing, or white space."""

    def __init__(self, path: str, table: pa.Table, name: str) -> None:
        super().__init__(table, name)
        self.path = os.path.abspath(path)

    def is_own_format(self, ending: str) -> bool:
        return ending == bare_ending(self.path) and ending != ".json"

    def original(self) -> Original:
        file, layout = open_original(self.path)
        with file:
            return Original(layout, layout.mark + file.read(), iter(()), is_blank=True)
