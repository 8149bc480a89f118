"""Carrying out a plan: each file is checked right before it goes, and refused if it changed."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nearly.plans.file import File, RefusedError, digest_of, lock_folder, open_file, open_folder
from nearly.plans.plan import Plan, Removal
from nearly.plans.trash import move, open_trash

__all__ = ["Decision", "apply_plan", "check_plan"]

#: `check_plan` says remove or refuse; `apply_plan` says done, refused or failed.
Outcome = Literal["remove", "refuse", "done", "refused", "failed"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What would be, or was, done with one removal; the reason when it was not."""

    removal: Removal
    outcome: Outcome
    reason: str = ""


def check_plan(plan: Plan) -> list[Decision]:
    """What `apply_plan` would do now; changes nothing."""
    decisions = []
    with open_folder(plan.folder) as root:
        leaving = {removal.path for removal in plan.removals}
        for removal in plan.removals:
            try:
                with _verified(root, removal, leaving):
                    decisions.append(Decision(removal=removal, outcome="remove"))
            except RefusedError as refusal:
                decisions.append(Decision(removal=removal, outcome="refuse", reason=str(refusal)))
    return decisions


def apply_plan(plan: Plan, *, trash: Path | None = None) -> list[Decision]:
    """Delete the files, or move them below `trash`; each is checked right before.

    A file that is refused or fails does not stop the others. Only one plan at a time is carried
    out in a folder, and only one at a time moves files to a trash.
    """
    with ExitStack() as stack:
        root = stack.enter_context(open_folder(plan.folder))
        lock_folder(root, plan.folder)
        trash_folder = stack.enter_context(open_trash(trash, plan)) if trash else None
        leaving = {removal.path for removal in plan.removals}
        return [_carry_out(root, removal, leaving, trash_folder) for removal in plan.removals]


def _carry_out(root: int, removal: Removal, leaving: set[str], trash: int | None) -> Decision:
    try:
        with _verified(root, removal, leaving) as file:
            if trash is None:
                os.unlink(file.name, dir_fd=file.folder)
            else:
                move(file, removal, trash)
    except RefusedError as refusal:
        return Decision(removal=removal, outcome="refused", reason=str(refusal))
    except OSError as error:
        return Decision(removal=removal, outcome="failed", reason=error.strerror or str(error))
    return Decision(removal=removal, outcome="done")


@contextmanager
def _verified(root: int, removal: Removal, leaving: set[str]) -> Iterator[File]:
    """The file to remove, once nothing speaks against it; raises `RefusedError` otherwise."""
    if removal.survivor in leaving:
        raise RefusedError("its survivor is itself to be removed by this plan")
    with (
        open_file(root, removal.path, "the file") as file,
        open_file(root, removal.survivor, "its survivor") as survivor,
    ):
        if file.identity == survivor.identity:
            raise RefusedError("it is the same file as its survivor, under two names")
        # Plans of a folder and of one inside it share files, and know nothing of each other.
        file.lock("the file")
        survivor.lock("its survivor", shared=True)
        for found, sha256, who in (
            (file, removal.sha256, "the file"),
            (survivor, removal.survivor_sha256, "its survivor"),
        ):
            if digest_of(found, who) != sha256:
                raise RefusedError(f"{who} changed since the plan was made")
        # Hashing takes time: the names must still lead to what was hashed.
        _check_still_there(root, removal.path, file, "the file")
        _check_still_there(root, removal.survivor, survivor, "its survivor")
        yield file


def _check_still_there(root: int, path: str, file: File, who: str) -> None:
    with open_file(root, path, who) as again:
        if again.state != file.state:
            raise RefusedError(f"{who} changed while it was checked")
