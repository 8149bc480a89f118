"""What was found → a plan: the files are hashed, so that a later change is noticed."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nearly.errors import SourceError
from nearly.plans.file import RefusedError, digest_of, open_file, open_folder
from nearly.plans.parser import FlawError, check_path
from nearly.plans.plan import Plan, Removal

__all__ = ["make_plan"]


def make_plan(
    folder: Path, removed: Iterable[tuple[str, str, float]], settings: Mapping[str, Any]
) -> Plan:
    """Plan the removal of (path, survivor, similarity), relative to the folder; hashes them all."""
    digests: dict[str, tuple[str, int]] = {}
    removals = []
    with open_folder(str(folder)) as root:
        for path, survivor, similarity in removed:
            for name in (path, survivor):
                if name not in digests:
                    digests[name] = _digest_for_plan(root, name)
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


def _digest_for_plan(root: int, path: str) -> tuple[str, int]:
    try:
        check_path(path)
        with open_file(root, path, "the file") as file:
            return digest_of(file, "the file"), os.fstat(file.descriptor).st_size
    except (FlawError, RefusedError) as reason:
        raise SourceError(
            f"{path!r} cannot be in a plan: {reason}; run nearly dedup again"
        ) from reason
