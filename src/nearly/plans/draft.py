"""What was found → a plan, with the hashes of the bytes that were compared."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nearly.errors import SourceError
from nearly.plans.file import RefusedError, open_file, open_folder
from nearly.plans.parser import FlawError, check_path
from nearly.plans.plan import Plan, Removal

__all__ = ["make_plan"]


def make_plan(
    folder: Path,
    removed: Iterable[tuple[str, str, float]],
    digests: Mapping[str, tuple[str, int]],
    settings: Mapping[str, Any],
) -> Plan:
    """Plan the removal of (path, survivor, similarity), relative to the folder.

    `digests` has the SHA-256 and the size of each file, taken when it was read to be compared:
    a file that changed since then is another one, and will be refused.
    """
    checked: set[str] = set()
    removals = []
    with open_folder(str(folder)) as root:
        for path, survivor, similarity in removed:
            for name in {path, survivor} - checked:
                _check_file(root, name, digests)
                checked.add(name)
            digest, size = digests[path]
            removals.append(
                Removal(
                    path=path,
                    survivor=survivor,
                    similarity=float(similarity),
                    sha256=digest,
                    survivor_sha256=digests[survivor][0],
                    bytes=size,
                )
            )
    # Through JSON, so that a plan that was saved and loaded is equal to this one.
    plain = json.loads(json.dumps(dict(settings)))
    return Plan(folder=os.path.realpath(folder), settings=plain, removals=tuple(removals))


def _check_file(root: int, path: str, digests: Mapping[str, tuple[str, int]]) -> None:
    try:
        check_path(path)
        with open_file(root, path, "the file"):
            pass
        if path not in digests:
            raise RefusedError("the file was not read")
    except (FlawError, RefusedError) as reason:
        raise SourceError(
            f"{path!r} cannot be in a plan: {reason}; run nearly dedup again"
        ) from reason
