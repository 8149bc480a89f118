"""Documents by number: their places in the order of the source, from zero."""

import numpy as np
import numpy.typing as npt

__all__ = ["Documents", "different"]

Documents = npt.NDArray[np.uint32]


def different(*columns: Documents) -> tuple[Documents, list[Documents]]:
    """The different documents of some columns, in ascending order, and each column as places in
    them. (As `np.unique`, without sorting.)"""
    filled = [column for column in columns if len(column)]
    if not filled:
        return np.empty(0, np.uint32), list(columns)
    lowest = min(int(column.min()) for column in filled)
    highest = max(int(column.max()) for column in filled)
    is_there = np.zeros(highest - lowest + 1, bool)
    for column in filled:
        is_there[column - lowest] = True
    documents = np.flatnonzero(is_there)
    place_of = np.empty(len(is_there), np.uint32)
    place_of[documents] = np.arange(len(documents), dtype=np.uint32)
    places = [place_of[column - lowest] if len(column) else column for column in columns]
    return (documents + lowest).astype(np.uint32), places
