"""`nearly report`: what was found, as one HTML file to hand on."""

from __future__ import annotations

from pathlib import Path

import click

from nearly.cli import exit_code
from nearly.cli import option as shared
from nearly.cli.message import say
from nearly.cli.section import Command, option
from nearly.errors import SettingsError

__all__ = ["report"]


@click.command(cls=Command)
@click.argument("found", type=click.Path(path_type=Path))
@shared.source_now_option
@option(
    "Content",
    "--threshold",
    "-t",
    type=float,
    metavar="NUMBER",
    help="Show only pairs that reach this higher threshold.",
)
@shared.group_option
@shared.term_option
@option(
    "Content",
    "--pairs",
    type=click.IntRange(min=0),
    default=100,
    metavar="NUMBER",
    show_default=True,
    help="Show at most this many pairs side by side.",
)
@option("Content", "--anonymous", is_flag=True, help="Show numbers instead of names.")
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=shared.File,
    default="report.html",
    show_default=True,
    help="Write the report to this file.",
)
@shared.quiet_option
@shared.force_option
@shared.debug_option
def report(
    found: Path,
    source: str | None,
    threshold: float | None,
    group: str | None,
    term: str | None,
    pairs: int,
    anonymous: bool,
    output: Path,
    quiet: bool,
    force: bool,
) -> int:
    """Write a saved result as one HTML file: overview, pairs side by side, clusters, settings.

    FOUND is a folder that nearly find wrote with --save. The file needs no network and runs no
    script. With --anonymous documents have numbers; their texts are shown as they are.

    \b
    nearly find essays/ -t 0.5 --save found
    nearly report found -o report.html
    nearly report found -o report.html --anonymous --group folder
    """
    from nearly import saved
    from nearly.results import Found
    from nearly.sinks import check_place

    check_place(output, force=force)
    result = saved.open(found, source=source)
    if not isinstance(result, Found):
        raise SettingsError(
            f"{str(found)!r} holds what nearly dedup removed, and a report is about pairs; "
            "run nearly find with --save"
        )
    shown = result if threshold is None else result.at(threshold)
    shown.report(output, pairs=pairs, anonymous=anonymous, group=group, term=term, force=force)
    if not quiet:
        say(f"report written to {output}")
    return exit_code.CLEAN
