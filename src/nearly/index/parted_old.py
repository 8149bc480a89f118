"""The old side of new documents that lie in parts: each part opens the index where it is."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from nearly.engines.base import Parts
from nearly.errors import MissingError
from nearly.index.directory import DiskDirectory
from nearly.index.old import met
from nearly.index.store import open_store
from nearly.measures.work import ONE_THREAD
from nearly.sources import Skipped

__all__ = ["met_in_parts"]


def met_in_parts(parts: Parts, path: str) -> tuple[set[int], npt.NDArray[np.uint64]]:
    """The commits that parts saw, and what `old.met` says of all of them together."""
    found = parts.collect(parts.each(_met, parts.blocks, path=parts.share(path)))
    digests = np.concatenate([np.empty((0, 2), np.uint64), *(each for _, each in found)])
    return {commit for commit, _ in found}, np.unique(digests, axis=0)


def _met(block: tuple[Any, Any], *, path: str) -> tuple[int, npt.NDArray[np.uint64]]:
    directory = DiskDirectory(path)
    if not os.path.isfile(directory.catalogue):
        raise MissingError(
            f"a machine of the cluster sees no index in {path!r}; keep the index in a folder that "
            "all machines share, under the same name"
        )
    store = open_store(directory, read_only=True)
    try:
        with store.reading() as view:
            return view.state.commit, met(view, block[0], Skipped(), ONE_THREAD)
    finally:
        store.close()
