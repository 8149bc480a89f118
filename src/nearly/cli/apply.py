"""`nearly apply`: carries out the plan that `nearly dedup FOLDER` wrote, or shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nearly.cli import exit_code
from nearly.cli.message import say
from nearly.cli.section import Command, option
from nearly.wording import count

if TYPE_CHECKING:
    from nearly.plans import Decision

__all__ = ["apply"]


@click.command(cls=Command)
@click.argument("plan", type=click.Path(path_type=Path))
@option("Action", "--yes", is_flag=True, help="Remove the files; without this, nothing is changed.")
@option(
    "Action",
    "--trash",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Move the files to this folder instead of deleting them.",
)
def apply(plan: Path, yes: bool, trash: Path | None) -> int:
    """Show what a PLAN would remove, or remove it with --yes.

    Every file is hashed again first. A file is left alone if it changed since the plan was made, or
    if its survivor changed or is gone.

    \b
    nearly dedup docs/ -o plan.json
    nearly apply plan.json
    nearly apply plan.json --yes --trash removed/
    """
    from nearly.plans import apply_plan, check_plan, load_plan

    loaded = load_plan(plan)
    decisions = apply_plan(loaded, trash=trash) if yes else check_plan(loaded)
    for decision in decisions:
        _show(decision, "move" if trash else "delete")
    agreed = [d.removal for d in decisions if d.outcome in ("remove", "done")]
    left = len(decisions) - len(agreed)
    action = f"moved to {trash}" if trash else "deleted"
    outcome = action if yes else f"would be {action}"
    size = sum(removal.bytes for removal in agreed)
    say(
        f"{count(len(agreed), 'file')} ({size:,} bytes) {outcome}"
        + (f", {left:,} left alone" if left else "")
        + ("" if yes or not agreed else "; --yes does it")
    )
    return exit_code.INCOMPLETE if left else exit_code.CLEAN


def _show(decision: Decision, action: str) -> None:
    from nearly.cli.terminal import harmless, short

    removal = decision.removal
    if decision.outcome in ("remove", "done"):
        why = f"{short(removal.similarity)} like {removal.survivor}"
        line = f"{action:<6}  {removal.path}  ({why})"
    else:
        line = f"keep    {removal.path}  ({decision.reason})"
    click.echo(harmless(line))
